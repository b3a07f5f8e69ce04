import { Problems } from "../errors.ts";
import { type InstallFolder, stateOf } from "./install-folder.ts";
import { isConsumed, missing, originOf } from "./origin.ts";

/** How to restore the bootstrap.ign from before `prepareFolder`. */
export type Restoration =
  /** It is that already. */
  | { readonly how: "nothing"; readonly keptIsStale: boolean }
  /** The file beside it takes its place. */
  | { readonly how: "kept"; readonly bytes: Buffer }
  /** openshift-install's state file has it. */
  | { readonly how: "state"; readonly bytes: Buffer };

/** Throws if bootstrap.ign is neither a payload nor the file that it was built from, or does not exist. */
export function restoreFolder(folder: InstallFolder): Restoration {
  const { bootstrapIgn, original } = folder;
  // It is needed only where the original is not kept.
  const state = new Problems().attempt(() => stateOf(folder));
  if (bootstrapIgn === undefined) {
    if (original === undefined || isConsumed(folder, state)) throw missing(folder, state);
    return { how: "kept", bytes: original };
  }
  const { bytes, where, keptIsStale } = originOf(folder, state);
  if (where !== "bootstrap.ign") return { how: where, bytes };
  // The same file twice: a run was stopped between its two steps.
  return original === undefined || keptIsStale ? { how: "nothing", keptIsStale } : { how: "kept", bytes };
}
