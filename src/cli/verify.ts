import { Command } from "commander";
import { inLines } from "../core/printable.ts";
import { UserError, problem } from "../core/errors.ts";
import { labFolder } from "../../lab/folder.ts";
import type { Result, Row } from "../cluster/verify.ts";
import { labName } from "./lab.ts";
import type { Output } from "./output.ts";

interface VerifyOptions {
  readonly name?: string;
  readonly kubeconfig?: string;
  readonly finish?: boolean;
  readonly json?: boolean;
}

/** `verify`: seven validation steps and nine security scenarios, as one table. */
export function verifyCommand(output: Output): Command {
  return new Command("verify")
    .description("prove the tunnel: seven steps and nine security scenarios, each with what was seen")
    .option("--name <lab>", "the lab on this machine (default: local)", labName)
    .option("--kubeconfig <file>", "a real cluster instead: what its API alone can show, and nothing is changed")
    .option("--finish", "also end the lab's bootstrap, and look at what is left")
    .option("--json", "for machines")
    .action(async (options: VerifyOptions) => {
      const rows = await look(options);
      if (options.json === true) output.json({ ...counts(rows), results: rows });
      else output.text(table(rows));
      if (rows.some(({ result }) => result === "failed")) output.exitCode = 1;
    });
}

/** What is the lab's alone does not go with a kubeconfig. */
export function checkOptions({ name, kubeconfig, finish }: VerifyOptions): void {
  if (kubeconfig === undefined) return;
  const wrong = [...(name === undefined ? [] : ["--name"]), ...(finish === true ? ["--finish"] : [])];
  if (wrong.length > 0) throw new UserError(...wrong.map((option) => problem("verify-lab-only", { option })));
}

async function look(options: VerifyOptions): Promise<Row[]> {
  checkOptions(options);
  const { name = "local", kubeconfig, finish = false } = options;
  const { lookAt } = await import("../cluster/verify.ts");
  if (kubeconfig !== undefined) {
    const { clusterChecks } = await import("../cluster/verify-cluster.ts");
    return lookAt(await clusterChecks(kubeconfig));
  }
  if (process.getuid?.() !== 0) throw new UserError(problem("root-needed"));
  const [{ Lab }, { labChecks }] = await Promise.all([import("../../lab/lab.ts"), import("../../lab/verify-lab.ts")]);
  const lab = Lab.ifRunning(name, labFolder(name));
  if (lab === undefined) throw new UserError(problem("lab-not-running", { name }));
  return lookAt(labChecks(lab, { finish }));
}

const count = (rows: readonly Row[], result: Result) => rows.filter((row) => row.result === result).length;
const counts = (rows: readonly Row[]) => ({
  passed: count(rows, "passed"),
  failed: count(rows, "failed"),
  notLookedAt: count(rows, "not looked at"),
});

/** One line each, what was seen below it. */
function table(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ id, title, result, seen }, index) => [
    ...(index > 0 && rows[index - 1]?.id.split("-")[0] !== id.split("-")[0] ? [""] : []),
    `${id.padEnd(10)}  ${result.padEnd(13)}  ${title}`,
    `${" ".repeat(27)}${seen}`,
  ]);
  const { passed, failed, notLookedAt } = counts(rows);
  return `${inLines(lines)}\n${passed} passed, ${failed} failed, ${notLookedAt} not looked at.\n`;
}
