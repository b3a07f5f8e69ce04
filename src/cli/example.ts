import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Command, Option } from "commander";
import { stringify } from "yaml";
import { configFormat, platformNames } from "../../stacks/platforms.ts";
import type { Platform } from "../config/platform.ts";
import { schemaLine } from "../config/schema.ts";
import { UserError, problem } from "../core/errors.ts";
import { inLines } from "../core/printable.ts";
import { exampleCluster, exampleInstallDir } from "../core/sample/example.ts";
import { writeUserFiles } from "../files/user-file.ts";
import { installerNames, oneOfWords } from "./choice.ts";
import { jsonOption, type Output } from "./output.ts";
import { cdktfCommand, ownCommand } from "./printed-commands.ts";

const names = {
  config: "konnectivity.yaml",
  installDir: "ocp",
  bootstrapIgn: "bootstrap.ign",
  metadata: "metadata.json",
  stream: "coreos-stream.json",
} as const;

/** `example`: an install folder and a config of a cluster that does not exist, to try the other commands with. */
export function exampleCommand(output: Output): Command {
  return new Command("example")
    .description("Write an example install folder and its config file, to try the other commands")
    .argument("<folder>", "new or empty folder")
    .addOption(
      new Option("--platform <platform>", "platform of the example cluster")
        .choices(platformNames)
        .argParser(oneOfWords(platformNames, output, installerNames))
        .makeOptionMandatory(),
    )
    .option(...jsonOption)
    .action((folder: string, { platform: name, json = false }: { platform: string; json?: boolean }) => {
      const platform = configFormat.platforms.find((one) => one.name === name);
      if (platform === undefined) throw new Error(`${name} is not in the list of platforms`);
      mustBeEmpty(folder);
      writeUserFiles(exampleFiles(folder, platform, new Date()), Object.values(names));
      if (json)
        output.json({
          platform: name,
          config: join(folder, names.config),
          installDir: join(folder, names.installDir),
          next: nextCommands(folder),
        });
      else output.text(describe(folder, platform));
    });
}

/** Anything in the folder could be the user's own. */
function mustBeEmpty(folder: string): void {
  let found: string[];
  try {
    found = readdirSync(folder);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return;
    // Whatever else it is, writing there says why not.
    found = code === "ENOTDIR" ? [folder] : [];
  }
  if (found.length > 0)
    throw new UserError(problem("file-exists", { file: folder, advice: "give a new folder, or an empty one" }));
}

function exampleFiles(folder: string, platform: Platform, now: Date): { file: string; text: string }[] {
  const { options, metadata = {}, images } = platform.example(exampleCluster.infraID);
  const part = platform.metadata === undefined ? undefined : { key: platform.metadata.key, values: metadata };
  const install = exampleInstallDir(part, now);
  const configFile = join(folder, names.config);
  const config = {
    installDir: names.installDir,
    ...(images !== undefined && { stream: names.stream }),
    [platform.name]: options,
  };
  const stream = { stream: "example", architectures: { x86_64: { images } } };
  return [
    // First, so that the folder is known to be new, and git ignores all of it.
    {
      file: configFile,
      text: [
        schemaLine(configFile),
        "# An example: this cluster does not exist, and every name and ID in this file is made up.",
        `# ${platform.description}`,
        stringify(config, { lineWidth: 0 }),
      ].join("\n"),
    },
    { file: join(folder, names.installDir, names.bootstrapIgn), text: install["bootstrap.ign"] },
    { file: join(folder, names.installDir, names.metadata), text: install["metadata.json"] },
    ...(images === undefined
      ? []
      : [{ file: join(folder, names.stream), text: `${JSON.stringify(stream, undefined, 2)}\n` }]),
  ];
}

/** What to try, each line as it runs here. */
function nextCommands(folder: string): string[] {
  const config = join(folder, names.config);
  const installDir = join(folder, names.installDir);
  const out = join(folder, "out");
  return [
    ownCommand(["config", "check", "--config", config]),
    ownCommand(["payload", "build", installDir, "--config", config, "--out", out]),
    ownCommand(["payload", "inspect", join(out, "payload.ign")]),
    ownCommand(["payload", "firewall", installDir, "--config", config]),
    cdktfCommand(["synth"], config),
  ];
}

/** A lab can also be deployed: it costs nothing. */
function describe(folder: string, platform: Platform): string {
  const { name, lab } = platform;
  return inLines([
    `${folder} contains an example for ${name}. Try:`,
    "",
    ...nextCommands(folder).map((line) => `  ${line}`),
    "",
    lab === undefined
      ? "The cluster is made up: a deploy stops before it creates anything."
      : `As root on Linux, this also runs: ${cdktfCommand(["deploy", `${name}-*`], join(folder, names.config))}`,
  ]);
}
