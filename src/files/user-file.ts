import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError, problem } from "../core/errors.ts";
import { everything, ignoreInGit, makePrivateFolder } from "./private-folder.ts";

/** Reads a text file of the user. Throws a UserError if it cannot be read. */
export function readUserFile(file: string, advice: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UserError(problem("file-unreadable", { file, reason: reasonOf(error), advice }));
  }
}

/**
 * Reads a file up to a size limit. It must be a regular file: reading a pipe or a device may never end.
 * @returns undefined if there is none
 */
export function readSmallFile(file: string, maxBytes: number, advice: string): Buffer | undefined {
  const refuse = (reason: string) => new UserError(problem("file-unreadable", { file, reason, advice }));
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (stat.isDirectory()) throw refuse("it is a folder");
    if (!stat.isFile()) throw refuse("it is not a regular file");
    if (stat.size > maxBytes) throw refuse(`it has ${stat.size} bytes, more than the limit of ${maxBytes}`);
    return readFileSync(descriptor);
  } catch (error) {
    if (error instanceof UserError) throw error;
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw refuse(reasonOf(error));
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Throws a UserError if a file cannot be read. Reads nothing: what comes from a pipe can be read only once. */
export function mustBeReadable(file: string, advice: string): void {
  try {
    accessSync(file, constants.R_OK);
    if (statSync(file).isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
  } catch (error) {
    throw new UserError(problem("file-unreadable", { file, reason: reasonOf(error), advice }));
  }
}

/** Whether a file exists. Throws a UserError if that cannot be determined. */
export function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw new UserError(
      problem("file-unreadable", { file, reason: reasonOf(error), advice: "check the permissions of its folders" }),
    );
  }
}

/**
 * Why a file operation failed, in words.
 * @param missing what it means that something does not exist
 */
export function reasonOf(error: unknown, missing = "it does not exist"): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known: Record<string, string> = {
    ENOENT: missing,
    EACCES: "permission denied",
    EPERM: "not permitted",
    EISDIR: "it is a folder",
    ERR_FS_EISDIR: "a folder has that name",
    ENOTDIR: "part of the path is not a folder",
    ENOSPC: "no space left",
    EROFS: "the file system is read-only",
    EEXIST: "something of that name already exists",
    ELOOP: "its symbolic links form a loop",
    ENAMETOOLONG: "a name in its path is too long",
  };
  return known[code] ?? (code !== "" ? code : "unknown error");
}

/** What ENOENT means when something is written into a folder that exists. */
export const nothingThere = "nothing can be created in that folder";

/**
 * Writes all of these files or none, readable only by their owner. Each is written under another name and then renamed, so
 * it is never incomplete.
 * @param secret names that git is to ignore in a folder that has no `.gitignore`; in a new folder it ignores everything
 */
export function writeUserFiles(files: readonly { file: string; text: string }[], secret: readonly string[] = []): void {
  const made: string[] = [];
  let writing = "";
  try {
    const staged = files.map(({ file, text }) => {
      writing = file;
      const folder = makePrivateFolder(dirname(file));
      if (folder !== undefined) made.push(folder);
      if (secret.length > 0) {
        const patterns = secret.flatMap((name) => [`/${name}`, `/${partialOf(name)}`]);
        // Before the first byte of a secret: a killed run leaves what it wrote.
        const ignored = ignoreInGit(dirname(file), folder === undefined ? patterns : everything);
        if (ignored !== undefined) made.push(ignored);
      }
      // The name is always the same, so that the next run replaces what a killed run left.
      const partial = join(dirname(file), partialOf(basename(file)));
      rmSync(partial, { force: true });
      made.push(partial);
      writeWhole(partial, text);
      return { partial, file };
    });
    // The renames can still fail if a folder has the name of a file, so check this before the first one.
    for (const { file } of staged) {
      writing = file;
      if (lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true)
        throw Object.assign(new Error(), { code: "EISDIR" });
    }
    for (const { partial, file } of staged) {
      writing = file;
      renameSync(partial, file);
    }
  } catch (error) {
    for (const path of made) rmSync(path, { recursive: true, force: true });
    throw new UserError(problem("file-unwritable", { file: writing, reason: reasonOf(error, nothingThere) }));
  }
}

/**
 * Writes a file that does not exist yet, readable only by its owner. It is never incomplete.
 * @param advice what to do if something of that name exists, which is not changed
 */
export function writeNewUserFile(file: string, bytes: Uint8Array, advice: string): void {
  const mustBeNew = () => {
    if (lstatSync(file, { throwIfNoEntry: false }) !== undefined)
      throw new UserError(problem("file-exists", { file, advice }));
  };
  const partial = join(dirname(file), partialOf(basename(file)));
  try {
    mustBeNew();
    rmSync(partial, { force: true });
    try {
      writeWhole(partial, bytes);
      // Another process may have created it in the meantime.
      mustBeNew();
      renameSync(partial, file);
    } catch (error) {
      rmSync(partial, { force: true });
      throw error;
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(problem("file-unwritable", { file, reason: reasonOf(error) }));
  }
}

/** The name under which a file is written before it is renamed. */
export const partialOf = (name: string) => `.${name}.partial`;

/** Writes a new file for its owner only, to the disk. */
export function writeWhole(file: string, content: string | Uint8Array): void {
  const descriptor = openSync(file, "wx", 0o600);
  try {
    fchmodSync(descriptor, 0o600); // whatever the umask is
    const bytes = Buffer.from(content);
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
