import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { bootstrapName, type InstallFolder, originalName } from "../core/ipi/install-folder.ts";
import { logName } from "../core/ipi/install-log.ts";
import { machineConfigNames, stateFileName } from "../core/ipi/installer-state.ts";
import { signingKey } from "../core/ipi/refusals.ts";
import { Problems, UserError, problem } from "../core/errors.ts";
import { isThere, readSmallFile, reasonOf } from "../files/user-file.ts";

/** Real ones have a few megabytes. */
const largest = 64 * 1024 * 1024;

const advice = 'use the folder in which "openshift-install create ignition-configs" ran';

/** Reads what openshift-install wrote into its folder, as far as "create cluster" depends on it. */
export function readInstallFolder(path: string): InstallFolder {
  // Otherwise each file in it would have the same problem.
  if (isFile(path)) throw new UserError(problem("folder-is-file", { file: path }));
  const problems = new Problems();
  const read = (name: string) => problems.attempt(() => readSmallFile(join(path, name), largest, advice));
  const bootstrapIgn = read(bootstrapName);
  const original = read(originalName);
  const state = read(stateFileName);
  const machineConfigs = machineConfigNames.flatMap((name) => {
    const bytes = read(name);
    return bytes === undefined ? [] : [[name, bytes] as const];
  });
  const names = problems.attempt(() => namesIn(path)) ?? [];
  if (problems.found.length > 0) throw new UserError(...problems.found);
  return {
    path,
    names: [...names, ...[signingKey].filter((name) => isThere(join(path, name)))],
    ...(bootstrapIgn !== undefined && { bootstrapIgn, bootstrapWritten: writtenAt(join(path, bootstrapName)) }),
    ...(original !== undefined && { original }),
    ...(state !== undefined && { stateText: state.toString("utf8") }),
    machineConfigs: Object.fromEntries(machineConfigs),
  };
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false; // Why is reported where its files are read.
  }
}

/** Reads the log of openshift-install. @returns an empty text if there is none */
export function readInstallLog(path: string): string {
  return (
    readSmallFile(join(path, logName), largest, "move it to another folder, and check again")?.toString("utf8") ?? ""
  );
}

/** It may have been consumed since it was read. */
const writtenAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtime;

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    throw new UserError(problem("file-unreadable", { file: path, reason: reasonOf(error), advice }));
  }
}
