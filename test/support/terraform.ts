import { spawn, spawnSync } from "node:child_process";
import { interruptedAt } from "./interrupted.ts";

/** The real Terraform (or OpenTofu), without the user's own settings. */
function terraform() {
  const { TF_CLI_CONFIG_FILE: _, TERRAFORM_BINARY_NAME: binary = "terraform", ...environment } = process.env;
  const env = {
    ...environment,
    CHECKPOINT_DISABLE: "1",
    TF_IN_AUTOMATION: "1",
    TF_CLI_ARGS_plan: "-no-color",
    TF_CLI_ARGS_apply: "-no-color",
    TF_CLI_ARGS_destroy: "-no-color",
  };
  return { binary, env };
}

/** Runs it. */
export function runTerraform(
  args: readonly string[],
  { cwd, input }: { cwd?: string; input?: string } = {},
): { code: number | null; output: string } {
  const { binary, env } = terraform();
  const run = spawnSync(binary, args, { cwd, input, encoding: "utf8", env });
  return { code: run.status, output: `${run.stdout}${run.stderr}` };
}

/** Runs it until it has said these words; then it gets a signal, and every program that it started gets it too. */
export async function interruptTerraform(args: readonly string[], words: string, signal: NodeJS.Signals) {
  const { binary, env } = terraform();
  // A process group of its own, as it has in a terminal.
  const child = spawn(binary, args, { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const { code, said } = await interruptedAt(child, words, () => {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  });
  return { code, output: said };
}
