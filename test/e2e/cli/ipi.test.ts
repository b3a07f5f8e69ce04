import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { sampleText } from "../../../src/core/sample/sample.ts";
import { command, program } from "../../support/cli.ts";
import { installFiles, readFiles, writeFiles } from "../../support/install-folder.ts";
import { createCluster } from "../../support/installer-store.ts";

const root = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-ipi-"));
afterAll(() => {
  rmSync(root, { recursive: true });
});

const original = sampleText("4.18");
const installDir = () => writeFiles(mkdtempSync(join(root, "ocp-")), installFiles());
const read = (folder: string, name: string) => readFileSync(join(folder, name), "utf8");

/** Sends itself SIGKILL before its change number `at` of the disk. */
function preload(at: number): string {
  const file = join(root, `kill-${at}.mjs`);
  writeFileSync(
    file,
    `import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module";
     let changes = 0;
     for (const name of ["fchmodSync", "fsyncSync", "openSync", "renameSync", "rmSync", "writeSync"]) {
       const call = fs[name];
       fs[name] = (...args) => {
         const ours = name === "openSync" ? /[wx]/.test(String(args[1])) : !(name === "writeSync" && args[0] <= 2);
         if (ours && changes++ === ${at}) process.kill(process.pid, "SIGKILL");
         return call(...args);
       };
     }
     syncBuiltinESMExports();`,
  );
  return file;
}

describe("ipi", () => {
  it.each(["prepare", "restore"])(
    "%s, killed before any change of the disk, leaves whole files, and the next run completes it",
    async (step) => {
      const ways = { killed: 0, ended: 0 };
      for (let at = 0; ways.ended === 0; at += 1) {
        const folder = installDir();
        if (step === "restore") await command("ipi", "prepare", folder);
        const { signal, status } = spawnSync(process.execPath, ["--import", preload(at), program, "ipi", step, folder]);
        ways[signal === "SIGKILL" ? "killed" : "ended"] += 1;
        if (signal === null) expect(status).toBe(0);
        const kept = [...readFiles(folder)].filter(([name]) => name.startsWith("bootstrap.ign"));
        expect(kept.map(([, bytes]) => bytes.toString())).toContain(original);
        expect(() => JSON.parse(read(folder, "bootstrap.ign")) as unknown).not.toThrow();
        expect(await command("ipi", step, folder)).toMatchObject({ code: 0 });
        if (step === "restore") expect(read(folder, "bootstrap.ign")).toBe(original);
        else expect(createCluster(readFiles(folder), { now: new Date() }).bootstrap).toBe("used");
        expect([...readFiles(folder).keys()].filter((name) => name.endsWith(".partial"))).toEqual([]);
      }
      expect(ways.killed).toBeGreaterThan(step === "prepare" ? 12 : 2);
    },
  );

  it("writes for its owner only under any umask", () => {
    const folder = installDir();
    execFileSync("sh", ["-c", 'umask 777; exec "$@"', "sh", process.execPath, program, "ipi", "prepare", folder]);
    for (const name of ["bootstrap.ign", "bootstrap.ign.original"])
      expect((statSync(join(folder, name)).mode & 0o777).toString(8)).toBe("600");
  });
});
