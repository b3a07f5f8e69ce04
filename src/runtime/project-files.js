/**
 * Where the project's own files are: the only module that knows its own place on disk. Plain JavaScript without
 * packages, because it also runs before packages are installed and before TypeScript can be loaded.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The absolute path of the project's root folder, without a slash at the end. */
export const projectRoot = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * The absolute path of a file or folder of the project.
 * @param {...string} segments path from the project's root
 */
export const projectFile = (...segments) => join(projectRoot, ...segments);

/** The command line's program: commands and the stacks' steps start it again. */
export const program = projectFile("cli/konnectivity-bootstrap.js");

/**
 * The text of a file of the project.
 * @param {string} path path from the project's root
 */
export const readProjectText = (path) => readFileSync(projectFile(path), "utf8");
