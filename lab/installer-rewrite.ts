import { spawnSync } from "node:child_process";
import { UserError, problem } from "../src/core/errors.ts";
import { ensureGoProgram } from "./go-programs.js";

/** Does to a bootstrap.ign what `openshift-install create cluster` does to it: lab/installer-rewrite has the details. */
export function rewriteAsInstaller(bootstrapIgn: string): string {
  const { status, stdout, stderr } = spawnSync(programFile(), {
    input: bootstrapIgn,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new UserError(problem("installer-refuses", { reason: stderr.trim() }));
  return stdout;
}

/** Set-up does not build it for a lab, because most labs do not need it. */
function programFile(): string {
  try {
    return ensureGoProgram("installer-rewrite")["installer-rewrite"];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new UserError(problem("installer-not-built", { reason: error.message.replace(/\.$/, "") }));
  }
}
