import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { stringify } from "yaml";
import { inspect, makePayload, requiredIngressOf } from "../core/bootstrap.ts";
import { firewallScript, otherFirewalls } from "../core/konnectivity/firewall-commands.ts";
import { configFormat } from "../../stacks/platforms.ts";
import { aboutFile, Problems, UserError } from "../core/errors.ts";
import { folderWarnings } from "../files/private-folder.ts";
import { readUserFile, writeUserFiles } from "../files/user-file.ts";
import { installerNames, oneOfWords } from "./choice.ts";
import { type ConfigOptions, noteConfig, withConfig } from "./config-option.ts";
import { jsonOption, type Output } from "./output.ts";
import { tunnelDifferences } from "./payload-config.ts";
import { buildPointer, type PointerOptions, stalePointerWarnings } from "./payload-pointer.ts";
import { readConfigOf, usePayloadSource } from "./payload-source.ts";
import { describeBuild, describePayload, describePointer } from "./payload-text.ts";

interface BuildOptions extends PointerOptions, ConfigOptions {
  readonly out: string;
  readonly json?: boolean;
}

interface InspectOptions extends ConfigOptions {
  readonly json?: boolean;
}

interface FirewallOptions extends ConfigOptions {
  readonly format: string;
  readonly json?: boolean;
}

/** Programs that can open the port, by the format's name. */
const firewallPrograms = {
  ...Object.fromEntries(
    configFormat.platforms.flatMap(({ name, firewallCommands }) =>
      firewallCommands === undefined ? [] : [[name, firewallCommands] as const],
    ),
  ),
  ...otherFirewalls,
};
const firewallFormats = ["yaml", "json", ...Object.keys(firewallPrograms)];

const installDir = [
  "[install-dir]",
  'folder of "openshift-install create ignition-configs" (default: the config file\'s installDir)',
] as const;
const installDirMissing = "error: name the install folder: there is no config file that names one";

/** What `payload build` writes. The payload contains every secret of the cluster, and the pointer says where it is. */
const fileNames = ["payload.ign", "pointer.ign"] as const;

/** `payload build`, `payload inspect`, `payload firewall`. */
export function payloadCommand(output: Output): Command {
  const command = new Command("payload").description(
    "Build and inspect the payload: bootstrap.ign with the tunnel in it",
  );
  withConfig(command.command("build"))
    .description("Build the payload from bootstrap.ign, and with --url the pointer for user data")
    .argument(...installDir)
    .requiredOption("--out <dir>", "folder to write payload.ign and pointer.ign to")
    .option("--url <url>", "address of the payload for the machine: https://, s3:// or gs://")
    .option("--ca-bundle <file>", "PEM certificates to trust for that address (https only)")
    .option("--http-proxy <url>", "proxy for http:// addresses")
    .option("--https-proxy <url>", "proxy for https:// addresses")
    .option("--proxy-except <hosts>", "hosts to reach without the proxy, separated by commas", (text) =>
      text.split(","),
    )
    .option("--timeout <seconds>", "time limit for fetching the payload, with retries (default: 1800)", wholeSeconds)
    .option(...jsonOption)
    .action((folder: string | undefined, options: BuildOptions, self: Command) => {
      if (!build(folder, options, output)) self.error(installDirMissing, { code: "commander.missingArgument" });
    });
  withConfig(command.command("inspect"))
    .description("Show what a payload adds to bootstrap.ign, or what a pointer points to, without secrets")
    .argument("<file>", "payload.ign or pointer.ign")
    .option(...jsonOption)
    .action((file: string, options: InspectOptions) => {
      inspectFile(file, options, output);
    });
  withConfig(command.command("firewall"))
    .description("Print the firewall rule that agents need, or the commands that create it")
    .argument(...installDir)
    .addOption(
      new Option("--format <format>", "output format")
        .choices(firewallFormats)
        .argParser(oneOfWords(firewallFormats, output, installerNames))
        .default("yaml")
        .conflicts("json"),
    )
    .option(...jsonOption)
    .action((folder: string | undefined, options: FirewallOptions, self: Command) => {
      if (!firewall(folder, options, output)) self.error(installDirMissing, { code: "commander.missingArgument" });
    });
  return command;
}

/** @returns false if no install folder is known */
function firewall(folder: string | undefined, options: FirewallOptions, output: Output): boolean {
  const found = usePayloadSource(folder, options, (source) => ({
    ...source,
    ...requiredIngressOf(source.bootstrapIgn, source.config.tunnel, new Date()),
    ofSource: source.warnings,
  }));
  if (found === undefined) return false;
  const { firewall: rule, metadata, configFile, file } = found;
  output.warnings([...found.ofSource, ...found.warnings]);
  const program = firewallPrograms[options.format];
  const answer = { config: configFile ?? null, source: file, cluster: metadata?.infraID ?? null, rule: rule ?? null };
  // The commands go to a file or a shell.
  if (program !== undefined) noteConfig(output, options, configFile);
  if (options.json === true) output.json(answer);
  else if (options.format === "json") output.text(`${JSON.stringify(answer, undefined, 2)}\n`);
  else if (rule === undefined) output.text("# The tunnel is off: no rule is needed.\n");
  else if (program === undefined) output.text(stringify(answer, { lineWidth: 0 }));
  else output.text(firewallScript(program, rule, metadata?.infraID));
  return true;
}

function inspectFile(file: string, options: InspectOptions, output: Output): void {
  const problems = new Problems();
  const found = problems.attempt(() => {
    const text = readUserFile(file, "give the payload.ign or pointer.ign that you built");
    return aboutFile(file, () => inspect(text, file));
  });
  // A pointer has no options to compare.
  const { configFile, partial } = found?.kind === "pointer" ? {} : readConfigOf(options, problems);
  if (found === undefined || problems.found.length > 0) throw new UserError(...problems.found);
  if (found.kind === "pointer") {
    if (options.json === true) output.json(found);
    else output.text(describePointer(found));
    return;
  }
  const compared =
    configFile === undefined || partial === undefined
      ? undefined
      : {
          configFile,
          differences: tunnelDifferences(found.record.options, [partial.config.tunnel, partial.config.ipiTunnel]),
        };
  if (options.json === true)
    output.json({ ...found, config: configFile ?? null, differences: compared?.differences ?? null });
  else output.text(describePayload(found, compared));
}

/** @returns false if no install folder is known */
function build(folder: string | undefined, options: BuildOptions, output: Output): boolean {
  output.doing("Building the payload");
  const built = usePayloadSource(folder, options, (source) => ({
    source,
    payload: makePayload(source.bootstrapIgn, source.config.tunnel, new Date()),
  }));
  if (built === undefined) return false;
  const { source, payload } = built;
  const { configFile, metadata, config } = source;
  const { tunnel } = config;
  const pointer = buildPointer(options, payload.sha512);
  const [payloadFile, pointerFile] = fileNames.map((name) => join(options.out, name)) as [string, string];
  const files = [
    { file: payloadFile, text: payload.text },
    ...(pointer === undefined ? [] : [{ file: pointerFile, text: pointer.text }]),
  ];
  writeUserFiles(files, fileNames);

  const warnings = [
    ...source.warnings,
    ...payload.warnings,
    ...(pointer?.warnings ?? []),
    ...stalePointerWarnings(pointerFile, pointer, payload.sha512),
    ...folderWarnings(options.out, fileNames),
  ];
  output.warnings(warnings);
  const written = { file: payloadFile, bytes: payload.bytes, sha512: payload.sha512 };
  if (options.json === true)
    output.json({
      config: configFile ?? null,
      source: source.file,
      cluster: metadata === undefined ? null : { clusterName: metadata.clusterName, infraID: metadata.infraID },
      release: payload.release,
      tunnel,
      payload: { ...written, addedBytes: payload.bytes - payload.originalBytes },
      pointer: pointer === undefined ? null : { file: pointerFile, bytes: pointer.bytes },
      firewall: payload.firewall ?? null,
      warnings,
    });
  else output.text(describeBuild({ source, payload, payloadFile, pointer, pointerFile }));
  return true;
}

function wholeSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds <= 0) throw new InvalidArgumentError("Give whole seconds above 0.");
  return seconds;
}
