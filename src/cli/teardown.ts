import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import type { ClusterApi } from "../cluster/api.ts";
import type { Condition } from "../cluster/gate.ts";
import { type Config, readConfig } from "../config/config-file.ts";
import { configFileIfThere } from "../../stacks/inputs.ts";
import { metadataOf } from "../config/install-dir.ts";
import { platforms } from "../config/platform.ts";
import { readSavedMetadata } from "../config/saved-metadata.ts";
import { namespace } from "../core/konnectivity/names.ts";
import { inLines } from "../core/printable.ts";
import { UserError, problem } from "../core/errors.ts";
import { labFolder } from "../../lab/folder.ts";
import { configOption } from "./config.ts";
import type { Output } from "./output.ts";
import { program } from "../runtime/program.ts";
import type { Row } from "./teardown-report.ts";

/** Opens the gate whatever the cluster says: its value is the reason, which is shown. */
export const gateVariable = "KONNECTIVITY_OPEN_GATE";

interface Options {
  readonly config?: string;
  readonly kubeconfig?: string;
}
type AnyPlatform = (typeof platforms)[number] | "local";

const platformArgument = () => new Argument("<platform>", "whose stacks").choices([...platforms, "local"]);
const kubeconfigOption = ["--kubeconfig <file>", "the cluster's, instead of the config's"] as const;

/** `teardown gate`, `sweep` and `report`: what destroying runs, and what can be run by hand. */
export function teardownCommand(output: Output): Command {
  const command = new Command("teardown").description("the steps of `cdktf destroy`, which can be run by hand too");
  command
    .command("gate")
    .description("ask the cluster whether it still needs its bootstrap machine; nothing is changed")
    .addArgument(platformArgument())
    .option(...configOption)
    .option(...kubeconfigOption)
    .option("--wait <minutes>", "wait that long until it does not (default: the config's waitMinutes)", minutes)
    .action(async (platform: AnyPlatform, options: Options & { wait?: number }) => {
      const reason = process.env[gateVariable];
      if (reason?.trim() === "") throw new UserError(problem("gate-reason-missing", { variable: gateVariable }));
      if (reason !== undefined) {
        output.text(inLines([`The gate is opened by hand (${gateVariable}): ${reason}`]));
        return;
      }
      const config = configFor(options);
      const wait = options.wait ?? config.teardown.waitMinutes;
      if (platform === "local" && options.kubeconfig === undefined) {
        await inLab(config, ["gate", `--wait=${wait}`], output);
        return;
      }
      await passGate(
        { kubeconfig: kubeconfigFor(options, config), cluster: clusterFor(platform, options), wait },
        output,
      );
    });
  command
    .command("sweep")
    .description("delete what the tunnel put into the cluster, without waiting; absent is success")
    .addArgument(platformArgument())
    .option(...configOption)
    .option(...kubeconfigOption)
    .action(async (platform: AnyPlatform, options: Options) => {
      const config = configFor(options);
      if (platform === "local" && options.kubeconfig === undefined) {
        await inLab(config, ["sweep"], output);
        return;
      }
      await sweepCluster(kubeconfigFor(options, config), clusterFor(platform, options), output);
    });
  command
    .command("report")
    .description(
      "say of each thing whether it is gone, terminating or left; exit code 1 if something is left, or nothing could be looked at",
    )
    .addArgument(platformArgument())
    .option(...configOption)
    .option(...kubeconfigOption)
    .option("--json", "for machines")
    .addOption(new Option("--last-step", "run by Terraform, when everything else is gone").hideHelp())
    .action(async (platform: AnyPlatform, options: Options & { json?: boolean; lastStep?: boolean }) => {
      const config = configFor(options);
      const { reportOf } = await import("./teardown-report.ts");
      const rows = await reportOf({
        platform,
        configFile: fileFor(options),
        kubeconfig: platform === "local" ? undefined : kubeconfigFor(options, config),
        lastStep: options.lastStep ?? false,
      });
      if (options.json === true) output.json(rows);
      else output.text(table(rows));
      const nothingSeen = rows.every(({ state }) => state === "not looked at");
      if (nothingSeen || rows.some(({ state }) => state === "left")) output.exitCode = 1;
    });
  return command;
}

const fileFor = ({ config }: Options) => config ?? configFileIfThere(process.env);

function configFor(options: Options): Config {
  return readConfig(fileFor(options));
}

/** A path of the config file, which is meant from there. */
function inConfigFolder(options: Options, path: string): string {
  const file = fileFor(options);
  return file === undefined ? resolve(path) : resolve(dirname(file), path);
}

/** The config's, else the environment's, else the install folder's. */
function kubeconfigFor(options: Options, config: Config): string {
  const { kubeconfig } = config.teardown;
  const listed = process.env.KUBECONFIG?.split(delimiter).filter((one) => one !== "") ?? [];
  const ofEnvironment = listed.find((one) => existsSync(one)) ?? listed[0];
  return (
    options.kubeconfig ??
    (kubeconfig === undefined ? undefined : inConfigFolder(options, kubeconfig)) ??
    ofEnvironment ??
    join(inConfigFolder(options, config.installDir), "auth/kubeconfig")
  );
}

/** The infra ID of the cluster that must answer. @returns undefined if nothing says it */
function clusterFor(platform: AnyPlatform, options: Options): string | undefined {
  if (platform === "local") return undefined;
  const { infrastructureName, installDir, state } = configFor(options);
  const remembered = () =>
    state.local === undefined ? undefined : readSavedMetadata(inConfigFolder(options, state.local.folder));
  return infrastructureName ?? (metadataOf(inConfigFolder(options, installDir)) ?? remembered())?.infraID;
}

/** Runs a step on the lab's node, from where its API can be reached. */
async function inLab(config: Config, words: readonly string[], output: Output): Promise<void> {
  const { LabMachine } = await import("../../lab/machine.ts");
  const name = config.local?.name ?? "local";
  const node = LabMachine.ifRunning({ lab: name, name: "node-0", folder: join(labFolder(name), "node-0") });
  if (node === undefined) {
    output.text(`The lab ${name} does not run: there is no cluster to ask.\n`);
    return;
  }
  const [step = "", ...rest] = words;
  const line = [process.execPath, program, "teardown", step, ...rest, "--kubeconfig=/opt/lab/kubeconfig", "local"];
  const [command = "", ...args] = node.enter(line);
  output.exitCode = spawnSync(command, args, { stdio: "inherit", cwd: "/" }).status ?? 1;
}

interface GateProps {
  readonly kubeconfig: string;
  /** Its infra ID. @default - not known */
  readonly cluster: string | undefined;
  /** Minutes. */
  readonly wait: number;
}

/** Looks until every condition is met, or time is up. */
async function passGate({ kubeconfig, cluster, wait }: GateProps, output: Output): Promise<void> {
  const { describeApiError } = await import("../cluster/api.ts");
  const { conditionsOf } = await import("../cluster/gate.ts");
  const blind = (reason: string) => new UserError(problem("gate-blind", { reason, variable: gateVariable }));
  if (!existsSync(kubeconfig)) throw blind(`there is no kubeconfig ${kubeconfig}`);
  let api: ClusterApi;
  try {
    api = await apiOf(kubeconfig);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw blind(error.message.replace(/\.$/, ""));
  }
  const end = Date.now() + 60_000 * wait;
  let before = "";
  for (;;) {
    let conditions: Condition[] | undefined;
    let reason = "";
    try {
      await mustBe(cluster, api);
      conditions = await conditionsOf(api);
    } catch (error) {
      if (error instanceof UserError) throw error;
      reason = `${api.server} cannot be asked: ${describeApiError(error)}`;
    }
    const text = inLines(conditions?.map(line) ?? [reason]);
    // Only what changed: the wait may be long.
    if (text !== before) output.text(text);
    before = text;
    const open = conditions?.filter(({ met }) => !met) ?? [];
    if (conditions !== undefined && open.length === 0) return;
    if (Date.now() >= end) {
      if (conditions === undefined) throw blind(reason);
      const waitsFor = open.map(({ name, seen }) => `it waits until ${name} (${seen})`).join(", and ");
      throw new UserError(problem("gate-closed", { waitsFor, variable: gateVariable }));
    }
    output.progress?.(`waiting, ${Math.ceil((end - Date.now()) / 60_000)} minutes left`);
    await sleep(Math.min(5000, Math.max(100, end - Date.now())));
  }
}

const line = ({ name, met, seen }: Condition) => (met ? "yes" : "not yet").padEnd(9) + `${name}: ${seen}`;

async function apiOf(kubeconfig: string): Promise<ClusterApi> {
  const { ClusterApi, readKubeconfig } = await import("../cluster/api.ts");
  return new ClusterApi(readKubeconfig(kubeconfig));
}

/** Whoever works with many clusters has another one's kubeconfig in the environment sooner or later. */
async function mustBe(wanted: string | undefined, api: ClusterApi): Promise<void> {
  const { infraIdOf } = await import("../cluster/gate.ts");
  const found = wanted === undefined ? undefined : await infraIdOf(api);
  if (wanted !== undefined && found !== undefined && found !== wanted)
    throw new UserError(problem("cluster-another", { server: api.server, found, wanted }));
}

async function sweepCluster(kubeconfig: string, cluster: string | undefined, output: Output): Promise<void> {
  const { describeApiError } = await import("../cluster/api.ts");
  const { sweep } = await import("../cluster/sweep.ts");
  const warn = (message: string) => {
    output.warnings([{ code: "sweep", message }]);
  };
  let api: ClusterApi;
  try {
    api = await apiOf(kubeconfig);
    await mustBe(cluster, api);
  } catch (error) {
    // The gate decides whether to go on; what the cluster keeps costs nothing but order.
    const reason =
      error instanceof UserError ? error.message : `The cluster cannot be asked: ${describeApiError(error)}.`;
    warn(`${reason} The agents may be left in the cluster: oc delete namespace ${namespace} --wait=false`);
    return;
  }
  const { deleted, left } = await sweep(api);
  for (const { name, reason, command } of left) warn(`${name} could not be deleted (${reason}): ${command}`);
  if (deleted.length > 0) output.text(inLines([`Deleted: ${deleted.join(", ")}`]));
  else if (left.length === 0) output.text("Nothing of the tunnel was left in the cluster.\n");
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ state, what, note }) => `${state.padEnd(13)} ${what}${note === undefined ? "" : `  (${note})`}`,
  );
  const count = (state: Row["state"]) => rows.filter((row) => row.state === state).length;
  const nothing = count("not looked at") === rows.length ? "Nothing could be looked at: something may be left.\n" : "";
  return `${inLines(lines)}\n${nothing}${count("gone")} gone, ${count("terminating")} terminating, ${count("left")} left, ${count("not looked at")} not looked at.\n`;
}

function minutes(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value > 240) throw new InvalidArgumentError("A number of minutes, at most 240.");
  return value;
}
