import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import type { Status } from "../cluster/diagnose.ts";
import type { Finding } from "../cluster/finding.ts";
import { statusVerdicts } from "../cluster/status-text.ts";
import { readInstallFolder, readInstallLog } from "../config/install-folder.ts";
import { checkInstall, type InstallCheck } from "../core/ipi/check.ts";
import { originalName } from "../core/ipi/install-folder.ts";
import { lastCreateCluster } from "../core/ipi/install-log.ts";
import { shellPath } from "../core/shell-word.ts";
import { type CheckedInstall, describeCheck } from "./ipi-check-text.ts";
import { jsonErrorOf, jsonLinesOption, type Output } from "./output.ts";
import { statusJson } from "./status.ts";
import { sshDestination } from "./target.ts";

/** How many lines of each log are searched for the reason of a failure. */
const logLines = 200;

interface CheckOptions {
  readonly ssh?: string;
  readonly watch?: boolean;
  readonly json?: boolean;
}

/** `ipi check`: whether "create cluster" took the tunnel, how it is, and whether anything of it is left. */
export function ipiCheckCommand(output: Output): Command {
  return new Command("check")
    .description(
      "Check that create cluster uses the payload, that the tunnel works and that nothing is left; exit code 1 if not",
    )
    .argument("<install-dir>", 'folder of "openshift-install create cluster"')
    .option("--ssh <destination>", "bootstrap machine to examine too, like core@10.0.0.5", sshDestination)
    .option("--watch", "repeat until the bootstrap has ended, and print each change")
    .option(...jsonLinesOption)
    .action(async (folder: string, options: CheckOptions) => {
      let before = "";
      for (;;) {
        output.doing("Checking the install folder, the machine and the cluster");
        const found = await checkFolder(folder, options.ssh);
        const text = describeCheck(found);
        const ok = isFine(found);
        output.exitCode = ok ? 0 : 1;
        output.doing();
        if (text !== before) {
          if (options.json !== true)
            output.text(before === "" ? text : `\n${new Date().toISOString()}\n${text}`, statusVerdicts);
          else if (options.watch === true) output.jsonLine(toJson(found), ok);
          else output.json(toJson(found));
        }
        before = text;
        if (options.watch !== true || isOver(found)) return;
        await sleep(5000);
      }
    });
}

async function checkFolder(folder: string, ssh: string | undefined): Promise<CheckedInstall> {
  const kubeconfig = join(folder, "auth", "kubeconfig");
  const original = join(folder, originalName);
  const check = checkInstall(readInstallFolder(folder), lastCreateCluster(readInstallLog(folder)), new Date());
  const found = {
    folder,
    check,
    sweepCommand: `npx konnectivity-bootstrap teardown sweep --kubeconfig ${shellPath(kubeconfig)}`,
    ...(existsSync(original) && { original }),
  };
  if (check.stage !== "taken") return found;
  const status = await statusOf(isRegularFile(kubeconfig) ? kubeconfig : undefined, ssh);
  if (status?.state !== "ended" || !isRegularFile(kubeconfig))
    return { ...found, ...(status !== undefined && { status }) };
  const { clusterLeftovers } = await import("../cluster/leftovers.ts");
  return { ...found, status, leftovers: await clusterLeftovers(kubeconfig) };
}

/** Reading a pipe may never end. */
const isRegularFile = (file: string) => statSync(file, { throwIfNoEntry: false })?.isFile() === true;

async function statusOf(kubeconfig: string | undefined, ssh: string | undefined): Promise<Status | undefined> {
  if (kubeconfig === undefined && ssh === undefined) return undefined;
  const [{ collect }, { sshTransports }] = await Promise.all([
    import("../cluster/collect.ts"),
    import("../cluster/probe.ts"),
  ]);
  const transports = sshTransports(ssh === undefined ? [] : [ssh]);
  if (kubeconfig === undefined) return forCreateCluster((await collect({ transports }, logLines)).status);
  const { ClusterApi, readKubeconfig } = await import("../cluster/api.ts");
  const { status } = await collect({ transports, api: new ClusterApi(readKubeconfig(kubeconfig)) }, logLines);
  return forCreateCluster(status);
}

/** The advice of `status` is for machines that a stack created. */
function forCreateCluster(status: Status): Status {
  const findings = status.findings.map((one): Finding =>
    one.code === "ended" ? { ...one, advice: "openshift-install removes the machine by itself" } : one,
  );
  return { ...status, findings };
}

/** Before its API has answered once, a cluster that does not answer is nothing unusual. */
function isExpected({ code }: Finding, { run }: InstallCheck): boolean {
  return code === "api-silent" && run !== undefined && !run.apiUp;
}

function isFine({ check, status, leftovers = [] }: CheckedInstall): boolean {
  const stages: readonly InstallCheck["stage"][] = ["prepared", "undecided", "taken"];
  const wrong = status?.findings.some(
    (one) => (one.kind === "wrong" || one.kind === "unknown") && !isExpected(one, check),
  );
  const left = leftovers.some(({ state }) => state === "left" || state === "not looked at");
  return stages.includes(check.stage) && check.problems.length === 0 && wrong !== true && !left;
}

/** Nothing changes any more without somebody's doing. */
function isOver({ check, status, leftovers = [] }: CheckedInstall): boolean {
  const stages: readonly InstallCheck["stage"][] = [
    "not prepared",
    "missing",
    "damaged",
    "discarded",
    "without tunnel",
  ];
  const terminating = leftovers.some(({ state }) => state === "terminating");
  return stages.includes(check.stage) || (status?.state === "ended" && !terminating);
}

function toJson(found: CheckedInstall) {
  const { check, status, leftovers, sweepCommand, original } = found;
  return {
    fine: isFine(found),
    stage: check.stage,
    problems: check.problems.map(jsonErrorOf),
    taken: check.taken ?? null,
    run: check.run ?? null,
    status: status === undefined ? null : statusJson(status),
    leftovers: leftovers ?? null,
    sweepCommand,
    original: original ?? null,
  };
}
