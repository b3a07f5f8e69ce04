// Plain JavaScript without dependencies: scripts/setup.js builds with it, and the tests find with it what was built.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The Go programs that the tests run; each is a folder of test/ with everything that it is made of in these files. */
const programs = /** @type {const} */ ({
  "kubernetes-schema": "Kubernetes schema checker (once, about two minutes)",
});
const sources = ["main.go", "go.mod", "go.sum"];

/**
 * Builds a Go program of the tests, unless this very source is built already, and says where it is. Throws one sentence
 * if that fails. Not in a test: it takes longer than a test may.
 * @param {keyof typeof programs} name
 * @returns {string} the program's path
 */
export function ensureGoProgram(name) {
  const folder = fileURLToPath(new URL(`../test/${name}`, import.meta.url));
  const program = join(cacheFolder(), `${name}-${digestOf(folder)}`, name);
  if (existsSync(program)) return program;
  console.error(`Building the ${programs[name]} …`);
  mkdirSync(join(program, ".."), { recursive: true });
  // Renamed when it is whole, so that a build that was cut off, or another one at the same time, leaves no half program.
  const unfinished = `${program}.${process.pid}`;
  try {
    const go = spawnSync("go", ["build", "-o", unfinished, "."], {
      cwd: folder,
      env: {
        ...process.env,
        GOTOOLCHAIN: "local",
        GOWORK: "off",
        CGO_ENABLED: "0",
        GOFLAGS: "-trimpath -buildvcs=false -mod=readonly",
      },
      stdio: ["ignore", "ignore", "pipe"],
      encoding: "utf8",
    });
    if (go.error !== undefined)
      throw new Error(`go cannot be started (${go.error.message}): install Go 1.26 or newer.`);
    if (go.status !== 0) {
      const reason = go.stderr.trim().split("\n").at(-1) || `signal ${go.signal}`;
      throw new Error(`"go build" of ${name} failed (${reason.trim()}): run it in ${folder} and see.`);
    }
    renameSync(unfinished, program);
  } finally {
    rmSync(unfinished, { force: true });
  }
  return program;
}

function cacheFolder() {
  // An empty variable counts as none (XDG base directory specification).
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "konnectivity-bootstrap");
}

/**
 * The program's name in the cache follows its source: another source is another program.
 * @param {string} folder
 */
function digestOf(folder) {
  const hash = createHash("sha256");
  for (const source of sources) hash.update(readFileSync(join(folder, source)));
  return hash.digest("hex").slice(0, 16);
}
