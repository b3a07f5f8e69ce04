import { Command } from "commander";
import { inLines } from "../core/printable.ts";
import { UserError, problem } from "../core/errors.ts";
import type { Check, Outcome, VerifiedCheck } from "../cluster/verify.ts";
import { type ConfigOptions, noteConfig, withConfig } from "./config-option.ts";
import { labOption, mustBeRoot, runningLab } from "./lab.ts";
import { jsonOption, type Output } from "./output.ts";

interface VerifyOptions extends ConfigOptions {
  readonly name?: string;
  readonly kubeconfig?: string;
  readonly finish?: boolean;
  readonly json?: boolean;
}

/** `verify`: seven validation steps and nine security checks, reported in one table. */
export function verifyCommand(output: Output): Command {
  return withConfig(new Command("verify"))
    .description("Run seven validation steps and nine security checks on the tunnel, with the evidence for each")
    .option(...labOption)
    .option("--kubeconfig <file>", "kubeconfig of a cluster: verify what its API shows, and change nothing")
    .option("--finish", "also end the lab's bootstrap, and verify what is left")
    .option(...jsonOption)
    .action(async (options: VerifyOptions) => {
      output.doing("Checking the tunnel");
      checkOptions(options);
      const verified = await verifiedBy(options);
      const { configFile } = verified;
      noteConfig(output, options, configFile);
      const { runChecks } = await import("../cluster/verify.ts");
      const rows = await runChecks(await checksOf(verified, options), (title) => {
        output.doing(`Checking: ${title}`);
      });
      if (options.json === true) output.json({ config: configFile ?? null, ...counts(rows), results: rows });
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

/** A lab by its name, or a cluster by its kubeconfig. */
type Verified = { readonly configFile?: string } & ({ readonly lab: string } | { readonly kubeconfig: string });

/** What the options name, or else what the config file configures. */
async function verifiedBy(options: VerifyOptions): Promise<Verified> {
  const { name, kubeconfig, finish } = options;
  if (kubeconfig !== undefined) return { kubeconfig };
  if (name !== undefined) return { lab: name };
  const { configuredSubject } = await import("./subject.ts");
  const subject = await configuredSubject(options, "--kubeconfig or --name");
  if ("lab" in subject) return subject;
  const { configFile, noKubeconfig } = subject;
  if (finish === true) throw new UserError(problem("finish-needs-lab", { file: configFile }));
  if (subject.kubeconfig !== undefined) return { configFile, kubeconfig: subject.kubeconfig };
  throw new UserError(problem("subject-unknown", { reason: noKubeconfig, flags: "--kubeconfig or --name" }));
}

async function checksOf(verified: Verified, { finish = false }: VerifyOptions): Promise<Check[]> {
  if ("kubeconfig" in verified) {
    const { clusterChecks } = await import("../cluster/verify-cluster.ts");
    return clusterChecks(verified.kubeconfig);
  }
  mustBeRoot();
  const { labChecks } = await import("../../lab/verify-lab.ts");
  return labChecks(await runningLab(verified.lab), { finish });
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
