import { type Document, parseDocument } from "yaml";
import { z } from "zod";
import { tunnelSchema } from "../konnectivity/options.ts";
import { isObject } from "../payload/ignition.ts";
import { InputError, problem } from "../problems.ts";
import { parseConfig } from "./parse.ts";
import { readUserFile } from "./user-file.ts";

/** The config file. */
const configSchema = z.strictObject({ tunnel: tunnelSchema }, { error: "an object with the key tunnel" });
export type Config = z.output<typeof configSchema>;

/** Reads the config file, or says all that is wrong with it. Without a file everything has its default. */
export function readConfig(file: string | undefined): Config {
  if (file === undefined) return parseConfig(configSchema, {}, "");
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
  return parseConfig(configSchema, toValue(file, document), "");
}

function toValue(file: string, document: Document): unknown {
  try {
    const value: unknown = document.toJS() ?? {};
    // A key with nothing behind it says nothing.
    return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null)) : value;
  } catch (error) {
    // An alias of nothing is found only now.
    if (error instanceof ReferenceError)
      throw new InputError(problem("config-not-yaml", { file, detail: error.message }));
    throw error;
  }
}
