import { execFile } from "node:child_process";
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
export async function addressesIn(inputs: Where, stack: string): Promise<readonly string[] | undefined> {
  if (inputs.stateFolder === undefined) {
    const list = await askTerraform(inputs, stack, "state", "list");
    return list.split("\n").filter((address) => address !== "" && !address.startsWith("data."));
  }
  return readState(stateFileOf(inputs.stateFolder, stack))?.addresses;
}

/** The ssh destinations of the bootstrap machines that were deployed from here, from the outputs of their stacks. */
export async function deployedMachines(inputs: Where & { readonly platforms: object }): Promise<string[]> {
  const deployed = configFormat.clouds.filter(({ name }) => name in inputs.platforms);
  const outputs = await Promise.all(deployed.map(({ name }) => outputsOf(inputs, `${name}-bootstrap`)));
  return outputs.flatMap(({ ssh }) => (typeof ssh?.value === "string" ? [ssh.value.replace(/^ssh /, "")] : []));
}

/** The only one of them. */
export async function deployedMachine(inputs: Where & { readonly platforms: object }): Promise<string> {
  const found = await deployedMachines(inputs);
  const [machine, ...others] = found;
  if (machine === undefined || others.length > 0)
    throw new UserError(problem("machine-unclear", { found: found.length === 0 ? "none" : found.join(" and ") }));
  return machine;
}

async function outputsOf(inputs: Where, stack: string): Promise<StackOutputs> {
  if (inputs.stateFolder !== undefined) return readState(stateFileOf(inputs.stateFolder, stack))?.outputs ?? {};
  return JSON.parse(await askTerraform(inputs, stack, "output", "-json")) as StackOutputs;
}

/** Runs Terraform in the stack's folder, because it knows how to read a shared state. */
function askTerraform(where: Where, stack: string, ...args: readonly string[]): Promise<string> {
  const { workingDirectory } = where;
  const folder = join(where.outputFolder ?? outputFolder(workingDirectory), "stacks", stack);
  const { TERRAFORM_BINARY_NAME: terraform = "terraform" } = process.env;
  const options = { cwd: workingDirectory, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve, reject) => {
    const child = execFile(terraform, [`-chdir=${folder}`, ...args], options, (error, stdout, stderr) => {
      if (error === null) {
        resolve(stdout);
        return;
      }
      // Without an answer it could not be started.
      const said = (stderr === "" ? error.message : stderr).replace(/\s+/g, " ").trim().slice(0, 200);
      reject(new UserError(problem("state-unreadable", { stack, folder, reason: said })));
    });
    // Nobody answers its questions.
    child.stdin?.end();
  });
}

/** The cdktf command's output folder, from the working directory. */
export function outputFolder(workingDirectory: string): string {
  const file = join(workingDirectory, "cdktf.json");
  const { output = "cdktf.out" } = (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {}) as {
    output?: string;
  };
  return output;
}
