import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { gateVariable } from "../cluster/gate-override.ts";
import { describeProblem, UserError } from "../core/errors.ts";
import { inLines } from "../core/printable.ts";
import { writeUserFiles } from "../files/user-file.ts";
import type { Facts } from "./acceptance-facts.ts";
import { type Progress, saveProgress, type StepResult } from "./acceptance-progress.ts";
import type { Redact } from "./acceptance-redaction.ts";
import { type AcceptanceReport, acceptanceReport, reportText } from "./acceptance-report.ts";
import { Declined, destroyCommand, leftovers, type Session, type Step, stepTitles } from "./acceptance-steps.ts";

/** Runs the steps that are still to do, and saves the result of each. @returns how far the run is now */
export async function runSteps(steps: readonly Step[], session: Session, begun: Progress): Promise<Progress> {
  const { say, signal, folder } = session;
  let progress = begun;
  const save = (change: Partial<Progress>) => {
    progress = { ...progress, ...change };
    // A run that cannot begin does not take the place of one that has begun.
    if (Object.values(progress.results).some(({ state }) => state === "passed")) saveProgress(folder, progress);
  };
  for (const [index, step] of steps.entries()) {
    const heading = `${index + 1}/${steps.length}  ${step.id.padEnd(10)}  ${step.title}`;
    const done = progress.results[step.id];
    if (done !== undefined && !isToDo(step, progress)) {
      say(`${heading}: ${done.state} before\n`);
      continue;
    }
    // A signal that came while a step was busy.
    await setImmediate();
    signal.throwIfAborted();
    say(`${heading}\n`);
    const begin = Date.now();
    const note = (found: Partial<Facts>) => {
      save({ facts: { ...progress.facts, ...found } });
    };
    const finish = (state: StepResult["state"], reason?: string) => {
      const seconds = Math.round((Date.now() - begin) / 100) / 10;
      const result = { state, seconds, ...(reason !== undefined && { reason }) };
      save({ results: { ...progress.results, [step.id]: result } });
      say(inLines([`     ${state} in ${seconds} s${reason === undefined ? "" : `: ${reason}`}`]));
    };
    try {
      await step.run(session, progress.facts, note);
      finish("passed");
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Declined) {
        say(`Stopped before ${step.id}: you did not agree.\n`);
        return progress;
      }
      if (!(error instanceof UserError)) throw error;
      finish("failed", error.problems.map(describeProblem).join(" "));
      if (step.continues !== true) return progress;
    }
  }
  return progress;
}

/** Whether the step must be run: a check that failed is repeated as long as the bootstrap has not ended. */
function isToDo({ id, continues = false }: Step, { results }: Progress): boolean {
  const state = results[id]?.state;
  if (state === "failed" && continues) return results.complete?.state !== "passed";
  return state !== "passed";
}

/** Writes the report, as far as the run got. */
export function writeReport(session: Session, progress: Progress, redact: Redact): AcceptanceReport {
  const { platform, lab, folder } = session;
  const { results, facts } = progress;
  const run = { platform, isLab: lab !== undefined, results, facts };
  const report = acceptanceReport({ ...run, progress, titles: stepTitles, redact });
  writeUserFiles([
    { file: join(folder, "report.md"), text: reportText(report, stepTitles) },
    { file: join(folder, "report.json"), text: `${JSON.stringify(report, undefined, 2)}\n` },
  ]);
  return report;
}

/** Says what still exists after a run that did not come to its end, and how to continue or to remove it. */
export async function describeRemains(
  session: Session,
  { results }: Progress,
  continueCommand: string,
): Promise<string> {
  const again = `Continue: ${continueCommand}`;
  if (results.preflight?.state !== "passed") return inLines(["Nothing was created.", again]);
  const seen = await remaining(session);
  const remove = `Remove:   ${destroyCommand(session)}`;
  if (typeof seen === "string") return inLines([`What still exists could not be found out: ${seen}`, again, remove]);
  if (seen.length === 0) return inLines(["Nothing that was deployed exists.", again]);
  return inLines([
    "These still exist:",
    ...seen.map((what) => `  ${what}`),
    again,
    remove,
    `If the installation has failed, set ${gateVariable} to the reason: it opens the gate.`,
  ]);
}

/** What still exists, or why that is not known. */
async function remaining(session: Session): Promise<string[] | string> {
  try {
    // Without the cluster: it may not answer, and asking it takes up to a minute.
    const rows = await leftovers({ ...session, kubeconfig: undefined });
    return rows.filter(({ state }) => state === "left").map(({ what }) => what);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.message;
  }
}
