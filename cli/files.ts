import {
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { reasonOf } from "../constructs/config/user-file.ts";
import { InputError, problem } from "../constructs/problems.ts";

/**
 * Writes all of these files or none, readable for their owner only. Each appears whole: it is written beside its place
 * and then renamed.
 */
export function writeUserFiles(files: readonly { file: string; text: string }[]): void {
  const made: string[] = [];
  let writing = "";
  try {
    const staged = files.map(({ file, text }) => {
      writing = file;
      const folder = mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      if (folder !== undefined) made.push(folder);
      // Always the same name: what a killed run left is replaced by the next one.
      const partial = join(dirname(file), `.${basename(file)}.partial`);
      rmSync(partial, { force: true });
      made.push(partial);
      writeWhole(partial, text);
      return { partial, file };
    });
    // A folder in the way is what can still go wrong: known before the first file is replaced.
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
    throw new InputError(problem("file-unwritable", { file: writing, reason: reasonOf(error) }));
  }
}

function writeWhole(file: string, text: string): void {
  const descriptor = openSync(file, "wx", 0o600);
  try {
    fchmodSync(descriptor, 0o600); // whatever the umask is
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
