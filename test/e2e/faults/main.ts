/**
 * `npm run faults [-- --table]`: the fault tests, with those that are too slow for `npm run test:e2e`, one file after the other, and
 * what each fault did as a table: to stdout, or with --table into docs/faults.md. Ctrl-C removes the labs.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { projectFile, projectRoot } from "../../../src/runtime/project-files.js";
import { busyness, thisMachine } from "../../bench/machine.ts";
import { markdownTable } from "../../../scripts/markdown-table.ts";
import { removeLab } from "../../support/lab.ts";
import type { Row } from "./fault.ts";
import { writePart } from "./page.ts";

const vitest = projectFile("node_modules/vitest/vitest.mjs");
const [option] = process.argv.slice(2);
if (option !== undefined && option !== "--table") {
  console.error("Usage: npm run faults [-- --table]    (into docs/faults.md, otherwise to stdout)");
  process.exit(option === "--help" ? 0 : 2);
}
const write = option === "--table";
const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-faults-"));
const file = join(folder, "rows");
/** Each test file, and how the name of its lab begins; the process id follows. */
const tests = { tunnel: "faults", bootkube: "stages", destroy: "destroy" };

const now: { child?: ChildProcess; lab?: string; signal?: NodeJS.Signals } = {};
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    now.signal ??= signal;
    now.child?.kill("SIGKILL");
  });

/** @returns whether all of it held */
async function run(test: keyof typeof tests): Promise<boolean> {
  // Progress to stderr: stdout is the table's. A group of its own: Ctrl-C is heard here only.
  const args = [vitest, "run", "--config", "test/e2e/vitest.config.ts", `test/e2e/faults/${test}.test.ts`];
  now.child = spawn(process.execPath, args, {
    cwd: projectRoot,
    stdio: ["ignore", 2, 2],
    env: { ...process.env, FAULTS_ROWS: file, TMPDIR: folder },
    detached: true,
  });
  now.lab = `${tests[test]}${String(now.child.pid)}`;
  const code = await new Promise((resolve) => now.child?.once("close", resolve));
  await removeLab(now.lab);
  return code === 0;
}

try {
  const before = busyness();
  let held = true;
  for (const test of Object.keys(tests) as (keyof typeof tests)[])
    if (now.signal === undefined) held = (await run(test)) && held;
  if (now.signal === undefined) {
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
    const rows = lines.map((line) => JSON.parse(line) as Row);
    const text = [
      markdownTable(
        ["what was done", "what was lost", "how it recovered"],
        rows.map(({ done, lost, recovered }) => [done, lost, recovered]),
      ),
      `From: ${thisMachine()}. Load average before ${before}, after ${busyness()}.`,
    ].join("\n\n");
    if (write && held) writePart("faults", text);
    else console.log(text);
  }
  if (!held) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
if (now.signal !== undefined) process.exitCode = 128 + constants.signals[now.signal];
