import { version } from "../core/package.ts";
import { oneLine } from "../core/printable.ts";
import { titles } from "../cluster/verify.ts";
import { stepIds, type Progress, type StepId } from "./acceptance-progress.ts";
import type { Redact } from "./acceptance-redaction.ts";
import { type Answer, rows, type RunFacts } from "./acceptance-rows.ts";

export interface ReportProps extends RunFacts {
  readonly progress: Progress;
  readonly titles: Readonly<Record<StepId, string>>;
  readonly redact: Redact;
}

/** What is published: figures, versions, words of a known vocabulary, and reasons without names. */
export interface AcceptanceReport {
  /** Of this shape. */
  readonly format: 1;
  readonly tool: string;
  readonly node: string;
  readonly terraform: string | null;
  readonly providers: readonly { readonly name: string; readonly version: string }[];
  readonly platform: string;
  readonly machine: Readonly<Record<string, string | number>>;
  /** OpenShift's release class. */
  readonly release: string | null;
  readonly startedAt: string;
  readonly passed: boolean;
  readonly steps: readonly {
    readonly id: StepId;
    readonly state: "passed" | "failed" | "not run";
    readonly seconds: number | null;
    readonly reason: string | null;
  }[];
  readonly checks: readonly { readonly id: string; readonly result: string }[];
  readonly rows: readonly ({ readonly id: string; readonly claim: string } & Answer)[];
}

/** Whether every step passed. */
export const hasPassed = ({ results }: Pick<Progress, "results">) =>
  stepIds.every((id) => results[id]?.state === "passed");

export function acceptanceReport({ progress, redact, ...run }: ReportProps): AcceptanceReport {
  const { preflight, deploy, verify = [] } = run.facts;
  const { terraform } = preflight ?? {};
  return {
    format: 1,
    tool: version,
    node: process.version,
    terraform: terraform === undefined ? null : `${terraform.program} ${terraform.version}`,
    providers: deploy?.providers ?? [],
    platform: run.platform,
    machine: Object.fromEntries(
      Object.entries(preflight?.machine ?? {}).map(([name, value]) => [
        name,
        typeof value === "string" ? redact(value) : value,
      ]),
    ),
    release: preflight?.release ?? null,
    // Without the time of day, which a cloud's audit log would lead to an account by.
    startedAt: progress.startedAt.slice(0, 10),
    passed: hasPassed(progress),
    steps: stepIds.map((id) => {
      const result = progress.results[id];
      return {
        id,
        state: result?.state ?? "not run",
        seconds: result?.seconds ?? null,
        reason: result?.reason === undefined ? null : redact(result.reason),
      };
    }),
    checks: verify,
    rows: rows.map(({ id, claim, answer }) => ({ id, claim, ...answer(run) })),
  };
}

/** The report as Markdown. */
export function reportText(report: AcceptanceReport, stepTitles: ReportProps["titles"]): string {
  const { terraform, providers, machine, release, steps, checks, rows: answers } = report;
  const count = (verdict: Answer["verdict"]) => answers.filter((row) => row.verdict === verdict).length;
  const facts: [string, string][] = [
    ["konnectivity-bootstrap", report.tool],
    ["Node.js", report.node],
    ["Terraform", terraform ?? "unknown"],
    ...providers.map(({ name, version: found }): [string, string] => [`provider ${name}`, found]),
    ["platform", report.platform],
    ...Object.entries(machine).map(([name, value]): [string, string] => [name, String(value)]),
    ["OpenShift release class", release ?? "unknown"],
    ["date", report.startedAt],
  ];
  return [
    `# Acceptance report: ${report.platform}, ${report.passed ? "passed" : "not passed"}`,
    "",
    ...facts.map(([name, value]) => `- ${name}: ${value}`),
    "",
    "## Steps",
    "",
    "| step | what | result | seconds |",
    "|---|---|---|---|",
    ...steps.map(({ id, state, seconds, reason }) =>
      row(`\`${id}\``, stepTitles[id], reason === null ? state : `${state}: ${reason}`, seconds ?? ""),
    ),
    "",
    "## Rows of docs/not-proved.md",
    "",
    `${count("yes")} yes, ${count("no")} no, ${count("not answered")} not answered.`,
    "",
    "| row | claim | answer | evidence |",
    "|---|---|---|---|",
    ...answers.map(({ id, claim, verdict, evidence }) => row(`\`${id}\``, claim, verdict, evidence)),
    "",
    ...(checks.length === 0
      ? []
      : [
          "## Checks of `verify`",
          "",
          "| check | what | result |",
          "|---|---|---|",
          ...checks.map(({ id, result }) => row(id, titles[id as keyof typeof titles], result)),
          "",
        ]),
    "Read this report before you attach it to an issue. Names, addresses, IDs and paths are replaced, but only you can",
    "tell whether something in it is confidential.",
    "",
  ].join("\n");
}

/** A line of a table: text from outside cannot start a new cell or line. */
const row = (...cells: readonly (string | number)[]) =>
  `| ${cells.map((cell) => oneLine(String(cell)).replaceAll("|", "\\|")).join(" | ")} |`;
