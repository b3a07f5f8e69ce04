// Import this before tsx, which without it runs code that other users can provide.
import { lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectFile } from "./project-files.js";

// tsx uses the first tsconfig.json in the working directory or above, even another user's, and that file's `paths` can replace any
// package by any program. This also overrides a value from the environment. Child processes inherit it.
process.env.TSX_TSCONFIG_PATH = projectFile("tsconfig.json");

// tsx runs the compiled code in a folder of this name, even if another user created that folder.
const user = process.geteuid?.();
if (user !== undefined && !belongsTo(user, join(tmpdir(), `tsx-${user}`))) process.env.TSX_DISABLE_CACHE = "1";

/**
 * Whether a folder exists, or can be created, that only this user can write to.
 * @param {number} user
 * @param {string} folder
 */
function belongsTo(user, folder) {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // It exists, or the next line says that it does not.
  }
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === user && (found.mode & 0o022) === 0;
}
