// Plain JavaScript without dependencies: it runs before there are any.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
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
  const hidden = new URL("../node_modules/.package-lock.json", import.meta.url);
  if (!existsSync(hidden)) return false;
  /** @type {(file: URL) => Record<string, { version?: string; dev?: boolean; optional?: boolean; devOptional?: boolean }>} */
  const packages = (file) => JSON.parse(readFileSync(file, "utf8")).packages;
  const there = packages(hidden);
  return Object.entries(packages(new URL("../package-lock.json", import.meta.url)))
    .filter(([path, entry]) => path !== "" && !entry.optional && !entry.devOptional && (forTests || !entry.dev))
    .every(([path, entry]) => there[path]?.version === entry.version);
}
