import { spawnSync } from "node:child_process";
import { UserError, problem } from "../src/core/errors.ts";
import { ensureGoProgram } from "./go-programs.js";

/** Does to a bootstrap.ign what `openshift-install create cluster` does to it: lab/installer-rewrite has the details. */
export function rewriteAsInstaller(bootstrapIgn: string): string {
  const { "installer-rewrite": program } = ensureGoProgram("installer-rewrite");
  const { status, stdout, stderr } = spawnSync(program, {
    input: bootstrapIgn,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new UserError(problem("installer-refuses", { reason: stderr.trim() }));
  return stdout;
}
