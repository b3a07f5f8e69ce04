// Plain JavaScript without dependencies: it runs before there are any.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const oldest = [20, 19];

/**
 * Installs the npm packages that package-lock.json names, unless they are there. Throws one sentence if that fails.
 * @param {{ forTests: boolean }} options
 */
export function ensureDependencies({ forTests }) {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < (oldest[0] ?? 0) || (major === oldest[0] && minor < (oldest[1] ?? 0)))
    throw new Error(`Node.js ${process.versions.node} is too old: install ${oldest.join(".")} or newer.`);
  if (installed(forTests)) return;
  console.error(
    `Installing npm packages (once, about a minute, ${forTests ? "1.5 GB, with those for the tests" : "1 GB"}) …`,
  );
  const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund", ...(forTests ? [] : ["--omit=dev"])], {
    cwd: root,
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
    throw new Error(`"npm ci" failed (${reason.trim()}): run it in ${root} and see.`);
  }
}

/**
 * Whether what is installed is what the lock file says.
 * @param {boolean} forTests
 */
function installed(forTests) {
  /** @type {(text: string) => Record<string, { version?: string; dev?: boolean; optional?: boolean; devOptional?: boolean }>} */
  const packages = (text) => JSON.parse(text).packages;
  const record = textOf("../node_modules/.package-lock.json");
  if (record === undefined) return false;
  const there = packages(record);
  return Object.entries(packages(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8")))
    .filter(([path, entry]) => path !== "" && !entry.optional && !entry.devOptional && (forTests || !entry.dev))
    .every(([path, entry]) => there[path]?.version === entry.version);
}

/**
 * A file's text, if there is one. Not to be allowed to read it is another matter: nothing may be installed over it then.
 * @param {string} path
 */
function textOf(path) {
  try {
    return readFileSync(new URL(path, import.meta.url), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
