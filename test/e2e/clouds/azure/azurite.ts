import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cached } from "../../../../lab/go-programs.js";
import { projectFile } from "../../../../src/runtime/project-files.js";

const source = projectFile("test/e2e/clouds/azure/azurite");

/** The folder with azurite in its node_modules, installed as its own lock file says. */
export function ensureAzurite(): string {
  const lock = readFileSync(join(source, "package-lock.json"));
  return cached(`azurite-${createHash("sha256").update(lock).digest("hex").slice(0, 16)}`, (folder) => {
    console.error("Installing azurite (once, about a minute, 186 MB) …");
    for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(source, name), join(folder, name));
    const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], {
      cwd: folder,
      encoding: "utf8",
    });
    if (npm.status !== 0) throw new Error(`"npm ci" failed for azurite: run it in ${source} and see.`);
  });
}
