import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Warning } from "../core/errors.ts";
import { shellWord } from "../core/shell-word.ts";

/** Pattern for a `.gitignore` that ignores everything in its folder, including itself. */
export const everything = ["*"];

/**
 * Creates a folder for its owner only, with every folder above it that is missing, whatever the umask is. Node.js's own
 * recursive mkdir never ends where a folder exists but takes no new one, as in /proc.
 * @returns the topmost folder that was created; undefined if there was nothing to create
 */
export function makePrivateFolder(folder: string): string | undefined {
  const missing: string[] = [];
  for (let path = resolve(folder); statSync(path, { throwIfNoEntry: false }) === undefined; path = dirname(path))
    missing.unshift(path);
  const made: string[] = [];
  try {
    for (const path of missing) {
      mkdirSync(path, { mode: 0o700 });
      made.unshift(path);
      keepPrivate(path);
    }
  } catch (error) {
    for (const path of made) rmdirSync(path);
    throw error;
  }
  return missing[0];
}

/** Makes a folder accessible only to its owner. A link is left unchanged, because it may lead to another user's folder. */
export function keepPrivate(folder: string): void {
  // Windows has no such modes, and folders cannot be opened there.
  if (process.platform === "win32") return;
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const mayStay = ["ENOTDIR", "ELOOP", "EPERM", "ENOTSUP"];
  let descriptor: number | undefined;
  try {
    descriptor = openSync(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    fchmodSync(descriptor, 0o700);
  } catch (error) {
    // Another user's folder, or a file system without modes: nothing more can be done.
    if (!(error instanceof Error && "code" in error && mayStay.includes(String(error.code)))) throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * Writes a `.gitignore`, unless one exists: `git add -A` would add the content of the folder.
 * @returns the file, if it was written
 */
export function ignoreInGit(folder: string, patterns: readonly string[]): string | undefined {
  const file = join(folder, ".gitignore");
  let descriptor: number;
  try {
    descriptor = openSync(file, "wx", 0o600);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return undefined;
    throw error;
  }
  try {
    writeSync(descriptor, `${patterns.join("\n")}\n`);
  } catch (error) {
    // An empty file would look like the user's own.
    unlinkSync(file);
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return file;
}

/**
 * Warns about a folder that does not protect its secrets: its `.gitignore`, which is never changed if it exists, does not
 * list them, or its mode lets others replace them.
 * @param names files and folders with secrets
 */
export function folderWarnings(folder: string, names: readonly string[]): Warning[] {
  const file = join(folder, ".gitignore");
  const missing = existsSync(file) ? notIgnored(file, names) : names;
  const warnings: Warning[] = [];
  if (missing.length > 0 && isInRepository(resolve(folder)))
    warnings.push({
      code: "not-ignored",
      message: `${file} ${existsSync(file) ? "exists and was not changed" : "does not exist"}: add ${missing.join(" and ")} to it, or \`git add -A\` adds every secret of the cluster.`,
    });
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
  // In a folder with the sticky bit, like /tmp, nobody can replace the files of others.
  if ((mode & 0o022) !== 0 && (mode & 0o1000) === 0 && process.platform !== "win32")
    warnings.push({
      code: "folder-writable",
      message: `Other users can write to ${folder} and replace the files in it: run \`chmod go-w ${shellWord(folder)}\`.`,
    });
  return warnings;
}

/** The names that no line of a `.gitignore` matches. Lines with folders, sets of characters or exceptions are not read. */
function notIgnored(gitignore: string, names: readonly string[]): string[] {
  // A folder or a pipe of that name ignores nothing, and reading a pipe may never end.
  if (!statSync(gitignore).isFile()) return [...names];
  const patterns = readFileSync(gitignore, "utf8")
    .split(/\s*\n/)
    .filter((line) => /^\/?[\w.*?-]+\/?$/.test(line))
    .map((line) =>
      line.replace(/^\/|\/$/g, "").replace(/[.*?]/g, (one) => ({ ".": "\\.", "*": ".*", "?": "." })[one] ?? one),
    )
    .map((line) => new RegExp(`^${line}$`));
  return names.filter((name) => !patterns.some((pattern) => pattern.test(name)));
}

function isInRepository(folder: string): boolean {
  return existsSync(join(folder, ".git")) || (dirname(folder) !== folder && isInRepository(dirname(folder)));
}
