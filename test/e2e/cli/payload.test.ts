import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { fixture, sampleMetadata, sampleText } from "../../../src/core/sample/sample.ts";
import { command, linesOf, program, type Run } from "../../support/cli.ts";

const root = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-payload-"));
afterAll(() => {
  rmSync(root, { recursive: true });
});

const payload = (...args: readonly string[]) => command("payload", ...args);
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const folder = () => mkdtempSync(join(root, "test-"));

/** A folder as openshift-install leaves it. */
function installDir(text = sampleText("4.18")): string {
  const dir = folder();
  writeFileSync(join(dir, "bootstrap.ign"), text);
  writeFileSync(join(dir, "metadata.json"), JSON.stringify(sampleMetadata));
  return dir;
}

describe("payload build", () => {
  it("writes files that only their owner can read under any umask", async () => {
    const out = join(folder(), "out");
    const command = `umask 777; exec "${process.execPath}" "${program}" payload build "${installDir()}" --out "${out}"`;
    const code = await new Promise((resolve) => execFile("sh", ["-c", command], resolve));
    expect(code).toBeNull();
    expect(modeOf(join(out, "payload.ign"))).toBe("600");
  });

  const oddPlaces: [string, string][] = [
    ["/proc", "nothing can be created in that folder"],
    ["/proc/self/konnectivity/deeper", "nothing can be created in that folder"],
    ["/sys/konnectivity", "not permitted"],
  ];
  it.each(oddPlaces)("refuses to write to %s", async (out, reason) => {
    expect(await payload("build", installDir(), "--out", out)).toEqual({
      code: 1,
      stdout: "",
      stderr: `error: ${out}/payload.ign cannot be written: ${reason}; nothing was changed.\n`,
    });
  });
  it("ends in /proc and on a read-only file system, and says why it did not write", () => {
    const place = folder();
    const build = `"${process.execPath}" "${program}" payload build "${installDir()}" --out`;
    const line = `mount -t tmpfs -o ro none '${place}'; timeout 30 ${build} /proc/x; echo "$?" >&2; ${build} '${place}/out'`;
    expect(spawnSync("unshare", ["--mount", "bash", "-c", line], { encoding: "utf8" })).toMatchObject({
      stdout: "",
      stderr: [
        "error: /proc/x/payload.ign cannot be written: nothing can be created in that folder; nothing was changed.\n1\n",
        `error: ${place}/out/payload.ign cannot be written: the file system is read-only; nothing was changed.\n`,
      ].join(""),
    });
  });
});

describe("the command line", () => {
  it("says nothing more when nobody reads it, and one sentence when it cannot be written", () => {
    const shell = (line: string) => {
      const { status, stdout, stderr } = spawnSync("bash", ["-c", line, process.execPath, program], {
        encoding: "utf8",
      });
      return { status, stdout, stderr };
    };
    // As a program that SIGPIPE ends.
    expect(shell('set -o pipefail; "$0" "$1" --help | true')).toEqual({ status: 141, stdout: "", stderr: "" });
    expect(shell('"$0" "$1" --help >/dev/full')).toEqual({
      status: 1,
      stdout: "",
      stderr: "error: What was to be said cannot be written: ENOSPC: no space left on device, write.\n",
    });
  });
});

describe("an expired bootstrap.ign", () => {
  it("is built, with a warning on stderr that says since when", async () => {
    // A clock that is ahead: the fixture's certificate lives for one day.
    const dir = installDir(sampleText("4.18", { certificate: fixture("one-day.crt") }));
    const ran = await new Promise<Run>((resolve) => {
      const args = [
        "-f",
        "@2027-01-01 00:00:00",
        process.execPath,
        program,
        "payload",
        "build",
        dir,
        "--out",
        folder(),
      ];
      execFile("faketime", args, { encoding: "utf8" }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });
    expect(linesOf(ran.stderr)).toEqual([
      expect.stringMatching(/^warning: bootstrap\.ign contains an expired certificate \(\S+, 2026-11-17T/),
    ]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).not.toContain("expired");
  });
});
