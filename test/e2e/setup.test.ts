import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureImages } from "../../lab/images.js";
import { ensureGoProgram, labGoPrograms } from "../../lab/go-programs.js";
import { projectFile } from "../../src/runtime/project-files.js";

const script = projectFile("scripts/setup.js");
const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-setup-"));
const bin = join(folder, "bin");

/** Every program of this machine but Go. */
beforeAll(() => {
  mkdirSync(bin);
  const programs = new Map<string, string>();
  for (const place of (process.env.PATH ?? "")
    .split(delimiter)
    .filter((one) => existsSync(one))
    .reverse())
    for (const name of readdirSync(place)) programs.set(name, join(place, name));
  programs.delete("go");
  for (const [name, path] of programs) symlinkSync(path, join(bin, name));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function setUp(cache: string, env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, "--for-lab"], {
    encoding: "utf8",
    env: {
      ...process.env,
      PATH: bin,
      XDG_CACHE_HOME: cache,
      KONNECTIVITY_COMPONENTS: "",
      // Nobody listens there: an attempt is one line.
      KONNECTIVITY_DOWNLOAD_MIRROR: "http://127.0.0.1:1",
      no_proxy: "127.0.0.1",
      ...env,
    },
  });
  // Another note of set-up.
  return { status, said: `${stdout}${stderr}`.replace(/^Note: .*\n/m, "") };
}

/** A cache that has what these programs are, or are made of, from this machine's own. */
function cacheWith(name: string, paths: readonly string[]): string {
  const cache = join(folder, name);
  mkdirSync(join(cache, "konnectivity-bootstrap"), { recursive: true });
  for (const path of paths) symlinkSync(path, join(cache, "konnectivity-bootstrap", basename(path)));
  return cache;
}

const builtFolder = (name: (typeof labGoPrograms)[number]) =>
  dirname(Object.values<string>(ensureGoProgram(name))[0] ?? "");

describe("set-up on a machine without Go", () => {
  it("neither asks for it nor downloads when everything is in the cache", () => {
    const cache = cacheWith("filled", [...labGoPrograms.map(builtFolder), ensureImages()]);
    expect(setUp(cache)).toEqual({ status: 0, said: "" });
  });

  it("asks for it when something must be built, and names it", () => {
    const { status, said } = setUp(join(folder, "empty"), { KONNECTIVITY_DOWNLOAD_MIRROR: "off" });
    expect(said).toMatch(
      /^These programs must be built from source: kube-apiserver \S+ and etcd \S+; proxy-server and proxy-agent \S+; the lab's webhook\. Install Go 1\.26\.2 or newer, or set .*\n$/,
    );
    expect(status).toBe(1);
  });

  it("asks for it before it downloads the rest", () => {
    const { status, said } = setUp(join(folder, "empty"));
    expect(said).toMatch(/^These programs must be built from source: the lab's webhook\. Install Go/);
    expect(status).toBe(1);
  });

  it("asks for it after downloads have failed, which takes seconds", () => {
    const cache = cacheWith("webhook", [builtFolder("webhook")]);
    const { status, said } = setUp(cache);
    expect(said.split("\n")).toEqual([
      expect.stringMatching(/^Cannot download \(127\.0\.0\.1:1: Failed to connect [^;]*\): building from source\.$/),
      expect.stringMatching(
        /^These programs must be built from source: kube-apiserver \S+ and etcd \S+; proxy-server and proxy-agent \S+\. Install Go/,
      ),
      "",
    ]);
    expect(status).toBe(1);
  });

  it("does not ask for what KONNECTIVITY_COMPONENTS names", () => {
    const { status, said } = setUp(join(folder, "empty"), { KONNECTIVITY_COMPONENTS: folder });
    expect(said).toMatch(/^These programs must be built from source: the lab's webhook\. Install Go/);
    expect(status).toBe(1);
  });

  it("refuses a mirror's address that is none", () => {
    const { status, said } = setUp(join(folder, "empty"), { KONNECTIVITY_DOWNLOAD_MIRROR: "mirror" });
    expect(said).toMatch(/^KONNECTIVITY_DOWNLOAD_MIRROR is neither .*\n$/);
    expect(status).toBe(1);
  });
});
