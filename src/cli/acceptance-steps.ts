import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LabInput } from "../../stacks/build.ts";
import { configFormat } from "../../stacks/platforms.ts";
import type { Inputs } from "../../stacks/resolve.ts";
import { terraformProgram } from "../../stacks/terraform-program.ts";
import type { Collected, Target } from "../cluster/collect.ts";
import { gateOverride, gateVariable } from "../cluster/gate-override.ts";
import type { ReportRow } from "../cluster/leftovers.ts";
import type { Check, VerifiedCheck } from "../cluster/verify.ts";
import { inspect } from "../core/bootstrap.ts";
import { Problems, UserError, problem } from "../core/errors.ts";
import { installerListening } from "../core/konnectivity/required-ingress.ts";
import { inLines } from "../core/printable.ts";
import { timeLimit } from "../core/time-limits.ts";
import { projectRoot } from "../runtime/project-files.js";
import { type Facts, statusFacts, verifyFacts, versionIn, wordIn } from "./acceptance-facts.ts";
import { type Ended, type ProgramProps, resourcesIn, runProgram } from "./acceptance-program.ts";
import type { StepId } from "./acceptance-progress.ts";
import { addressesIn, deployedMachine } from "./deployed-state.ts";
import { describedStacks } from "./described-stacks.ts";
import { cdktfProgram, type Checks, configCheck, runChecks } from "./doctor-checks.ts";
import { runningLab } from "./lab.ts";
import { cdktfCommand } from "./printed-commands.ts";
import { targetOf } from "./target.ts";

/** Everything that the steps of one run need. */
export interface Session {
  readonly platform: string;
  /** Absolute. @default - there is none */
  readonly configFile: string | undefined;
  /** Those of this platform alone. */
  readonly inputs: Inputs;
  /** @default - the platform is a cloud */
  readonly lab: LabInput | undefined;
  /** Where the logs go. Absolute. */
  readonly folder: string;
  /** The cdktf command's. Absolute. */
  readonly outputFolder: string;
  /** @default - the cluster is the lab's */
  readonly kubeconfig: string | undefined;
  /** Destination of the bootstrap machine. @default - the one that was deployed */
  readonly ssh: string | undefined;
  /** How long the tunnel, and then the end of the bootstrap, may take. */
  readonly waitMinutes: number;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  /** Shows what a program prints. */
  readonly show: (text: string) => void;
  /** Shows the end of what a program printed that failed, if nothing of it was shown. */
  readonly showFailed: (output: string) => void;
  /** Asks for consent. Throws `Declined` if it is refused. */
  readonly ask: (question: string, signal: AbortSignal) => Promise<void>;
}

/** The user does not want the step. */
export class Declined extends Error {}

export interface Step {
  readonly id: StepId;
  /** What it does, as a line of `--dry-run` and of the report. */
  readonly title: string;
  /** What the step costs. @default - nothing */
  readonly cost?: string;
  /** Whether the run continues if the step fails. @default false */
  readonly continues?: boolean;
  /**
   * Throws a UserError if it fails.
   * @param note saves a fact, also of a step that fails then
   */
  run(session: Session, facts: Facts, note: (found: Partial<Facts>) => void): Promise<void>;
}

export const steps: readonly Step[] = [
  {
    id: "preflight",
    title: "Check this machine, the config and the install folder",
    run: async (session, _, note) => {
      const checks = runChecks(session.configFile, session.environment);
      await checkPreflight(session, checks);
      note({ preflight: preflightFacts(session, checks) });
      return Promise.resolve();
    },
  },
  {
    id: "deploy",
    title: "Deploy both stacks of the platform",
    cost: "creates resources that your cloud charges for until the destroy",
    run: deploy,
  },
  {
    id: "plan",
    title: "Synthesize and plan again: nothing may change",
    continues: true,
    run: planAgain,
  },
  {
    id: "status",
    title: "Wait until the tunnel works",
    run: waitForTunnel,
  },
  {
    id: "verify",
    title: "Run the checks of `verify` that need the running bootstrap",
    continues: true,
    run: async (session, _, note) => {
      const checks = await verify(session);
      note({ verify: verifyFacts(undefined, checks) });
      mustPass(checks);
    },
  },
  {
    id: "complete",
    title: "Wait until the cluster no longer needs its bootstrap machine",
    run: complete,
  },
  {
    id: "verify-end",
    title: "Run the checks of `verify` that need the end of the bootstrap",
    continues: true,
    run: async (session, facts, note) => {
      const checks = await verify(session);
      note({ verify: verifyFacts(facts.verify, checks) });
      mustPass(checks);
    },
  },
  {
    id: "destroy",
    title: "Destroy both stacks: gate, sweep, machine",
    cost: "removes the bootstrap machine, if the gate opens",
    run: destroy,
  },
  {
    id: "leftovers",
    title: "Report what is left",
    run: async (session, _, note) => {
      const rows = await leftovers(session);
      session.say(inLines(rows.map(({ state, what }) => `${state.padEnd(13)} ${what}`)));
      const count = (state: ReportRow["state"]) => rows.filter((row) => row.state === state).length;
      const counts = {
        gone: count("gone"),
        terminating: count("terminating"),
        left: count("left"),
        notLookedAt: count("not looked at"),
      };
      note({ leftovers: counts });
      mustBeGone(counts, destroyCommand(session));
    },
  },
];

export const stepTitles = Object.fromEntries(steps.map(({ id, title }) => [id, title])) as Record<StepId, string>;

const stacksOf = ({ platform }: Session) => [`${platform}-bootstrap`, `${platform}-teardown`] as const;
const pattern = ({ platform }: Pick<Session, "platform">) => `${platform}-*`;
export const destroyCommand = (session: Pick<Session, "platform" | "configFile">) =>
  cdktfCommand(["destroy", pattern(session)], session.configFile);
const logOf = ({ folder }: Session, step: StepId) => join(folder, `${step}.log`);

// preflight

/** Reports everything that keeps a run from beginning, at once. */
export async function checkPreflight(session: Session, checks: Pick<Checks, "needed">): Promise<void> {
  const { inputs, lab, environment, kubeconfig } = session;
  const problems = new Problems();
  for (const { name, found, advice = "see `doctor`" } of checks.needed.filter(({ ok }) => !ok))
    problems.add(problem("acceptance-unprepared", { lacks: `${name}: ${found}`, advice }));
  // Before anything is paid for: later steps ask the cluster.
  if (kubeconfig !== undefined && !existsSync(kubeconfig)) {
    const advice = "give the cluster's kubeconfig with --kubeconfig";
    problems.add(problem("file-unreadable", { file: kubeconfig, reason: "it does not exist", advice }));
  }
  const payload = lab?.payload ?? inputs.payload;
  const configIsWrong = checks.needed.some(({ name, ok }) => name === configCheck && !ok);
  if (!payload.present && !configIsWrong) problems.add(problem("acceptance-no-payload", { reason: payload.why }));
  if (payload.present && payload.example === true) problems.add(problem("acceptance-example"));
  if (tunnelOf(session) === "off") problems.add(problem("acceptance-no-tunnel", { option: "tunnel" }));
  problems.attempt(() => {
    if (gateOverride(environment) !== undefined)
      throw new UserError(problem("acceptance-gate-open", { variable: gateVariable }));
  });
  // Terraform must have been initialized before it can read a shared state.
  for (const stack of inputs.stateFolder === undefined ? [] : stacksOf(session)) {
    const addresses = await problems.attemptAsync(() => addressesIn(inputs, stack));
    if (addresses !== undefined && addresses.length > 0)
      problems.add(problem("acceptance-deployed", { stack, command: destroyCommand(session) }));
  }
  if (problems.found.length > 0) throw new UserError(...problems.found);
}

const tunnelOf = ({ inputs, lab }: Pick<Session, "inputs" | "lab">) => lab?.tunnel ?? inputs.tunnel;

function preflightFacts(session: Session, { needed }: Checks): NonNullable<Facts["preflight"]> {
  const { platform, inputs, lab, environment } = session;
  const tunnel = tunnelOf(session);
  const options = typeof tunnel === "string" ? undefined : tunnel;
  const program = terraformProgram(environment);
  const version = versionIn(needed.find(({ name }) => name.toLowerCase() === program.toLowerCase())?.found);
  const payload = lab?.payload ?? inputs.payload;
  const release = options !== undefined && payload.present ? releaseIn(payload.text) : undefined;
  const described = configFormat.platforms.find(({ name }) => name === platform);
  const machine = described?.reportedFacts?.(inputs.platforms[platform as keyof Inputs["platforms"]]) ?? {};
  return {
    ...(version !== undefined && { terraform: { program: wordIn(program) ?? "another", version } }),
    tunnel: options === undefined ? "installer" : "ours",
    ...(release !== undefined && { release }),
    ...(options !== undefined && { authentication: options.authentication }),
    port: (options ?? installerListening).port,
    firewall: inputs.firewall,
    machine: Object.fromEntries(
      Object.entries(machine).filter(([, value]) => typeof value === "number" || wordIn(value) !== undefined),
    ),
    dockerWithGroups2: existsSync("/.dockerenv") && existsSync("/sys/fs/cgroup/cgroup.controllers"),
  };
}

function releaseIn(payload: string) {
  const found = inspect(payload, "the payload");
  return found.kind === "payload" ? found.record.release : undefined;
}

// deploy, plan and destroy

async function deploy(session: Session, _: Facts, note: (found: Partial<Facts>) => void): Promise<void> {
  const { say, platform, lab } = session;
  const made = Object.values(await describedStacks(session.inputs)).flat();
  const list = made.map(({ type, name }) => `  ${type}${name === undefined ? "" : `  ${name}`}`);
  say(inLines(lab === undefined ? [`The deploy creates ${made.length} resources:`, ...list] : [lab.description]));
  const cost = "They cost money until they are destroyed. ";
  await session.ask(`${lab === undefined ? cost : ""}Deploy ${platform}?`, session.signal);
  const ended = await cdktf(session, "deploy", ["deploy", pattern(session), "--auto-approve"]);
  note({ deploy: { added: resourcesIn(ended.output).added, providers: providersOf(session) } });
}

/** The provider versions that Terraform chose. */
function providersOf(session: Session): NonNullable<Facts["deploy"]>["providers"] {
  const [stack] = stacksOf(session);
  const file = join(session.outputFolder, "stacks", stack, ".terraform.lock.hcl");
  if (!existsSync(file)) return [];
  const blocks = readFileSync(file, "utf8").matchAll(/^provider "[^"]*\/([\w-]+)" \{\s+version\s+= "([^"]+)"/gm);
  return [...blocks].flatMap(([, name, found]) => {
    const version = versionIn(found);
    return name === undefined || version === undefined ? [] : [{ name, version }];
  });
}

/** A plan instead of a second deploy, which would change a machine that is in use. */
async function planAgain(session: Session, _: Facts, note: (found: Partial<Facts>) => void): Promise<void> {
  await cdktf(session, "plan", ["synth"]);
  const log = logOf(session, "plan");
  const changed: string[] = [];
  for (const stack of stacksOf(session)) {
    const ended = await run(session, "plan", [
      terraformProgram(session.environment),
      `-chdir=${join(session.outputFolder, "stacks", stack)}`,
      ...["plan", "-detailed-exitcode", "-input=false", "-no-color"],
    ]);
    if (ended.code === 2) changed.push(stack);
    else mustSucceed(session, `The plan of ${stack}`, ended, log);
  }
  note({ plan: { changes: changed.length > 0 } });
  mustNotChange(changed, log);
}

export function mustNotChange(stacks: readonly string[], log: string): void {
  if (stacks.length > 0)
    throw new UserError(...stacks.map((stack) => problem("acceptance-plan-changes", { stack, log })));
}

async function destroy(session: Session): Promise<void> {
  await session.ask(`Destroy ${session.platform}?`, session.signal);
  await cdktf(session, "destroy", ["destroy", pattern(session), "--auto-approve"]);
}

/** Runs the cdktf command, which must succeed. */
async function cdktf(session: Session, step: StepId, words: readonly string[]): Promise<Ended> {
  const program = cdktfProgram(session.environment);
  if (program === undefined) throw new Error("preflight found cdktf");
  const command = [program, ...words, "--output", session.outputFolder] as const;
  const ended = await run(session, step, command, { interruptChildren: true });
  mustSucceed(session, `cdktf ${words[0] ?? ""}`, ended, logOf(session, step));
  return ended;
}

async function run(
  session: Session,
  step: StepId,
  command: readonly [string, ...string[]],
  options: Pick<ProgramProps, "interruptChildren"> = {},
): Promise<Ended> {
  const { configFile, kubeconfig, environment, show, signal } = session;
  const ended = await runProgram({
    ...options,
    command,
    // cdktf.json is there.
    cwd: projectRoot,
    env: {
      ...environment,
      ...(configFile !== undefined && { KONNECTIVITY_CONFIG: configFile }),
      ...(kubeconfig !== undefined && { KUBECONFIG: kubeconfig }),
      CHECKPOINT_DISABLE: "1",
      FORCE_COLOR: "0",
      NO_COLOR: "1",
    },
    logFile: logOf(session, step),
    show,
    signal,
  });
  signal.throwIfAborted();
  return ended;
}

export function mustSucceed(
  { showFailed }: Pick<Session, "showFailed">,
  what: string,
  { code, output }: Ended,
  log: string,
): void {
  if (code === 0) return;
  showFailed(output);
  // Of a step of the stacks, such as the gate.
  const [, said] = /\(local-exec\): error: (.+?)\.?$/m.exec(output) ?? [];
  const reason = said ?? (code === null ? "it was ended by a signal" : `exit code ${code}`);
  throw new UserError(problem("acceptance-step-failed", { what, reason, log }));
}

// status and verify

/** How many lines of each log are searched for the reason of a failure. */
const logLines = 200;

async function waitForTunnel(session: Session, _: Facts, note: (found: Partial<Facts>) => void): Promise<void> {
  const { say, lab, waitMinutes, signal } = session;
  if (lab === undefined)
    say(
      "In another terminal, continue with your UPI guide: create the control plane. The tunnel carries once the network of a node is up.\n",
    );
  const [{ collect }, { statusText }] = await Promise.all([
    import("../cluster/collect.ts"),
    import("../cluster/status-text.ts"),
  ]);
  const end = Date.now() + 60_000 * waitMinutes;
  let before = "";
  for (;;) {
    const target = await targetFor(session);
    const collected = await collect(target, logLines);
    const text = statusText(collected.status);
    if (text !== before) say(text);
    before = text;
    const carries = collected.status.state === "carries";
    if (carries || Date.now() >= end) {
      note({ status: statusFacts(collected, await networkOf(target)) });
      if (carries) return;
      throw notCarrying(collected.status, waitMinutes);
    }
    await sleep(lab === undefined ? 10_000 : 1000, undefined, { signal });
  }
}

export const notCarrying = ({ state, findings }: Collected["status"], minutes: number) =>
  new UserError(
    problem("acceptance-not-carrying", {
      state,
      findings: findings.map(({ code }) => `, ${code}`).join(""),
      minutes,
    }),
  );

/** The machine by ssh and the cluster by its kubeconfig: one of the two is enough. */
async function targetFor({ lab, inputs, outputFolder, kubeconfig, ssh }: Session): Promise<Target> {
  if (lab !== undefined) return targetOf({ name: lab.name });
  const problems = new Problems();
  const machine = ssh ?? (await problems.attemptAsync(() => deployedMachine({ ...inputs, outputFolder })));
  const config = kubeconfig !== undefined && existsSync(kubeconfig) ? kubeconfig : undefined;
  if (machine === undefined && config === undefined) throw new UserError(...problems.found);
  return targetOf({
    ...(machine !== undefined && { ssh: machine }),
    ...(config !== undefined && { kubeconfig: config }),
  });
}

/** The type of the cluster's pod network. @returns undefined if the API does not say it */
async function networkOf({ api }: Target): Promise<unknown> {
  try {
    const network = await api?.openshift<{ status?: { networkType?: unknown } }>("config.openshift.io", "networks");
    return network?.status?.networkType;
  } catch {
    // Everything else can be reported without it.
    return undefined;
  }
}

async function verify({ lab, kubeconfig = "", say }: Session): Promise<VerifiedCheck[]> {
  const [{ runChecks: runVerify }, checks] = await Promise.all([
    import("../cluster/verify.ts"),
    lab === undefined ? clusterChecksOf(kubeconfig) : labChecksOf(lab.name),
  ]);
  const results = await runVerify(checks);
  say(inLines(results.map(({ id, result, title }) => `${id.padEnd(10)}  ${result.padEnd(13)}  ${title}`)));
  return results;
}

async function clusterChecksOf(kubeconfig: string): Promise<Check[]> {
  const { clusterChecks } = await import("../cluster/verify-cluster.ts");
  return clusterChecks(kubeconfig);
}

async function labChecksOf(name: string): Promise<Check[]> {
  const { labChecks } = await import("../../lab/verify-lab.ts");
  return labChecks(await runningLab(name), { finish: false });
}

export function mustPass(checks: readonly Pick<VerifiedCheck, "id" | "result">[]): void {
  const ids = checks.filter(({ result }) => result === "failed").map(({ id }) => id);
  if (ids.length > 0) throw new UserError(problem("acceptance-checks-failed", { checks: ids.join(", ") }));
  if (checks.every(({ result }) => result === "not looked at"))
    throw new UserError(problem("acceptance-nothing-checked"));
}

// The end

async function complete(session: Session): Promise<void> {
  const { lab, kubeconfig = "", inputs, waitMinutes, say, signal } = session;
  if (lab !== undefined) {
    await (await runningLab(lab.name)).completeBootstrap();
    say("The bootstrap has ended: the lab's cluster runs without its bootstrap machine.\n");
    return;
  }
  say(
    `In another terminal, run: openshift-install wait-for bootstrap-complete --dir ${inputs.installDir}\nThe gate is asked meanwhile:\n`,
  );
  const { waitForGate } = await import("../cluster/gate.ts");
  const end = Date.now() + timeLimit(60_000 * waitMinutes);
  let before = "";
  const report = (text: string) => {
    if (text !== before) say(text);
    before = text;
  };
  for (;;)
    try {
      // It cannot be interrupted while it waits by itself.
      await waitForGate({ kubeconfig, infraId: inputs.infraId, waitMinutes: 0, report, progress: () => undefined });
      return;
    } catch (error) {
      const mayOpen =
        error instanceof UserError &&
        error.problems.every(({ code }) => code === "gate-closed" || code === "gate-blind");
      if (!mayOpen || Date.now() >= end) throw error;
      await sleep(10_000, undefined, { signal });
    }
}

/** Everything that deploying and booting created, and whether it is gone. */
export async function leftovers({
  platform,
  configFile,
  kubeconfig,
  outputFolder,
}: Pick<Session, "platform" | "configFile" | "kubeconfig" | "outputFolder">): Promise<ReportRow[]> {
  const { reportOf } = await import("./teardown-report.ts");
  return reportOf({ platform, configFile, kubeconfig, outputFolder, lastStep: false });
}

export function mustBeGone(
  { gone, terminating, left, notLookedAt }: NonNullable<Facts["leftovers"]>,
  command: string,
): void {
  if (left > 0) throw new UserError(problem("acceptance-left", { count: left, command }));
  if (notLookedAt > 0 && gone + terminating === 0) throw new UserError(problem("acceptance-unseen"));
}
