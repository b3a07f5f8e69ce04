import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import { Argument, Command } from "commander";
import { readInputs } from "../../stacks/inputs.ts";
import { configFileOf, withoutConfig } from "../../stacks/load.ts";
import { configFormat } from "../../stacks/platforms.ts";
import type { Inputs } from "../../stacks/resolve.ts";
import { configJsonSchema } from "../config/schema.ts";
import { readBootstrapIgn } from "../config/install-dir.ts";
import { startingFile } from "../config/starting-file.ts";
import { describeState } from "../config/state.ts";
import { writeUserFiles } from "../files/user-file.ts";
import { inLines } from "../core/printable.ts";
import { UserError, problem } from "../core/errors.ts";
import { parseIgnition } from "../core/ignition/config.ts";
import { releaseImageName } from "../core/konnectivity/image.ts";
import { defaultAgentPort, isOpenBetweenMachines, openBetweenMachines } from "../core/konnectivity/agent-port.ts";
import { installerNames, oneOfWords } from "./choice.ts";
import { adviceFor, type ConfigOptions, configFileFor, configOption, withConfig } from "./config-option.ts";
import { describedStacks, type MadeResource } from "./described-stacks.ts";
import { interruptible } from "./interruptible.ts";
import { askOnline, describeOnline, type OnlineResult } from "./online.ts";
import { jsonOption, type Output } from "./output.ts";
import { cdktfCommand, ownCommand } from "./printed-commands.ts";

const cloudNames = configFormat.clouds.map(({ name }) => name);

/** `config init`, `config check`, `config schema`. */
export function configCommand(output: Output): Command {
  const command = new Command("config").description("Write, check and describe the config file of the stacks");
  command
    .command("init")
    .description("Write a commented config file to start with; keep an existing file")
    .addArgument(
      new Argument("<platform>", "platform of the cluster")
        .choices(cloudNames)
        .argParser(oneOfWords(cloudNames, output, installerNames)),
    )
    .option(...configOption)
    .option(...jsonOption)
    .action((platform: string, options: { config?: string; json?: boolean }) => {
      const file = options.config ?? configFileOf(process.env);
      if (lstatSync(file, { throwIfNoEntry: false }) !== undefined)
        throw new UserError(problem("file-exists", { file, advice: "give another name with --config" }));
      writeUserFiles([{ file, text: startingFile(configFormat, platform, file) }]);
      const check = ownCommand(["config", "check", ...(options.config === undefined ? [] : ["--config", file])]);
      if (options.json === true) output.json({ platform, file, next: check });
      else output.text(inLines([`Wrote ${file}. Fill it in, then run:`, `  ${check}`]));
    });
  withConfig(command.command("check"))
    .description("Check the config file and the files that it names, and list what a deploy creates")
    .option("--online", "also ask the registry, with oc, whether it has the tunnel's image")
    .option(...jsonOption)
    .action(async (options: ConfigOptions & { online?: boolean; json?: boolean }) => {
      output.doing("Reading the config file");
      const file = configFileFor(options);
      const inputs = readInputs(file, new Date(), { installDirRequired: true, configAdvice: adviceFor(options) });
      output.warnings(inputs.warnings);
      output.doing("Describing the stacks");
      const stacks = await describedStacks(inputs);
      const { checkStateFolder } = await import("../../stacks/app.ts");
      if (inputs.stateFolder !== undefined) checkStateFolder(inputs.stateFolder);
      if (options.online !== true) {
        if (options.json === true) output.json(toJson(file, inputs, stacks));
        else output.text(describe(file, inputs, stacks));
        return;
      }
      output.exitCode = await interruptible(
        async (signal) => {
          const online = await askRegistry(inputs, output, signal);
          if (options.json === true) output.json({ ...toJson(file, inputs, stacks), online });
          else output.text(describe(file, inputs, stacks, describeOnline(online)));
          if (online.result === "missing")
            throw new UserError(problem("release-image-missing", { image: releaseImageName, release: online.release }));
        },
        () => Promise.resolve(),
      );
    });
  command
    .command("schema")
    .description("Print the JSON Schema of the config file, for editors")
    .action(() => {
      output.text(`${JSON.stringify(configJsonSchema(configFormat), undefined, 2)}\n`);
    });
  return command;
}

function askRegistry(inputs: Inputs, output: Output, signal: AbortSignal): Promise<OnlineResult> {
  const { tunnel, architecture, payload, workingDirectory, installDir } = inputs;
  output.doing("Asking the registry for the tunnel's image");
  // A lab's payload is not in the install folder.
  const files =
    payload.present && !hasOnlyLabs(inputs)
      ? parseIgnition(readBootstrapIgn(resolve(workingDirectory, installDir))).storage?.files
      : undefined;
  return askOnline({ tunnel, architecture, files, environment: process.env, signal });
}

function describeTunnel(tunnel: Inputs["tunnel"]): string {
  if (tunnel === "off") return "off";
  if (tunnel === "installer") return `the installer's own, port ${defaultAgentPort}`;
  const { protocol, transport, authentication, address, port } = tunnel;
  return `${protocol} over ${transport}, agents by ${authentication}, address ${address}, port ${port}`;
}

const hasOnlyLabs = ({ platforms, labs }: Inputs) => Object.keys(platforms).every((platform) => platform in labs);

/** That of the cluster; without a cluster that of the lab. */
function tunnelOf(inputs: Inputs): Inputs["tunnel"] {
  const [lab] = hasOnlyLabs(inputs) ? Object.values(inputs.labs) : [];
  return lab?.tunnel ?? inputs.tunnel;
}

function toJson(file: string | undefined, inputs: Inputs, stacks: Record<string, MadeResource[]>): object {
  const { infraId, payload, state, stateFolder } = inputs;
  const [[backend, options] = []] = Object.entries(state);
  return {
    cluster: infraId,
    config: file ?? null,
    payload: hasOnlyLabs(inputs)
      ? null
      : payload.present
        ? { present: true, sha512: payload.sha512, example: payload.example === true }
        : { present: false, reason: payload.why },
    tunnel: tunnelOf(inputs),
    state: { backend, ...options, ...(stateFolder !== undefined && { folder: stateFolder }) },
    stacks,
    next: nextCommand(inputs),
  };
}

function describe(
  file: string | undefined,
  inputs: Inputs,
  stacks: Record<string, MadeResource[]>,
  online?: string,
): string {
  const { tunnelPort, payload, state, labs } = inputs;
  const ofCluster = [
    `cluster   ${inputs.infraId}`,
    `payload   ${payload.present ? `sha512 ${payload.sha512.slice(0, 16)}…` : `none: ${payload.why}`}`,
  ];
  const onlyLabs = hasOnlyLabs(inputs);
  const lines = [
    `config    ${file ?? `none: ${withoutConfig.stacks}`}`,
    // A lab has neither.
    ...(onlyLabs ? [] : ofCluster),
    ...Object.values(labs).map(({ description }) => `lab       ${description}`),
    `tunnel    ${describeTunnel(tunnelOf(inputs))}`,
    ...(!onlyLabs && tunnelPort !== undefined && isOpenBetweenMachines(tunnelPort)
      ? [
          `firewall  managed; the rules of OpenShift's UPI templates for ${openBetweenMachines.from}–${openBetweenMachines.to} admit ${tunnelPort} already: where they hold, \`firewall: external\` is enough`,
        ]
      : []),
    ...(online === undefined ? [] : [`online    ${online}`]),
    `state     ${describeState(state)}`,
    ...Object.entries(stacks).flatMap(([stack, made]) => [
      "",
      `${stack}: ${made.length === 0 ? "steps on this machine" : `${made.length} resources`}`,
      ...made.map(({ type, name }) => `  ${type}${name === undefined ? "" : `  ${name}`}`),
    ]),
    "",
    `next      ${nextCommand(inputs)}`,
    ...(file === undefined ? [`          ${withoutConfig.advice}`] : []),
  ];
  return inLines(lines);
}

/** A deploy; without a payload only a destroy is possible, and an example can only be looked at. */
function nextCommand(inputs: Inputs): string {
  const { configFile, payload, platforms } = inputs;
  const stacks = Object.keys(platforms).map((name) => `${name}-*`);
  if (hasOnlyLabs(inputs)) return cdktfCommand(["deploy", ...stacks], configFile);
  if (!payload.present) return cdktfCommand(["destroy", ...stacks], configFile);
  return cdktfCommand(payload.example === true ? ["synth"] : ["deploy", ...stacks], configFile);
}
