import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Inputs } from "../../stacks/inputs.ts";
import { platforms } from "../config/platform.ts";
import { UserError, problem } from "../core/errors.ts";
import { localFile } from "../../constructs/shared/state-backend.ts";

type Where = Pick<Inputs, "stateFolder" | "workingDirectory">;

/** Addresses of the managed resources in a stack's state. @returns undefined if there never was one here */
export function addressesIn(inputs: Where, stack: string): string[] | undefined {
  if (inputs.stateFolder === undefined)
    return askTerraform(inputs, stack, "state", "list")
      .split("\n")
      .filter((address) => address !== "" && !address.startsWith("data."));
  return localState(inputs.stateFolder, stack)
    ?.resources?.filter(({ mode, instances }) => mode === "managed" && instances.length > 0)
    .map(({ type, name }) => `${type}.${name}`);
}

/** Where ssh finds the bootstrap machine that was deployed from here, as its stack's output says it. */
export function deployedMachine(inputs: Inputs): string {
  const found = platforms
    .filter((platform) => inputs[platform] !== undefined)
    .flatMap((platform) => {
      const { ssh } = outputsOf(inputs, `${platform}-bootstrap`);
      return typeof ssh?.value === "string" ? [ssh.value.replace(/^ssh /, "")] : [];
    });
  const [machine, ...others] = found;
  if (machine === undefined || others.length > 0)
    throw new UserError(problem("machine-unclear", { found: found.length === 0 ? "none" : found.join(" and ") }));
  return machine;
}

type Outputs = Readonly<Record<string, { readonly value: unknown } | undefined>>;

function outputsOf(inputs: Where, stack: string): Outputs {
  if (inputs.stateFolder !== undefined) return localState(inputs.stateFolder, stack)?.outputs ?? {};
  return JSON.parse(askTerraform(inputs, stack, "output", "-json")) as Outputs;
}

interface State {
  readonly outputs?: Outputs;
  readonly resources?: readonly { mode: string; type: string; name: string; instances: readonly unknown[] }[];
}

/** As Terraform writes it. @returns undefined if there never was one */
function localState(folder: string, stack: string): State | undefined {
  const file = localFile(folder, stack);
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return text.trim() === "" ? undefined : { resources: [], ...(JSON.parse(text) as State) };
}

/** What Terraform says in the stack's folder: it knows the way to a shared state. */
function askTerraform({ workingDirectory }: Where, stack: string, ...args: readonly string[]): string {
  const folder = join(outputFolder(workingDirectory), "stacks", stack);
  const { TERRAFORM_BINARY_NAME: terraform = "terraform" } = process.env;
  const { status, stdout, stderr, error } = spawnSync(terraform, [`-chdir=${folder}`, ...args], {
    cwd: workingDirectory,
    encoding: "utf8",
  });
  if (status === 0) return stdout;
  const said = (error?.message ?? stderr).replace(/\s+/g, " ").trim().slice(0, 200);
  throw new UserError(problem("state-unreadable", { stack, folder, reason: said === "" ? "terraform failed" : said }));
}

/** The cdktf command's, from the working directory. */
function outputFolder(workingDirectory: string): string {
  const file = join(workingDirectory, "cdktf.json");
  const { output = "cdktf.out" } = (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {}) as {
    output?: string;
  };
  return output;
}
