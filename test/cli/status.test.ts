import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { type Run, runWith } from "../support/cli.ts";

const folder = mkdtempSync(join(tmpdir(), "status-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** `status` with another ssh: this line of bash. */
function statusBy(ssh: string, ...args: string[]): Promise<Run> {
  writeFileSync(join(folder, "ssh"), `#!/bin/bash\n${ssh}\n`);
  chmodSync(join(folder, "ssh"), 0o755);
  return runWith({ ...process.env, PATH: `${folder}:${process.env.PATH ?? ""}` }, "status", ...args);
}

const refuse = 'echo "core@10.0.0.5: Permission denied (publickey)." >&2; exit 255';

it("says what ssh said, also where ssh ends before it has read its input", async () => {
  const { code, stdout } = await statusBy(refuse, "--ssh", "core@10.0.0.5");
  expect(code).toBe(1);
  expect(stdout).toContain("core@10.0.0.5 cannot be looked at: core@10.0.0.5: Permission denied (publickey)");
});

it("a machine that refuses ssh leaves the tunnel's state unknown, which is not broken", async () => {
  const { code, stdout } = await statusBy(refuse, "--ssh", "core@10.0.0.5", "--json");
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    state: "unknown",
    findings: [
      { code: "machine-silent", kind: "unknown", what: expect.stringContaining("Permission denied") as string },
    ],
  });
});
