import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { gateOverride, gateVariable } from "../cluster/gate-override.ts";
import type { ReportRow } from "../cluster/leftovers.ts";
import { platformNames } from "../../stacks/platforms.ts";
import { namespace } from "../core/konnectivity/names.ts";
import { inLines } from "../core/printable.ts";
import { mustBeReadable } from "../files/user-file.ts";
import { labFolder } from "../../lab/folder.ts";
import { installerNames, oneOfWords } from "./choice.ts";
import { configFileFor, noteConfig, withConfig } from "./config-option.ts";
import { jsonOption, type Output } from "./output.ts";
import { program } from "../runtime/project-files.js";
import { configFor, isLab, kubeconfigFor, type TeardownOptions } from "./teardown-options.ts";
import {
  type ClusterTarget,
  type LabTarget,
  onlyPlatformOf,
  type TeardownTarget,
  teardownTarget,
} from "./teardown-target.ts";

interface StepOptions extends TeardownOptions {
  readonly json?: boolean;
}

const platformArgument = (output: Output) =>
  new Argument("[platform]", "platform of the stacks (default: the only one in the config file)")
    .choices(platformNames)
    .argParser(oneOfWords(platformNames, output, installerNames));
const kubeconfigOption = ["--kubeconfig <file>", "kubeconfig of the cluster (default: the config file's)"] as const;

/** `teardown gate`, `sweep` and `report`: the steps of a destroy, which can also be run by hand. */
export function teardownCommand(output: Output): Command {
  return new Command("teardown")
    .description("Run a step of a destroy by hand")
    .addCommand(gateCommand(output))
    .addCommand(sweepCommand(output))
    .addCommand(reportCommand(output));
}

function gateCommand(output: Output): Command {
  return withConfig(new Command("gate"))
    .description("Ask the cluster whether it still needs its bootstrap machine, and change nothing")
    .addArgument(platformArgument(output))
    .option(...kubeconfigOption)
    .option(
      "--wait <minutes>",
      "how long to wait while it still does (default: the config file's waitMinutes)",
      minutes,
    )
    .option(...jsonOption)
    .action(async (platform: string | undefined, options: StepOptions & { wait?: number }, command: Command) => {
      const reason = gateOverride(process.env);
      if (reason !== undefined) {
        if (options.json === true) output.json({ override: reason, conditions: [] });
        else output.text(inLines([`The gate is opened by hand (${gateVariable}): ${reason}`]));
        return;
      }
      const target = targetFor(platform, options, command, output);
      const wait = options.wait ?? target.config.teardown.waitMinutes;
      const nothing = { override: null, conditions: [] };
      if ("lab" in target) {
        await inLab(target, { words: ["gate", `--wait=${wait}`], json: options.json === true, nothing }, output);
        return;
      }
      output.doing("Reading from the cluster");
      const { waitForGate } = await import("../cluster/gate.ts");
      await waitForGate({
        kubeconfig: target.kubeconfig,
        infraId: target.infraId,
        waitMinutes: wait,
        report: (text, conditions) => {
          if (options.json === true) output.json({ override: null, conditions });
          else output.text(text, { yes: "good", "not yet": "unclear" });
        },
        progress: (text) => {
          output.doing(text);
        },
      });
    });
}

function sweepCommand(output: Output): Command {
  return withConfig(new Command("sweep"))
    .description("Delete the tunnel's objects from the cluster, without waiting")
    .addArgument(platformArgument(output))
    .option(...kubeconfigOption)
    .option(...jsonOption)
    .action(async (platform: string | undefined, options: StepOptions, command: Command) => {
      const { json = false } = options;
      const target = targetFor(platform, options, command, output);
      if ("lab" in target) await inLab(target, { words: ["sweep"], json, nothing: { deleted: [], left: [] } }, output);
      else await sweep(target, json, output);
    });
}

/** The cluster to ask. What decided that is printed, and what is not known about it. */
function targetFor(
  platform: string | undefined,
  options: TeardownOptions,
  command: Command,
  output: Output,
): TeardownTarget {
  // Not knowing the cluster would be no reason to fail for a sweep, and the gate would offer to be opened by hand.
  if (options.kubeconfig !== undefined) mustBeReadable(options.kubeconfig, "check --kubeconfig");
  const target = teardownTarget(platform, options);
  if (target === undefined)
    command.error("error: name the platform, or give --kubeconfig", { code: "commander.missingArgument" });
  if (target.configFile !== undefined) noteConfig(output, options, target.configFile);
  if ("warnings" in target) output.warnings(target.warnings);
  return target;
}

function reportCommand(output: Output): Command {
  return withConfig(new Command("report"))
    .description("Report what is gone, terminating or left; exit code 1 if something is left or nothing was examined")
    .addArgument(platformArgument(output))
    .option(...kubeconfigOption)
    .option(...jsonOption)
    .addOption(new Option("--last-step", "run by Terraform, when everything else is gone").hideHelp())
    .action(async (given: string | undefined, options: StepOptions & { lastStep?: boolean }, command: Command) => {
      output.doing("Looking for what is left");
      const configFile = configFileFor(options);
      const config = configFor(options);
      const platform = given ?? onlyPlatformOf(config);
      if (platform === undefined) command.error("error: name the platform", { code: "commander.missingArgument" });
      noteConfig(output, options, configFile);
      const { reportOf } = await import("./teardown-report.ts");
      const rows = await reportOf({
        platform,
        configFile,
        kubeconfig: isLab(platform) ? undefined : kubeconfigFor(options, config),
        lastStep: options.lastStep ?? false,
      });
      if (options.json === true) output.json({ ...counts(rows), results: rows });
      else output.text(table(rows), { gone: "good", terminating: "unclear", left: "bad", "not looked at": "unclear" });
      const nothingSeen = rows.every(({ state }) => state === "not looked at");
      if (nothingSeen || rows.some(({ state }) => state === "left")) output.exitCode = 1;
    });
}

interface LabStep {
  readonly words: readonly string[];
  readonly json: boolean;
  /** The result as JSON if there is no cluster. */
  readonly nothing: object;
}

/** Runs a step on the lab's node, which can reach the lab's API. */
async function inLab(
  { platform, lab: name }: LabTarget,
  { words, json, nothing }: LabStep,
  output: Output,
): Promise<void> {
  const { LabMachine } = await import("../../lab/machine.ts");
  const node = LabMachine.ifRunning({ lab: name, name: "node-0", folder: join(labFolder(name), "node-0") });
  if (node === undefined) {
    if (json) output.json(nothing);
    else output.text(`The lab ${name} does not run: there is no cluster to ask.\n`);
    return;
  }
  const [step = "", ...rest] = [...words, ...(json ? ["--json"] : [])];
  const line = [
    process.execPath,
    program,
    "teardown",
    step,
    ...rest,
    "--no-config",
    "--kubeconfig=/opt/lab/kubeconfig",
    platform,
  ];
  const [command = "", ...args] = node.enter(line);
  output.exitCode = spawnSync(command, args, { stdio: "inherit", cwd: "/" }).status ?? 1;
}

async function sweep({ kubeconfig, infraId }: ClusterTarget, json: boolean, output: Output): Promise<void> {
  output.doing("Deleting what is left in the cluster");
  const { sweepCluster } = await import("../cluster/sweep.ts");
  const warn = (message: string) => {
    output.warnings([{ code: "sweep", message }]);
  };
  const swept = await sweepCluster(kubeconfig, infraId);
  if ("unreachable" in swept) {
    const command = `oc delete namespace ${namespace} --wait=false`;
    warn(`${swept.unreachable} The agents may be left in the cluster: ${command}`);
    if (json) output.json({ deleted: [], left: [], unreachable: swept.unreachable });
    return;
  }
  const { deleted, left } = swept;
  for (const { name, reason, command } of left) warn(`${name} could not be deleted (${reason}): ${command}`);
  if (json) output.json({ deleted, left });
  else if (deleted.length > 0) output.text(inLines([`Deleted: ${deleted.join(", ")}`]));
  else if (left.length === 0) output.text("Nothing of the tunnel was left in the cluster.\n");
}

const count = (rows: readonly ReportRow[], state: ReportRow["state"]) =>
  rows.filter((row) => row.state === state).length;
const counts = (rows: readonly ReportRow[]) => ({
  gone: count(rows, "gone"),
  terminating: count(rows, "terminating"),
  left: count(rows, "left"),
  notLookedAt: count(rows, "not looked at"),
});

function table(rows: readonly ReportRow[]): string {
  const lines = rows.map(
    ({ state, what, note }) => `${state.padEnd(13)} ${what}${note === undefined ? "" : `  (${note})`}`,
  );
  const { gone, terminating, left, notLookedAt } = counts(rows);
  const nothing = notLookedAt === rows.length ? "Nothing could be looked at: something may be left.\n" : "";
  return `${inLines(lines)}\n${nothing}${gone} gone, ${terminating} terminating, ${left} left, ${notLookedAt} not looked at.\n`;
}

function minutes(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value > 240) throw new InvalidArgumentError("A number of minutes, at most 240.");
  return value;
}
