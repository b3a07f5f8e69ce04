import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { configFormat } from "../stacks/platforms.ts";
import { sampleText } from "../src/core/sample/sample.ts";
import { projectFile, readProjectText } from "../src/runtime/project-files.js";

/** A user's folder with one config for every platform that has an example in docs. */
export interface ExampleProject {
  readonly folder: string;
  readonly configFile: string;
  readonly platforms: readonly string[];
}

/** Writes an install folder, a stream and a config with the options of all examples in docs. */
export function writeExampleProject(folder: string): ExampleProject {
  const withExample = configFormat.clouds
    .map(({ name }) => name)
    .filter((name) => existsSync(projectFile(exampleFile(name))));
  const options = withExample.map((platform) => {
    const example = parse(readProjectText(exampleFile(platform))) as Record<string, unknown>;
    return [platform, example[platform]] as const;
  });
  const config = {
    installDir: "ocp",
    stream: "coreos-stream.json",
    tags: { team: "platform" },
    ...Object.fromEntries(options),
  };
  mkdirSync(join(folder, "ocp"), { recursive: true });
  const configFile = join(folder, "konnectivity.yaml");
  for (const [path, text] of [
    [join(folder, "ocp/bootstrap.ign"), sampleText("4.18")],
    ...["ocp/metadata.json", "coreos-stream.json"].map((name) => [join(folder, name), exampleText(name)] as const),
    [configFile, stringify(config)],
  ] as const)
    writeFileSync(path, text, { mode: 0o600 });
  return { folder, configFile, platforms: withExample };
}

const exampleFile = (platform: string) => `docs/examples/${platform}.yaml`;
const exampleText = (name: string) => readProjectText(`docs/examples/${name}`);
