import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { stringify } from "yaml";
import { inspect, makePayload, requiredIngressOf } from "../core/bootstrap.ts";
import { firewallScript, otherFirewalls } from "../core/konnectivity/firewall-commands.ts";
import { useConfig } from "../config/config-file.ts";
import { configFormat } from "../../stacks/platforms.ts";
import { bootstrapIgnOf, readInstallDir } from "../config/install-dir.ts";
import { aboutFile } from "../core/errors.ts";
import { folderWarnings } from "../files/private-folder.ts";
import { readUserFile, writeUserFiles } from "../files/user-file.ts";
import { installerNames, oneOfWords } from "./choice.ts";
import { jsonOption, type Output } from "./output.ts";
import { buildPointer, type PointerOptions, stalePointerWarnings } from "./payload-pointer.ts";
import { describeBuild, describePayload, describePointer } from "./payload-text.ts";

interface BuildOptions extends PointerOptions {
  readonly out: string;
  readonly config?: string;
  readonly json?: boolean;
}

interface FirewallOptions {
  readonly config?: string;
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

const installDir = ["<install-dir>", 'folder in which "openshift-install create ignition-configs" ran'] as const;
const config = ["--config <file>", "config file (YAML); its `tunnel` part counts here"] as const;
/** What to do if the config file cannot be read. */
const advice = "check --config";

/** What `payload build` writes. The payload contains every secret of the cluster, and the pointer says where it is. */
const fileNames = ["payload.ign", "pointer.ign"] as const;

/** `payload build`, `payload inspect`, `payload firewall`. */
export function payloadCommand(output: Output): Command {
  const command = new Command("payload").description("make, show and explain the bootstrap machine's payload");
  command
    .command("build")
    .description("write <dir>/payload.ign, and with --url <dir>/pointer.ign for user data")
    .argument(...installDir)
    .requiredOption("--out <dir>", "folder to write to", folderName)
    .option(...config)
    .option("--url <url>", "where the machine will fetch the payload: https://, s3:// or gs://")
    .option("--ca-bundle <file>", "PEM certificates to trust for that fetch (https only)")
    .option("--http-proxy <url>", "proxy for that fetch")
    .option("--https-proxy <url>", "proxy for that fetch")
    .option("--proxy-except <hosts>", "hosts that are fetched without the proxy, by commas", (text) => text.split(","))
    .option("--timeout <seconds>", "limit for that fetch, retries included (default 1800)", wholeSeconds)
    .option(...jsonOption)
    .action((folder: string, options: BuildOptions) => {
      build(folder, options, output);
    });
  command
    .command("inspect")
    .description("show what was added to a payload, or what a pointer says; never a secret")
    .argument("<file>", "payload.ign or pointer.ign")
    .option(...jsonOption)
    .action((file: string, options: { json?: boolean }) => {
      const text = readUserFile(file, "give the payload.ign or pointer.ign that you built");
      const found = aboutFile(file, () => inspect(text, file));
      if (options.json === true) output.json(found);
      else output.text(found.kind === "payload" ? describePayload(found) : describePointer(found));
    });
  command
    .command("firewall")
    .description("print the rule that must be open while the bootstrap machine lives, or the commands for it")
    .argument(...installDir)
    .option(...config)
    .addOption(
      new Option("--format <format>", "how to print it")
        .choices(firewallFormats)
        .argParser(oneOfWords(firewallFormats, output, installerNames))
        .default("yaml")
        .conflicts("json"),
    )
    .option(...jsonOption)
    .action((folder: string, options: FirewallOptions) => {
      firewall(folder, options, output);
    });
  return command;
}

function firewall(folder: string, options: FirewallOptions, output: Output): void {
  const found = useConfig(configFormat, options.config, advice, ({ tunnel }) => {
    const { bootstrapIgn, metadata } = readInstallDir(configFormat, folder);
    const rule = aboutFile(bootstrapIgnOf(folder), () => requiredIngressOf(bootstrapIgn, tunnel, new Date()));
    return { ...rule, metadata };
  });
  const { firewall: rule, warnings, metadata } = found;
  output.warnings(warnings);
  const answer = { cluster: metadata?.infraID ?? null, rule: rule ?? null };
  const program = firewallPrograms[options.format];
  if (options.json === true) output.json(answer);
  else if (options.format === "json") output.text(`${JSON.stringify(answer, undefined, 2)}\n`);
  else if (rule === undefined) output.text("# The tunnel is off: no rule is needed.\n");
  else if (program === undefined) output.text(stringify(answer, { lineWidth: 0 }));
  else output.text(firewallScript(program, rule, metadata?.infraID));
}

function build(folder: string, options: BuildOptions, output: Output): void {
  output.doing("Building the payload");
  const { tunnel, metadata, payload } = useConfig(configFormat, options.config, advice, ({ tunnel }) => {
    const { bootstrapIgn, metadata } = readInstallDir(configFormat, folder);
    const payload = aboutFile(bootstrapIgnOf(folder), () => makePayload(bootstrapIgn, tunnel, new Date()));
    return { tunnel, metadata, payload };
  });
  const pointer = buildPointer(options, payload.sha512);
  const [payloadFile, pointerFile] = fileNames.map((name) => join(options.out, name)) as [string, string];
  const files = [
    { file: payloadFile, text: payload.text },
    ...(pointer === undefined ? [] : [{ file: pointerFile, text: pointer.text }]),
  ];
  writeUserFiles(files, fileNames);

  const warnings = [
    ...payload.warnings,
    ...(pointer?.warnings ?? []),
    ...stalePointerWarnings(pointerFile, pointer, payload.sha512),
    ...folderWarnings(options.out, fileNames),
  ];
  output.warnings(warnings);
  const written = { file: payloadFile, bytes: payload.bytes, sha512: payload.sha512 };
  if (options.json === true) {
    output.json({
      cluster: metadata === undefined ? null : { clusterName: metadata.clusterName, infraID: metadata.infraID },
      release: payload.release,
      tunnel,
      payload: { ...written, addedBytes: payload.bytes - payload.originalBytes },
      pointer: pointer === undefined ? null : { file: pointerFile, bytes: pointer.bytes },
      firewall: payload.firewall ?? null,
      warnings,
    });
    return;
  }
  output.text(describeBuild({ metadata, tunnel, payload, payloadFile, pointer, pointerFile }));
}

function folderName(text: string): string {
  if (text === "") throw new InvalidArgumentError("Name a folder.");
  return text;
}

function wholeSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds <= 0) throw new InvalidArgumentError("Give whole seconds above 0.");
  return seconds;
}
