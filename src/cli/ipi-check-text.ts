import type { InstallCheck } from "../core/ipi/check.ts";
import { describeProblem } from "../core/errors.ts";
import { inLines } from "../core/printable.ts";
import { shellPath } from "../core/shell-word.ts";
import { statusText } from "../cluster/status-text.ts";
import type { Status } from "../cluster/diagnose.ts";
import type { ReportRow } from "../cluster/leftovers.ts";

/** What is known of an installation: from the folder, and from the cluster as soon as it has the tunnel. */
export interface CheckedInstall {
  readonly folder: string;
  readonly check: InstallCheck;
  /** @default - the payload was not taken, or there is neither a kubeconfig nor --ssh */
  readonly status?: Status;
  /** What is left in the cluster. @default - the bootstrap has not ended */
  readonly leftovers?: readonly ReportRow[];
  /** The command that removes it. */
  readonly sweepCommand: string;
  /** The file with the original bootstrap.ign. @default - it does not exist */
  readonly original?: string;
}

const stages: Record<InstallCheck["stage"], string> = {
  "not prepared": "none: bootstrap.ign has no tunnel",
  missing: "none: there is no bootstrap.ign",
  damaged: "changed after it was built: the machine may get no tunnel that works",
  prepared: 'in its place; "create cluster" has not read it yet',
  undecided: '"create cluster" is running and has not read bootstrap.ign yet: check again in a minute',
  taken: 'used by "create cluster": the bootstrap machine gets the tunnel',
  discarded: 'discarded by "create cluster", which made a bootstrap.ign of its own: the machine gets no tunnel',
  "without tunnel": 'not used: "create cluster" uses a bootstrap.ign without a tunnel',
};

const logs = {
  used: "Using Bootstrap Ignition Config loaded from target directory",
  state: "Using Bootstrap Ignition Config loaded from state file",
  discarded: "Discarding the Bootstrap Ignition Config …",
  generated: "Generating Bootstrap Ignition Config...",
};

/** What `ipi check` found, what to do about it, and what is left in the cluster. */
export function describeCheck(found: CheckedInstall): string {
  const { check, status, leftovers, folder, sweepCommand, original } = found;
  const { stage, run, taken, problems } = check;
  const table = inLines([
    `payload   ${stages[stage]}`,
    ...(run?.bootstrap === undefined ? [] : [`log       ${logs[run.bootstrap]}`]),
    ...(taken === undefined
      ? []
      : [`state     the state file has the payload: ${taken.bytes} bytes, sha512 ${taken.sha512.slice(0, 16)}…`]),
  ]);
  const wrong = problems.map((one) => inLines(["", `wrong: ${describeProblem(one)}`]));
  const advice = adviceFor(check, folder, original).map((line) => `  → ${line}`);
  return [
    table,
    ...wrong,
    ...(advice.length === 0 ? [] : [inLines(advice)]),
    ...(status === undefined ? [] : ["\n", statusText(status)]),
    ...(leftovers === undefined ? [] : ["\n", leftoversText(leftovers, sweepCommand)]),
    ...(leftovers === undefined || original === undefined
      ? []
      : [inLines([`original  ${original} contains every secret of the cluster: delete it`])]),
  ].join("");
}

function adviceFor({ stage, run, problems }: InstallCheck, folder: string, original: string | undefined): string[] {
  const dir = shellPath(folder);
  switch (stage) {
    case "not prepared":
      return problems.length > 0 ? [] : [`npx konnectivity-bootstrap ipi prepare ${dir}`];
    case "missing":
      return [
        original === undefined
          ? `openshift-install create ignition-configs --dir ${dir}`
          : `npx konnectivity-bootstrap ipi restore ${dir}`,
      ];
    case "damaged":
      return run === undefined
        ? ["keep the bootstrap.ign that you want, without a tunnel, under that name, and run ipi prepare again"]
        : stopAdvice(run, dir);
    case "prepared":
      return problems.length > 0 ? [] : [`openshift-install create cluster --dir ${dir}`];
    case "undecided":
    case "taken":
      return [];
    case "discarded":
    case "without tunnel":
      return stopAdvice(run, dir);
  }
}

const stopAdvice = (run: InstallCheck["run"], dir: string) => [
  "stop it with Ctrl-C before the machines boot, unless you want this cluster without the tunnel",
  ...(run?.creating === true ? [`openshift-install destroy cluster --dir ${dir}`] : []),
  "begin in a new folder: openshift-install create ignition-configs, ipi prepare, create cluster; change nothing else in it",
];

function leftoversText(rows: readonly ReportRow[], sweepCommand: string): string {
  const shown = rows.filter(({ state }) => state !== "gone");
  if (shown.length === 0) return "left      nothing of the tunnel is left in the cluster\n";
  return inLines([
    ...shown.map(
      ({ state, what, note }) => `${state.padEnd(9)} ${what}${state === "not looked at" ? `: ${note ?? ""}` : ""}`,
    ),
    ...(shown.some(({ state }) => state === "left") ? [`  → ${sweepCommand}`] : []),
  ]);
}
