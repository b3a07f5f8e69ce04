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
  writeSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";

/** In a `.gitignore`: everything in its folder, and itself. */
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

/** Takes a folder from everybody but its owner. A link is left alone, because it may lead to anybody's folder. */
export function keepPrivate(folder: string): void {
  // Modes mean nothing there, and folders cannot be opened.
  if (process.platform === "win32") return;
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const mayStay = ["ENOTDIR", "ELOOP", "EPERM", "ENOTSUP"];
  let descriptor: number | undefined;
  try {
    descriptor = openSync(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    fchmodSync(descriptor, 0o700);
  } catch (error) {
    // Somebody else's folder, or a file system without modes: as good as it gets.
    if (!(error instanceof Error && "code" in error && mayStay.includes(String(error.code)))) throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * Writes a `.gitignore`, unless there is one: `git add -A` would take what the folder holds.
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
  } finally {
    closeSync(descriptor);
  }
  return file;
}

/** Names in a folder of a repository that the user's own `.gitignore` there does not have. Other ways to ignore are not read. */
export function notIgnored(folder: string, names: readonly string[]): string[] {
  const file = join(folder, ".gitignore");
  if (!isInRepository(resolve(folder)) || !existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split(/\s*\n/);
  return names.filter(
    (name) =>
      !["*", `*${name.slice(name.lastIndexOf("."))}`, name, `/${name}`].some((pattern) => lines.includes(pattern)),
  );
}

function isInRepository(folder: string): boolean {
  return existsSync(join(folder, ".git")) || (dirname(folder) !== folder && isInRepository(dirname(folder)));
}
