import { closeSync, existsSync, fsyncSync, lstatSync, openSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError, problem } from "../core/errors.ts";
import { ignoreInGit } from "./private-folder.ts";
import { nothingThere, partialOf, reasonOf, writeWhole } from "./user-file.ts";

export interface Replacement {
  /** The file that is replaced. */
  readonly file: string;
  /** What it holds now. If it holds anything else, it is left alone. */
  readonly before: Buffer;
  readonly after: Buffer;
  /** Where the original is kept. */
  readonly keptFile: string;
  /** The original: what `keptFile` holds before `file` is replaced. */
  readonly kept: Buffer;
  /** Whether `keptFile` exists and holds something else: it is then renamed, and never overwritten. */
  readonly keptIsStale: boolean;
}

/**
 * Replaces a file and keeps its original beside it. Killed at any moment, it leaves the file whole, old or new, and the
 * original in one of the two.
 * @returns the new name of a stale file, if there was one
 */
export function replaceKeepingOriginal(props: Replacement): { readonly staleFile?: string } {
  const { file, before, after, keptFile, kept, keptIsStale } = props;
  let writing = keptFile;
  let keptIsNew = false;
  let staleFile: string | undefined;
  let ignored: string | undefined;
  try {
    const names = [basename(file), basename(keptFile)];
    // Before the first byte of a secret: a killed run leaves what it wrote.
    ignored = ignoreInGit(dirname(file), [
      ...names.flatMap((name) => [`/${name}`, `/${partialOf(name)}`]),
      `/${basename(keptFile)}.*`,
    ]);
    if (keptIsStale) {
      staleFile = freeName(keptFile);
      renameDurably(keptFile, staleFile);
    }
    if (!holds(keptFile, kept)) {
      keptIsNew = true;
      writeDurably(keptFile, kept);
    }
    writing = file;
    // openshift-install may be running.
    if (!holds(file, before)) throw new UserError(problem("ipi-changed-meanwhile", { file }));
    writeDurably(file, after);
    return staleFile === undefined ? {} : { staleFile };
  } catch (error) {
    if (keptIsNew && holds(file, kept)) rmSync(keptFile, { force: true });
    if (staleFile !== undefined && !existsSync(keptFile)) renameSync(staleFile, keptFile);
    if (ignored !== undefined && !existsSync(keptFile)) rmSync(ignored, { force: true });
    if (error instanceof UserError) throw error;
    throw new UserError(problem("file-unwritable", { file: writing, reason: reasonOf(error, nothingThere) }));
  }
}

/** Restores the original by renaming it, so that it exists at every moment. */
export function restoreOriginal(file: string, keptFile: string): void {
  orExplain(file, () => {
    renameDurably(keptFile, file);
    removePartials(file, keptFile);
  });
}

/** Replaces a file whose original is kept elsewhere. */
export function replaceFile(file: string, after: Buffer): void {
  orExplain(file, () => {
    writeDurably(file, after);
  });
}

/** Removes what a killed run left half-written. */
export function removePartials(...files: readonly string[]): void {
  for (const file of files) rmSync(partialPath(file), { force: true });
}

function orExplain(file: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    throw new UserError(problem("file-unwritable", { file, reason: reasonOf(error, nothingThere) }));
  }
}

const partialPath = (file: string) => join(dirname(file), partialOf(basename(file)));

/** Whether a file has exactly these bytes. */
function holds(file: string, bytes: Buffer): boolean {
  try {
    return readFileSync(file).equals(bytes);
  } catch {
    return false;
  }
}

/** The file is never incomplete, and is on the disk when this returns. */
function writeDurably(file: string, bytes: Buffer): void {
  const partial = partialPath(file);
  // The name is always the same, so that the next run replaces what a killed run left.
  rmSync(partial, { force: true });
  try {
    writeWhole(partial, bytes);
    renameDurably(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

/** A rename is on the disk when its folder is. */
function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  let folder: number | undefined;
  try {
    folder = openSync(dirname(to), "r");
    fsyncSync(folder);
  } catch {
    // Some file systems cannot do that for a folder. The rename is done, and must not be reported as failed.
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

/** The name with the first number that no other file has. */
function freeName(file: string): string {
  let number = 1;
  while (lstatSync(`${file}.${number}`, { throwIfNoEntry: false }) !== undefined) number += 1;
  return `${file}.${number}`;
}
