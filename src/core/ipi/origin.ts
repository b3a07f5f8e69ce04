import { join } from "node:path";
import { UserError, problem } from "../errors.ts";
import { shellPath } from "../shell-word.ts";
import { bootstrapName, type InstallFolder, isBuiltFromFile, isPayloadFile, originalName } from "./install-folder.ts";
import { type InstallerState, stateFileName } from "./installer-state.ts";

/** The bootstrap.ign without a tunnel that belongs to an install folder, and where it was found. */
export interface Origin {
  readonly bytes: Buffer;
  /** bootstrap.ign: no payload is in its place. kept: beside the payload. state: only in openshift-install's state file. */
  readonly where: "bootstrap.ign" | "kept" | "state";
  /** Whether the file that is kept beside it belongs to an earlier bootstrap.ign, which openshift-install has replaced since. */
  readonly keptIsStale: boolean;
}

/**
 * Finds the bootstrap.ign without a tunnel. Throws where it is not certain which file that is: then nothing may be replaced.
 * @param state undefined if it could not be read
 */
export function originOf(folder: InstallFolder, state: InstallerState | undefined): Origin {
  const { bootstrapIgn, original } = folder;
  if (bootstrapIgn === undefined) throw missing(folder, state);
  if (isPayloadFile(bootstrapIgn)) return originOfPayload(folder, bootstrapIgn, state);
  const found = { bytes: bootstrapIgn, where: "bootstrap.ign", keptIsStale: false } as const;
  if (original === undefined || original.equals(bootstrapIgn)) return found;
  // openshift-install has made a new one: what is kept belongs to the one before.
  if (state?.bootstrapIgn.equals(bootstrapIgn) === true) return { ...found, keptIsStale: true };
  throw unknown(folder);
}

function originOfPayload(folder: InstallFolder, payload: Buffer, state: InstallerState | undefined): Origin {
  const { path, original } = folder;
  if (original !== undefined) {
    if (isBuiltFromFile(payload, original)) return { bytes: original, where: "kept", keptIsStale: false };
    throw unknown(folder);
  }
  if (state !== undefined && isBuiltFromFile(payload, state.bootstrapIgn))
    return { bytes: state.bootstrapIgn, where: "state", keptIsStale: false };
  throw new UserError(
    problem("ipi-original-missing", { file: join(path, bootstrapName), original: join(path, originalName) }),
  );
}

/** Whether "create cluster" has read what was in this folder: its state has a payload, or another file than the one that is kept. */
export function isConsumed({ original }: InstallFolder, state: InstallerState | undefined): boolean {
  if (state === undefined) return false;
  const other = original !== undefined && !original.equals(state.bootstrapIgn);
  return state.clusterCreated || other || isPayloadFile(state.bootstrapIgn);
}

/** Why there is no bootstrap.ign. */
export function missing(folder: InstallFolder, state: InstallerState | undefined): UserError {
  const { path, original } = folder;
  const file = join(path, bootstrapName);
  if (isConsumed(folder, state)) return new UserError(problem("ipi-consumed", { file, folder: shellPath(path) }));
  const advice =
    original === undefined
      ? 'use the folder in which "openshift-install create ignition-configs" ran'
      : `restore it from ${join(path, originalName)} with "npx konnectivity-bootstrap ipi restore ${shellPath(path)}"`;
  return new UserError(problem("ipi-bootstrap-missing", { file, advice }));
}

function unknown({ path }: InstallFolder): UserError {
  const [file, original, state] = [bootstrapName, originalName, stateFileName].map((name) => join(path, name)) as [
    string,
    string,
    string,
  ];
  return new UserError(problem("ipi-bootstrap-unknown", { file, original, state }));
}
