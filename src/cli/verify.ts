import { Command } from "commander";
import { inLines } from "../core/printable.ts";
import { UserError, problem } from "../core/errors.ts";
import { defaultLabName } from "../core/lab-layout.ts";
import type { Outcome, VerifiedCheck } from "../cluster/verify.ts";
import { labOption, mustBeRoot, runningLab } from "./lab.ts";
import { jsonOption, type Output } from "./output.ts";

interface VerifyOptions {
  readonly name?: string;
  readonly kubeconfig?: string;
  readonly finish?: boolean;
  readonly json?: boolean;
}

/** `verify`: seven validation steps and nine security scenarios, reported in one table. */
export function verifyCommand(output: Output): Command {
  return new Command("verify")
    .description("prove the tunnel: seven steps and nine security scenarios, each with what was seen")
    .option(...labOption)
    .option("--kubeconfig <file>", "a real cluster instead: what its API alone can show, and nothing is changed")
    .option("--finish", "also end the lab's bootstrap, and look at what is left")
    .option(...jsonOption)
    .action(async (options: VerifyOptions) => {
      output.doing("Checking the tunnel");
      const rows = await verify(options, (title) => {
        output.doing(`Checking: ${title}`);
      });
      if (options.json === true) output.json({ ...counts(rows), results: rows });
      else output.text(table(rows), { passed: "good", failed: "bad", "not looked at": "unclear" });
      if (rows.some(({ result }) => result === "failed")) output.exitCode = 1;
    });
}

/** Some options only make sense for a lab. */
export function checkOptions({ name, kubeconfig, finish }: VerifyOptions): void {
  if (kubeconfig === undefined) return;
  const wrong = [...(name === undefined ? [] : ["--name"]), ...(finish === true ? ["--finish"] : [])];
  if (wrong.length > 0) throw new UserError(...wrong.map((flag) => problem("verify-lab-only", { flag })));
}

async function verify(options: VerifyOptions, begin: (title: string) => void): Promise<VerifiedCheck[]> {
  checkOptions(options);
  const { name = defaultLabName, kubeconfig, finish = false } = options;
  const { runChecks } = await import("../cluster/verify.ts");
  if (kubeconfig !== undefined) {
    const { clusterChecks } = await import("../cluster/verify-cluster.ts");
    return runChecks(await clusterChecks(kubeconfig), begin);
  }
  mustBeRoot();
  const { labChecks } = await import("../../lab/verify-lab.ts");
  return runChecks(labChecks(await runningLab(name), { finish }), begin);
}

const count = (rows: readonly VerifiedCheck[], result: Outcome) => rows.filter((row) => row.result === result).length;
const counts = (rows: readonly VerifiedCheck[]) => ({
  passed: count(rows, "passed"),
  failed: count(rows, "failed"),
  notLookedAt: count(rows, "not looked at"),
});

/** One line for each check, and below it what was seen. */
function table(rows: readonly VerifiedCheck[]): string {
  const lines = rows.flatMap(({ id, title, result, seen }, index) => [
    ...(index > 0 && rows[index - 1]?.id.split("-")[0] !== id.split("-")[0] ? [""] : []),
    `${id.padEnd(10)}  ${result.padEnd(13)}  ${title}`,
    `${" ".repeat(27)}${seen}`,
  ]);
  const { passed, failed, notLookedAt } = counts(rows);
  return `${inLines(lines)}\n${passed} passed, ${failed} failed, ${notLookedAt} not looked at.\n`;
}
