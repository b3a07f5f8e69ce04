// Plain JavaScript without dependencies: it runs before there are any.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { projectFile, projectRoot, readProjectText } from "./project-files.js";

const oldest = [20, 19];

/** @typedef {{ version?: string; dev?: boolean; optional?: boolean; devOptional?: boolean }} LockedPackage */

/** Throws one sentence if this Node.js is too old. */
export function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < (oldest[0] ?? 0) || (major === oldest[0] && minor < (oldest[1] ?? 0)))
    throw new Error(`Node.js ${process.versions.node} is too old: install ${oldest.join(".")} or newer.`);
}

/**
 * Installs the npm packages that package-lock.json names, unless they are installed. Throws one sentence if that fails. Only
 * for npm scripts: what runs during `cdktf destroy` must not replace the packages that the destroy itself uses.
 * @param {{ forTests: boolean }} options
 */
export function ensureDependencies({ forTests }) {
  checkNode();
  if (differences(forTests)?.length === 0) return;
  // `npm ci --omit=dev` would remove installed development packages, the cdktf command among them.
  const withDev = forTests || Object.entries(locked()).some(([path, { dev }]) => dev && existsSync(projectFile(path)));
  console.error(
    `Installing npm packages (once, about a minute, ${withDev ? "1.5 GB, with those for the tests" : "1 GB"}) …`,
  );
  npmCi(projectRoot, ...(withDev ? [] : ["--omit=dev"]));
}

/**
 * Installs what a folder's lock file names. Throws one sentence if that fails.
 * @param {string} folder
 * @param {string[]} options
 */
export function npmCi(folder, ...options) {
  const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund", ...options], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
  });
  if (npm.error !== undefined)
    throw new Error(`npm cannot be started (${npm.error.message}): install Node.js with npm.`);
  if (npm.status !== 0) {
    const reason =
      `${npm.stdout}${npm.stderr}`
        .split("\n")
        .map((line) => /^npm (?:error|ERR!) (?!code )(.+)/.exec(line)?.[1])
        .find((line) => line !== undefined) ?? "no reason given";
    throw new Error(`"npm ci" failed (${reason.trim()}): run it in ${folder} to see the error.`);
  }
}

/**
 * Explains an error that the installed npm packages cause. Versions that differ from the lock file's are not checked before
 * something fails, because a destroy must also work after `git pull`.
 * @param {unknown} error
 * @returns {string | undefined} one sentence; undefined if the packages are not the cause
 */
export function packageProblem(error) {
  if (!(error instanceof Error)) return undefined;
  const install = `run "npm ci" in ${projectRoot}`;
  const missing = missingPackage(error);
  if (missing !== undefined) return `The npm package ${missing} is missing: ${install}.`;
  const found = runtimeDifferences();
  if (found?.length === 0) return undefined;
  const differ =
    found === undefined
      ? "The npm packages are not installed completely"
      : `The installed npm packages differ from package-lock.json (${found.slice(0, 3).join(", ")}${found.length > 3 ? ", …" : ""})`;
  return `${differ}, and this failed: ${error.message.split("\n")[0]}; ${install}.`;
}

/** How the installed packages that the program runs with differ from the lock file. Never throws: the user must see an error. */
export function runtimeDifferences() {
  try {
    return differences(false);
  } catch {
    return [];
  }
}

/**
 * The package that Node.js or esbuild did not find.
 * @param {Error} error
 */
function missingPackage({ message }) {
  const [, byNode, byEsbuild] =
    /^Cannot find (?:package|module) '([^']+)'|^The package "([^"]+)" could not be found/.exec(message) ?? [];
  const name = (byNode ?? byEsbuild)?.split("/node_modules/").at(-1);
  // A file of this project, not a package.
  if (name === undefined || /^([./#]|[a-z]+:)/i.test(name)) return undefined;
  return name.split("/", name.startsWith("@") ? 2 : 1).join("/");
}

/**
 * How the installed packages differ from those that the lock file names.
 * @param {boolean} withDev
 * @returns {string[] | undefined} undefined if npm did not finish installing them
 */
function differences(withDev) {
  const record = textOf("node_modules/.package-lock.json");
  if (record === undefined) return undefined;
  const there = packagesOf(record);
  return Object.entries(locked())
    .filter(([path, entry]) => path !== "" && !entry.optional && !entry.devOptional && (withDev || !entry.dev))
    .filter(([path, entry]) => there[path]?.version !== entry.version)
    .map(([path, { version }]) => {
      const found = there[path]?.version;
      return `${path.replace("node_modules/", "")} ${found === undefined ? "is missing" : `is ${found}, not ${version}`}`;
    });
}

// npm packs no package-lock.json, so the package of a release contains a copy under the other name that npm reads.
const locked = () => packagesOf(textOf("npm-shrinkwrap.json") ?? readProjectText("package-lock.json"));

/** @type {(text: string) => Record<string, LockedPackage>} */
const packagesOf = (text) => JSON.parse(text).packages;

/**
 * A file's text, if there is one. A file that may not be read is an error: nothing may be installed over it.
 * @param {string} path
 */
function textOf(path) {
  try {
    return readProjectText(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
