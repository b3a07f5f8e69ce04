import { spawnSync } from "node:child_process";
import { afterEach, expect, it, vi } from "vitest";
import { waitFor } from "../../../../lab/wait.ts";
import { timeLimit, timeoutEnvironment, timeoutVariable } from "../../../../src/core/time-limits.ts";
import { projectRoot } from "../../../../src/runtime/project-files.js";

afterEach(() => {
  vi.unstubAllEnvs();
});

it.each([
  [undefined, 1],
  ["", 1],
  ["1", 1],
  ["20", 20],
  ["100", 100],
])("the variable %j multiplies time limits by %i", (value, factor) => {
  vi.stubEnv(timeoutVariable, value);
  expect(timeLimit(3)).toBe(3 * factor);
  expect(timeoutEnvironment()).toEqual({ [timeoutVariable]: String(factor) });
});

it("waiting takes that long, and reports it", async () => {
  vi.stubEnv(timeoutVariable, "2");
  const begin = Date.now();
  await expect(waitFor("the tunnel", 1, () => false)).rejects.toThrow(
    "timed out after 2 s while waiting for the tunnel",
  );
  expect(Date.now() - begin).toBeGreaterThanOrEqual(2000);
});

it("the demo reports a bad value in one sentence, before it starts anything", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", "scripts/demo.ts", "none"], {
    cwd: projectRoot,
    env: { ...process.env, [timeoutVariable]: "slow" },
    encoding: "utf8",
  });
  expect(stderr).toBe(
    `${timeoutVariable} is "slow"; set it to a whole number from 1 to 100, by which the time limits of the lab and of requests to a cluster are multiplied, or unset it.\n`,
  );
  expect(stdout).toBe("");
  expect(status).toBe(1);
});
