// Plain JavaScript without dependencies: set-up uses it to fetch the releases of Node.js that the tests run.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { npmCi } from "../src/runtime/packages.js";
import { cached } from "../lab/go-programs.js";
import { projectFile } from "../src/runtime/project-files.js";

const folder = projectFile("test/e2e/node-versions");
const files = ["package.json", "package-lock.json"];

/** The releases that the README names. */
export const nodeVersions = /** @type {const} */ (["20", "22", "24", "26"]);

/**
 * Fetches each release of Node.js from npm, unless it is in the cache. Throws one sentence if that fails.
 * @returns {Record<(typeof nodeVersions)[number], string>} each program's path
 */
export function ensureNodeVersions() {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(join(folder, file)));
  const there = cached(`node-versions-${hash.digest("hex").slice(0, 16)}`, (unfinished) => {
    console.error("Fetching Node.js 20, 22, 24 and 26 for the tests (once, 480 MB) …");
    for (const file of files) copyFileSync(join(folder, file), join(unfinished, file));
    npmCi(unfinished);
    // npm does not fail if an optional package is not available.
    for (const version of nodeVersions) {
      const program = programIn(unfinished, version);
      if (!existsSync(program))
        throw new Error(
          `npm has no package of Node.js ${version} for this machine (${process.platform}, ${process.arch}).`,
        );
      // A third of the package, for compilers.
      rmSync(join(dirname(program), "../include"), { recursive: true, force: true });
    }
  });
  const paths = nodeVersions.map((version) => [version, programIn(there, version)]);
  return /** @type {Record<(typeof nodeVersions)[number], string>} */ (Object.fromEntries(paths));
}

/**
 * @param {string} parent
 * @param {string} version
 */
const programIn = (parent, version) => join(parent, `node_modules/node-${version}-${process.arch}/bin/node`);
