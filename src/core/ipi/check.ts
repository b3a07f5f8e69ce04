import { createHash } from "node:crypto";
import { join } from "node:path";
import { parseIgnition } from "../ignition/config.ts";
import { inspectIgnition } from "../ignition/inspect.ts";
import { type Problem, Problems, UserError } from "../errors.ts";
import { bootstrapName, type InstallFolder, ignitionText, isPayloadFile, stateOf } from "./install-folder.ts";
import type { CreateClusterRun } from "./install-log.ts";
import { stateFileName } from "./installer-state.ts";
import { configProblems, folderProblems } from "./refusals.ts";

/** How far "create cluster" is with the tunnel. */
export interface InstallCheck {
  readonly stage:
    /** bootstrap.ign has no tunnel, and nothing has read it. */
    | "not prepared"
    /** There is no bootstrap.ign, and nothing has read one. */
    | "missing"
    /** bootstrap.ign is a payload that was changed after it was built. */
    | "damaged"
    /** "create cluster" has not read the payload yet. */
    | "prepared"
    /** It runs, and has not read bootstrap.ign yet. */
    | "undecided"
    /** It uses the payload. */
    | "taken"
    /** It created its own bootstrap.ign, although the payload existed. */
    | "discarded"
    /** It uses a bootstrap.ign without a tunnel. */
    | "without tunnel";
  /** Why it would not use a payload, or what is wrong with it. Only before "create cluster" has read bootstrap.ign. */
  readonly problems: readonly Problem[];
  /** The payload that openshift-install has in its state file: the proof that it was taken. @default - it has none */
  readonly taken?: { readonly bytes: number; readonly sha512: string };
  readonly run?: CreateClusterRun;
}

/** Compares the folder, openshift-install's state and its log. */
export function checkInstall(folder: InstallFolder, run: CreateClusterRun | undefined, now: Date): InstallCheck {
  const problems = new Problems();
  const state = problems.attempt(() => stateOf(folder));
  const taken = state !== undefined && isWholePayload(state.bootstrapIgn) ? digest(state.bootstrapIgn) : undefined;
  const payload =
    folder.bootstrapIgn !== undefined && isPayloadFile(folder.bootstrapIgn) ? folder.bootstrapIgn : undefined;
  const current = run !== undefined && !isOlder(run, payload, folder.bootstrapWritten) ? run : undefined;
  const damage = payload === undefined ? undefined : damageOf(payload, join(folder.path, bootstrapName));
  const stage =
    damage !== undefined && taken === undefined && current?.bootstrap !== "discarded"
      ? "damaged"
      : stageOf(folder, { onDisk: payload !== undefined, inState: taken !== undefined }, current);
  if (stage === "damaged" && damage !== undefined) problems.add(...damage);
  const { bootstrapIgn } = folder;
  if ((stage === "prepared" || stage === "not prepared") && bootstrapIgn !== undefined) {
    problems.add(...folderProblems(folder, state));
    const config = problems.attempt(() => parseIgnition(ignitionText(bootstrapIgn)));
    if (config !== undefined) problems.add(...configProblems(config, now));
  }
  const before: readonly InstallCheck["stage"][] = ["not prepared", "prepared", "damaged"];
  return {
    stage,
    problems: before.includes(stage) ? problems.found : [],
    ...(taken !== undefined && { taken }),
    ...(current !== undefined && { run: current }),
  };
}

/** A run that has decided has also removed bootstrap.ign: a payload that is newer was put there for the next run. */
function isOlder({ decided }: CreateClusterRun, payload: Buffer | undefined, written: Date | undefined): boolean {
  if (payload === undefined || decided === undefined || written === undefined) return false;
  // The log counts in seconds.
  return decided.getTime() + 1000 <= written.getTime();
}

function stageOf(
  { bootstrapIgn }: InstallFolder,
  { onDisk, inState }: { readonly onDisk: boolean; readonly inState: boolean },
  run: CreateClusterRun | undefined,
): InstallCheck["stage"] {
  if (run === undefined) {
    if (onDisk) return "prepared";
    if (inState) return "taken";
    return bootstrapIgn === undefined ? "missing" : "not prepared";
  }
  switch (run.bootstrap) {
    case undefined:
      return "undecided";
    case "discarded":
      return "discarded";
    case "generated":
      return "without tunnel";
    case "used":
    case "state":
      // The state file is written a moment after the log.
      return inState || onDisk ? "taken" : "without tunnel";
  }
}

const isWholePayload = (bytes: Buffer) => isPayloadFile(bytes) && damageOf(bytes, stateFileName) === undefined;

/** What is wrong with a payload. @returns undefined if it is as it was built */
function damageOf(payload: Buffer, file: string): readonly Problem[] | undefined {
  try {
    inspectIgnition(payload.toString("utf8"), file);
    return undefined;
  } catch (error) {
    if (error instanceof UserError) return error.problems;
    throw error;
  }
}

const digest = (bytes: Buffer) => ({
  bytes: bytes.length,
  sha512: createHash("sha512").update(bytes).digest("hex"),
});
