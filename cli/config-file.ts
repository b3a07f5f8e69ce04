import { type Document, parseDocument } from "yaml";
import { z } from "zod";
import { parseConfig } from "../constructs/config/parse.ts";
import { readTunnel, type Tunnel } from "../constructs/konnectivity/options.ts";
import { InputError, problem } from "../constructs/problems.ts";
import { readUserFile } from "./files.ts";

/** The config file: what the commands here need of it. */
export interface Config {
  readonly tunnel: Tunnel;
}

const configSchema = z.strictObject({ tunnel: z.unknown().optional() }, { error: "an object with the key tunnel" });

function toValue(file: string, document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // An alias of nothing is found only now.
    if (error instanceof ReferenceError)
      throw new InputError(problem("config-not-yaml", { file, detail: error.message }));
    throw error;
  }
}

/** Reads the config file, or says all that is wrong with it. Without a file everything has its default. */
export function readConfig(file: string | undefined): Config {
  if (file === undefined) return { tunnel: readTunnel(undefined) };
  const document = parseDocument(readUserFile(file, "check --config"), { prettyErrors: true });
  const mistakes = document.errors.map((error) => {
    const [at] = error.linePos ?? [];
    const place = at === undefined ? "" : ` at line ${at.line}, column ${at.col}`;
    return problem("config-not-yaml", {
      file,
      detail: `${error.message.split("\n")[0]?.replace(/ at line.*$|; please use YAML.*$/, "") ?? ""}${place}`,
    });
  });
  if (mistakes.length > 0) throw new InputError(...mistakes);
  const config = parseConfig(configSchema, toValue(file, document) ?? {}, "");
  return { tunnel: readTunnel(config.tunnel) };
}
