import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { inspect, makePayload } from "../../../src/core/bootstrap.ts";
import { decodeContents } from "../../../src/core/ignition/contents.ts";
import { parseIgnition } from "../../../src/core/ignition/config.ts";
import { readTunnel } from "../../../src/core/konnectivity/options.ts";
import { bootkubeScript, fileEntry, sampleConfig, sampleText, tunnelShapes } from "../../../src/core/sample/sample.ts";

const now = new Date("2026-11-16T12:00:00Z");
const tunnel = readTunnel(undefined);
const bootkubePath = "/usr/local/bin/bootkube.sh";

function diffOf(text: string): string {
  const found = inspect(text, "payload.ign");
  if (found.kind !== "payload") throw new Error("this is a pointer");
  return found.diff;
}

function scriptIn(text: string): string {
  const file = parseIgnition(text).storage?.files?.find(({ path }) => path === bootkubePath);
  return decodeContents(file?.contents).toString();
}

/** The original script with a diff applied by the real patch program. */
function patched(original: string, diff: string): string {
  const folder = mkdtempSync(join(tmpdir(), "diff-"));
  try {
    const file = join(folder, bootkubePath);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, original);
    const args = ["--strip=1", "--fuzz=0", "--posix", `--directory=${folder}`];
    const { status, stdout, stderr } = spawnSync("patch", args, { input: diff, encoding: "utf8" });
    expect([status, stdout, stderr]).toEqual([0, `patching file ${bootkubePath.slice(1)}\n`, ""]);
    return readFileSync(file, "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("the diff of `payload inspect`", () => {
  it.each(tunnelShapes)("applies to the script of %s with the real patch program", (shape) => {
    const { text } = makePayload(sampleText(shape), tunnel, now);
    expect(patched(bootkubeScript(shape), diffOf(text))).toBe(scriptIn(text));
  });

  it.each([
    ["ends with the last anchor", (script: string) => script.replace(/echo "bootkube\.service complete"\n$/, "")],
    ["goes on after it", (script: string) => `${script}true\ntrue\ntrue\n`],
  ])("applies to a script that %s", (_, change) => {
    const script = change(bootkubeScript("4.18"));
    const config = sampleConfig("4.18");
    const files = (config.storage?.files ?? []).map((file) =>
      file.path === bootkubePath ? fileEntry(bootkubePath, script, 0o555) : file,
    );
    const { text } = makePayload(JSON.stringify({ ...config, storage: { files } }), tunnel, now);
    expect(patched(script, diffOf(text))).toBe(scriptIn(text));
  });
});
