import { spawnSync } from "node:child_process";

/** Runs the real Terraform (or OpenTofu), without the user's own settings. */
export function runTerraform(
  args: readonly string[],
  { cwd, input }: { cwd?: string; input?: string } = {},
): { code: number | null; output: string } {
  const { TF_CLI_CONFIG_FILE: _, TERRAFORM_BINARY_NAME: binary = "terraform", ...environment } = process.env;
  const run = spawnSync(binary, args, {
    cwd,
    input,
    encoding: "utf8",
    env: {
      ...environment,
      CHECKPOINT_DISABLE: "1",
      TF_IN_AUTOMATION: "1",
      TF_CLI_ARGS_plan: "-no-color",
      TF_CLI_ARGS_apply: "-no-color",
      TF_CLI_ARGS_destroy: "-no-color",
    },
  });
  return { code: run.status, output: `${run.stdout}${run.stderr}` };
}
