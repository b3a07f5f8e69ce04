import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { UserError, problem } from "../core/errors.ts";

/** The file of a stack's local state. */
export const stateFileOf = (folder: string, stack: string) => join(folder, `${stack}.tfstate`);

/** The state before the last run, which Terraform keeps beside a local one. */
export const stateBackupOf = (file: string) => `${file}.backup`;

/** A stack's outputs, in a state file and as `terraform output -json` prints them. */
export type StackOutputs = Readonly<Record<string, { readonly value: unknown } | undefined>>;

export interface TerraformState {
  /** Addresses of the managed resources that have an instance. */
  readonly addresses: readonly string[];
  readonly outputs: StackOutputs;
}

interface StateJson {
  readonly outputs?: StackOutputs;
  readonly resources?: readonly { mode: string; type: string; name: string; instances: readonly unknown[] }[];
}

/** Reads a local state file. Throws a UserError if it is not JSON. @returns undefined if there is none, or an empty one */
export function readState(file: string): TerraformState | undefined {
  const text = textOf(file);
  if (text.trim() === "") return undefined;
  const { outputs = {}, resources = [] } = parse(file, text);
  const addresses = resources
    .filter(({ mode, instances }) => mode === "managed" && instances.length > 0)
    .map(({ type, name }) => `${type}.${name}`);
  return { addresses, outputs };
}

function parse(file: string, text: string): StateJson {
  try {
    return JSON.parse(text) as StateJson;
  } catch {
    throw new UserError(problem("state-damaged", { file, backup: stateBackupOf(file) }));
  }
}

/** Whether a local state file has resources. A search in its text, because it must also find those of a truncated file. */
export const hasResources = (file: string) => /"resources": \[\s*\{/.test(textOf(file));

/**
 * Whether a local state was lost. Terraform writes the file in place. If it is killed at that moment, it leaves an empty file,
 * which it treats like no state at all.
 */
export function isStateLost(file: string): boolean {
  return existsSync(file) && textOf(file).trim() === "" && hasResources(stateBackupOf(file));
}

const textOf = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : "");
