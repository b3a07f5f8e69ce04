import { readdirSync } from "node:fs";
import { join } from "node:path";
import { projectFile } from "../../src/runtime/project-files.js";

const skipped = new Set([".git", ".state", "cdktf.out", "node_modules"]);

/** Every file of this project below a folder, without what is installed or generated. Needs no git. */
export function projectFiles(folder = "."): string[] {
  return readdirSync(projectFile(folder), { withFileTypes: true })
    .filter(({ name }) => !skipped.has(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? projectFiles(path) : [path];
    });
}

/** The part of glob syntax that GitHub's hashFiles and Renovate share. */
export function globToRegExp(glob: string): RegExp {
  const source = glob
    .replace(/[.+^${}()|[\]\\?]/g, "\\$&")
    .replaceAll("**/", "\0")
    .replaceAll("**", "\x01")
    .replaceAll("*", "[^/]*")
    .replaceAll("\0", "(?:.*/)?")
    .replaceAll("\x01", ".*");
  return new RegExp(`^${source}$`);
}
