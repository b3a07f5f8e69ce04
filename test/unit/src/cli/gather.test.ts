import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { entriesOf } from "../../../support/archive.ts";
import { command, program } from "../../../support/cli.ts";

const root = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-gather-"));
afterAll(() => {
  rmSync(root, { recursive: true });
});

/** Stands in for ssh: a machine without a tunnel, or one that refuses the connection. */
const ssh = `#!/bin/sh
cat >/dev/null
case "$*" in *refused*) echo "Permission denied" >&2; exit 255 ;; esac
printf '== machine\\n name=there\\n== log\\n a log\\n== end\\n'
`;
const bin = join(root, "bin");
mkdirSync(bin);
writeFileSync(join(bin, "ssh"), ssh);
chmodSync(join(bin, "ssh"), 0o755);
const path = `${bin}${delimiter}${process.env.PATH ?? ""}`;

let folder: string;
let archive: string;
beforeEach(() => {
  folder = mkdtempSync(join(root, "test-"));
  archive = join(folder, "gather.tar.gz");
  vi.stubEnv("PATH", path);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const gather = (...args: string[]) => command("gather", "--ssh", "core@there", ...args);

describe("gather", () => {
  it("writes one archive that only its owner can read, and warns about unreachable machines", async () => {
    const { code, stdout, stderr } = await gather("--node", "refused", "--out", archive);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "warning: refused did not answer: Permission denied\n" });
    expect(stdout).toBe(`${archive} is written: 5 files, no keys, tokens or kubeconfigs in it.\n`);
    expect((statSync(archive).mode & 0o777).toString(8)).toBe("600");
    expect(readdirSync(folder)).toEqual(["gather.tar.gz"]);
    const entries = await entriesOf(readFileSync(archive));
    expect([...entries.keys()].map((name) => name.replace(/^konnectivity-gather-[\dT-]{19}\//, ""))).toEqual([
      ...["", "README", "status.txt"],
      ...["core@there/", "core@there/machine.txt", "core@there/log.txt"],
      ...["refused/", "refused/unreachable.txt"],
    ]);
  });

  it("does not touch an existing file", async () => {
    writeFileSync(archive, "mine");
    expect(await gather("--out", archive)).toEqual({
      code: 1,
      stdout: "",
      stderr: `error: ${archive} already exists and was not changed: give another name with --out.\n`,
    });
    expect(readFileSync(archive, "utf8")).toBe("mine");
    expect(readdirSync(folder)).toEqual(["gather.tar.gz"]);
  });

  it.each([
    ["missing/gather.tar.gz", "it does not exist"],
    ["file/gather.tar.gz", "part of the path is not a folder"],
  ])("says why it cannot write %s", async (name, reason) => {
    writeFileSync(join(folder, "file"), "");
    const out = join(folder, name);
    const { code, stderr } = await gather("--out", out);
    expect([code, stderr]).toEqual([1, `error: ${out} cannot be written: ${reason}; nothing was changed.\n`]);
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  it("killed while it writes, leaves no archive; the next run replaces what is left", async () => {
    const preload = join(folder, "kill.mjs");
    writeFileSync(
      preload,
      `import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module";
       fs.fsyncSync = () => process.kill(process.pid, "SIGKILL");
       syncBuiltinESMExports();`,
    );
    const words = [program, "gather", "--ssh", "core@there", "--out", archive];
    const { signal } = spawnSync(process.execPath, ["--import", preload, ...words]);
    expect(signal).toBe("SIGKILL");
    expect(readdirSync(folder).sort()).toEqual([".gather.tar.gz.partial", "kill.mjs"]);
    expect(await gather("--out", archive)).toMatchObject({ code: 0 });
    expect(readdirSync(folder).sort()).toEqual(["gather.tar.gz", "kill.mjs"]);
  });
});
