/**
 * `npm run faults [-- --table]`: the fault tests, with those that are too slow for `npm run test:e2e`, one file after the other.
 * Prints what each fault did as Markdown, or with --table writes it into docs/faults.md. Ctrl-C removes the labs.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { projectFile, projectRoot } from "../../../src/runtime/project-files.js";
import { busyness, thisMachine } from "../../bench/machine.ts";
import { wrap } from "../../../scripts/markdown-text.ts";
import { removeLab } from "../../support/lab.ts";
import type { Row } from "./fault.ts";
import { faultSection, writePart } from "./page.ts";

const vitest = projectFile("node_modules/vitest/vitest.mjs");
const [option] = process.argv.slice(2);
if (option !== undefined && option !== "--table") {
  console.error("Usage: npm run faults [-- --table]    (into docs/faults.md, otherwise to stdout)");
  process.exit(option === "--help" ? 0 : 2);
}
const write = option === "--table";
const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-faults-"));
const file = join(folder, "rows");
/** Each test file, its heading on the page, and how the name of its lab begins; the process id follows. */
const tests = {
  tunnel: { heading: "Tunnel, while calls are sent", lab: "faults" },
  bootkube: { heading: "Bootstrap machine, while bootkube.sh runs", lab: "stages" },
  destroy: { heading: "Deploy and destroy", lab: "destroy" },
};

const now: { child?: ChildProcess; lab?: string; signal?: NodeJS.Signals } = {};
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    now.signal ??= signal;
    now.child?.kill("SIGKILL");
  });

/** Runs a test file. @returns whether all its tests passed */
async function run(test: keyof typeof tests): Promise<boolean> {
  // Progress to stderr: stdout is the results'. A group of its own: Ctrl-C is heard here only.
  const args = [vitest, "run", "--config", "test/e2e/vitest.config.ts", `test/e2e/faults/${test}.test.ts`];
  now.child = spawn(process.execPath, args, {
    cwd: projectRoot,
    stdio: ["ignore", 2, 2],
    env: { ...process.env, FAULTS_ROWS: file, TMPDIR: folder },
    detached: true,
  });
  now.lab = `${tests[test].lab}${String(now.child.pid)}`;
  const code = await new Promise((resolve) => now.child?.once("close", resolve));
  await removeLab(now.lab);
  return code === 0;
}

/** What the tests have recorded since the last call. */
function takeRows(): Row[] {
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  rmSync(file, { force: true });
  return lines.map((line) => JSON.parse(line) as Row);
}

try {
  const before = busyness();
  let held = true;
  const sections: string[] = [];
  for (const test of Object.keys(tests) as (keyof typeof tests)[])
    if (now.signal === undefined) {
      held = (await run(test)) && held;
      sections.push(faultSection(tests[test].heading, takeRows()));
    }
  if (now.signal === undefined) {
    const machine = wrap(`Machine: ${thisMachine()}. Load average before ${before}, after ${busyness()}.`);
    const text = [machine, ...sections].join("\n\n");
    if (write && held) writePart("faults", text);
    else console.log(text);
  }
  if (!held) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
if (now.signal !== undefined) process.exitCode = 128 + constants.signals[now.signal];
