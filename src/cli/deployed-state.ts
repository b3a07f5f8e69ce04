import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Inputs } from "../../stacks/resolve.ts";
import { configFormat } from "../../stacks/platforms.ts";
import { UserError, problem } from "../core/errors.ts";
import { readState, type StackOutputs, stateFileOf } from "../files/terraform-state.ts";

type Where = Pick<Inputs, "stateFolder" | "workingDirectory"> & {
  /** The cdktf command's output folder. @default - the one in cdktf.json */
  readonly outputFolder?: string;
};

/** Addresses of the managed resources in a stack's state. @returns undefined if nothing was ever deployed from here */
export function addressesIn(inputs: Where, stack: string): readonly string[] | undefined {
  if (inputs.stateFolder === undefined)
    return askTerraform(inputs, stack, "state", "list")
      .split("\n")
      .filter((address) => address !== "" && !address.startsWith("data."));
  return readState(stateFileOf(inputs.stateFolder, stack))?.addresses;
}

/** The ssh destination of the bootstrap machine that was deployed from here, from its stack's output. */
export function deployedMachine(inputs: Inputs & Where): string {
  const found = configFormat.clouds
    .filter(({ name }) => name in inputs.platforms)
    .flatMap(({ name }) => {
      const { ssh } = outputsOf(inputs, `${name}-bootstrap`);
      return typeof ssh?.value === "string" ? [ssh.value.replace(/^ssh /, "")] : [];
    });
  const [machine, ...others] = found;
  if (machine === undefined || others.length > 0)
    throw new UserError(problem("machine-unclear", { found: found.length === 0 ? "none" : found.join(" and ") }));
  return machine;
}

function outputsOf(inputs: Where, stack: string): StackOutputs {
  if (inputs.stateFolder !== undefined) return readState(stateFileOf(inputs.stateFolder, stack))?.outputs ?? {};
  return JSON.parse(askTerraform(inputs, stack, "output", "-json")) as StackOutputs;
}

/** Runs Terraform in the stack's folder, because it knows how to read a shared state. */
function askTerraform(where: Where, stack: string, ...args: readonly string[]): string {
  const { workingDirectory } = where;
  const folder = join(where.outputFolder ?? outputFolder(workingDirectory), "stacks", stack);
  const { TERRAFORM_BINARY_NAME: terraform = "terraform" } = process.env;
  const { status, stdout, stderr, error } = spawnSync(terraform, [`-chdir=${folder}`, ...args], {
    cwd: workingDirectory,
    encoding: "utf8",
  });
  if (status === 0) return stdout;
  const said = (error?.message ?? stderr).replace(/\s+/g, " ").trim().slice(0, 200);
  throw new UserError(problem("state-unreadable", { stack, folder, reason: said === "" ? "terraform failed" : said }));
}

/** The cdktf command's output folder, from the working directory. */
export function outputFolder(workingDirectory: string): string {
  const file = join(workingDirectory, "cdktf.json");
  const { output = "cdktf.out" } = (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {}) as {
    output?: string;
  };
  return output;
}
