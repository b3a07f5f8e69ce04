import { createInterface } from "node:readline/promises";
import { Command, InvalidArgumentError } from "commander";
import type { Transport } from "../cluster/probe.ts";
import type { NoAnswer, Refusal, Switched, SwitchPlan, SwitchResult } from "../cluster/switch.ts";
import { UserError, problem } from "../core/errors.ts";
import { inLines, oneLine } from "../core/printable.ts";
import { jsonOption, type Output } from "./output.ts";
import { ownCommand } from "./printed-commands.ts";
import { noteTarget, type TargetOptions, targetOf, withMachine } from "./target.ts";
import { isInteractive } from "./terminal.ts";

interface SwitchOptions extends Pick<TargetOptions, "config" | "name" | "ssh"> {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly wait?: number;
  readonly json?: boolean;
}

/** `tunnel off` and `tunnel on`: on a running bootstrap machine. */
export function tunnelCommand(output: Output): Command {
  return new Command("tunnel")
    .description("Switch the tunnel of a running bootstrap machine off, and on again")
    .addCommand(switchCommand(output, "off", "Let the bootstrap kube-apiserver connect directly, as without a tunnel"))
    .addCommand(switchCommand(output, "on", "Let the bootstrap kube-apiserver use the tunnel again"));
}

function switchCommand(output: Output, to: Switched, description: string): Command {
  return withMachine(new Command(to).description(description))
    .option("--dry-run", "show what would be done, and change nothing")
    .option("--yes", "do not ask")
    .option("--wait <seconds>", "how long the kube-apiserver may take until it is ready (default: 180)", seconds)
    .option(...jsonOption)
    .action(async (options: SwitchOptions) => {
      const { dryRun = false, yes = false } = options;
      // Before anything else: a script gets the same answer whatever the machine's state.
      if (!dryRun && !yes && !canAsk()) throw new UserError(problem("switch-unconfirmed", { to }));
      const { planSwitch, runSwitch, defaultWaitSeconds } = await import("../cluster/switch.ts");
      const waitSeconds = options.wait ?? defaultWaitSeconds;
      const { machine: transport, configFile } = await machineOf(output, options);
      const { machine } = transport;
      output.doing(`Reading from ${machine}`);
      const plan = await planSwitch(transport);
      output.doing();
      if (!("state" in plan)) throw noPlan(machine, plan);
      const show = (lines: readonly string[]) => {
        if (options.json !== true) output.text(inLines(lines));
        else for (const line of lines) output.note(line);
      };
      const report = (state: SwitchPlan["state"] | "unknown", changed: boolean, result?: SwitchResult) => {
        if (options.json !== true) return;
        const { outageMilliseconds } = result ?? {};
        const outageSeconds = outageMilliseconds === undefined ? null : outageMilliseconds / 1000;
        const { ready, connected, grace: graceSeconds, lasts } = plan;
        const found = { state: plan.state, ready, connected, graceSeconds, lasts };
        output.json({ config: configFile ?? null, machine, to, dryRun, found, state, changed, outageSeconds });
      };
      const isDone = plan.state === to && plan.ready;
      show(isDone ? [`The tunnel of ${machine} is already ${to}.`] : planText(machine, to, plan, waitSeconds));
      if (isDone || dryRun) {
        report(plan.state, false);
        return;
      }
      output.warnings(warningsOf(to, plan));
      if (!yes && !(await confirmed(`Switch the tunnel of ${machine} ${to}? [y/N] `))) {
        output.note("Nothing was changed.");
        output.exitCode = 1;
        report(plan.state, false);
        return;
      }
      output.doing(`Restarting the kube-apiserver of ${machine}`);
      const outcome = await runSwitch(transport, to, waitSeconds, (what) => {
        if (what === "restore") output.doing(`Restoring the former state of ${machine}`);
      });
      output.doing();
      if (!("result" in outcome)) {
        report("unknown", true);
        throw "refused" in outcome
          ? noPlan(machine, outcome)
          : new UserError(problem("switch-unknown", { machine, to, reason: endOf(outcome.unreachable) }));
      }
      const { result, outageMilliseconds, lastLogLine } = outcome;
      const said = lastLogLine === undefined ? "" : ` (in its log: ${endOf(lastLogLine)})`;
      if (result === "restored") {
        report(plan.state, false, outcome);
        throw new UserError(problem("switch-restored", { machine, to, seconds: waitSeconds, said }));
      }
      if (result === "not-ready") {
        report("unknown", true, outcome);
        throw new UserError(problem("switch-not-ready", { machine, seconds: waitSeconds, said }));
      }
      report(to, result === "switched", outcome);
      show([
        result === "unchanged"
          ? `The tunnel of ${machine} is already ${to}.`
          : `The tunnel of ${machine} is ${to}, and the kube-apiserver is ready. Its API did not answer for ${inSeconds(outageMilliseconds ?? 0)}.`,
        ...(to === "off" ? [`To switch it on again: ${commandFor("on", options)}`] : []),
      ]);
    });
}

/** The bootstrap machine that the options name, or else the configured one. */
async function machineOf(
  output: Output,
  options: SwitchOptions,
): Promise<{ readonly machine: Transport; readonly configFile?: string | undefined }> {
  const target = await targetOf(options);
  noteTarget(output, options, target);
  // The bootstrap machine comes first, and a lab that has removed it has only nodes left.
  const [machine] = target.transports;
  if (target.machineRemoved === true)
    throw new UserError(problem("switch-refused", { machine: "bootstrap", reason: reasons.ended }));
  if (machine === undefined) {
    const reason = `no bootstrap machine is deployed with ${target.configFile ?? "the config file"}`;
    throw new UserError(problem("subject-unknown", { reason, flags: "--ssh or --name" }));
  }
  return { machine, configFile: target.configFile };
}

const reasons: Record<Refusal, string> = {
  installer: "it is openshift-install's own tunnel, which only openshift-install's feature gate switches",
  none: "there is no tunnel of this project on it; check that it is the bootstrap machine",
  ended: "the bootstrap has ended, and the tunnel with it",
  "not-running": "its kube-apiserver does not run with an egress selector, because it has not started yet or has ended",
  busy: "another tunnel command is running there; wait until it ends",
  "not-saved":
    "the tunnel's egress selector is missing (switched-on.yaml in /opt/openshift/konnectivity-bootstrap on the machine); restore it",
};

function noPlan(machine: string, answer: NoAnswer): UserError {
  if ("refused" in answer)
    return new UserError(problem("switch-refused", { machine, reason: reasons[answer.refused] }));
  return new UserError(problem("switch-no-answer", { machine, reason: endOf(answer.unreachable) }));
}

const states: Record<SwitchPlan["state"], string> = {
  off: "off",
  on: "on",
  incomplete: "an earlier switch was interrupted",
};

const effects: Record<Switched, string> = {
  off: "the kube-apiserver connects to the cluster directly: nodes work, webhooks and aggregated APIs in the pod network fail",
  on: "the kube-apiserver connects to the cluster through the tunnel",
};

/** What a switch is going to do. */
function planText(machine: string, to: Switched, plan: SwitchPlan, waitSeconds: number): string[] {
  const { state, ready, connected, grace } = plan;
  const agents = connected ? "the server runs and has agents" : "the server does not answer, or has no agent";
  return [
    `machine     ${machine}`,
    `tunnel      ${states[state]}; ${agents}`,
    `API         ${ready ? "ready" : "not ready"}`,
    `change      ${effects[to]}`,
    `restart     only the kube-apiserver's container; server, agents and keys stay`,
    `API outage  until the new kube-apiserver is ready: about 5 s in the lab, usually longer on a real machine`,
    `            before that, the old one has ${grace} s to complete its requests`,
    `otherwise   if the new one is not ready within ${waitSeconds} s, everything is restored`,
  ];
}

function warningsOf(to: Switched, { connected, lasts }: SwitchPlan) {
  const warnings = [];
  if (to === "on" && !connected)
    warnings.push({
      code: "switch-no-agent",
      message:
        "The tunnel's server does not answer or has no agent: with the tunnel on, every call into the cluster fails until that changes.",
    });
  if (to === "off" && !lasts)
    warnings.push({
      code: "switch-does-not-last",
      message:
        "The payload of this machine was built by a version before 0.3.0: when bootkube.sh runs again, it writes the tunnel's egress selector, and the next restart of the kube-apiserver uses it; then repeat this command.",
    });
  return warnings;
}

const canAsk = () => process.stdin.isTTY && isInteractive(process.stderr, { TERM: process.env.TERM });

/** The end of the input is a no. */
async function confirmed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => terminal.once("close", () => { resolve(""); })); // prettier-ignore
  try {
    return /^\s*y(es)?\s*$/i.test(await Promise.race([terminal.question(question), closed]));
  } finally {
    terminal.close();
  }
}

/** The same machine, by the same options. */
function commandFor(to: Switched, { config, name, ssh }: SwitchOptions): string {
  return ownCommand([
    ...["tunnel", to],
    ...(config === false ? ["--no-config"] : config === undefined ? [] : ["--config", config]),
    ...(name === undefined ? [] : ["--name", name]),
    ...(ssh === undefined ? [] : ssh === true ? ["--ssh"] : ["--ssh", ssh]),
  ]);
}

const inSeconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`;
const endOf = (text: string) => oneLine(text).replace(/\.$/, "").slice(-300);

function seconds(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > 3600) throw new InvalidArgumentError("Seconds, from 1 to 3600.");
  return value;
}
