import { join } from "node:path";
import { type IgnitionConfig, parseIgnition } from "../ignition/config.ts";
import { isPayload } from "../ignition/record.ts";
import { isBuiltFrom } from "../ignition/built-from.ts";
import { UserError, problem } from "../errors.ts";
import { type InstallerState, type MachineConfigName, parseInstallerState, stateFileName } from "./installer-state.ts";

export const bootstrapName = "bootstrap.ign";

/** Where the bootstrap.ign of openshift-install is kept while the payload is in its place. openshift-install never reads it. */
export const originalName = "bootstrap.ign.original";

/** An install folder of openshift-install, as it was read. */
export interface InstallFolder {
  /** Its path, as the user wrote it. */
  readonly path: string;
  /** The names in it, and of its folders what matters. */
  readonly names: readonly string[];
  /** @default - the folder has none */
  readonly bootstrapIgn?: Buffer;
  /** When bootstrap.ign was written. */
  readonly bootstrapWritten?: Date;
  /** The file that `originalName` names. @default - the folder has none */
  readonly original?: Buffer;
  /** Text of the state file. @default - the folder has none */
  readonly stateText?: string;
  /** master.ign, worker.ign and arbiter.ign, as far as they exist. */
  readonly machineConfigs: Readonly<Partial<Record<MachineConfigName, Buffer>>>;
}

/** openshift-install's state. Throws if there is none, or if it cannot be one. */
export function stateOf({ path, stateText }: InstallFolder): InstallerState {
  const file = join(path, stateFileName);
  if (stateText === undefined) throw new UserError(problem("installer-state-missing", { file }));
  return parseInstallerState(stateText, file);
}

/** The text of an Ignition config. Throws if it is not UTF-8. */
export function ignitionText(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UserError(problem("ignition-not-json", { detail: "it is not UTF-8 text" }));
  }
}

/** @returns undefined if it is no Ignition config */
function configOf(bytes: Buffer): IgnitionConfig | undefined {
  try {
    return parseIgnition(ignitionText(bytes));
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** Whether a file is a payload of this project, whole or damaged. */
export function isPayloadFile(bytes: Buffer): boolean {
  const config = configOf(bytes);
  return config !== undefined && isPayload(config);
}

/** Whether a payload was built from this file, and neither was changed since. */
export function isBuiltFromFile(payload: Buffer, original: Buffer): boolean {
  const [built, from] = [configOf(payload), configOf(original)];
  return built !== undefined && from !== undefined && isBuiltFrom(built, from);
}
