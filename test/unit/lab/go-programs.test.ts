import { execFile, execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ensureGoProgram } from "../../../lab/go-programs.js";
import { projectFile } from "../../../src/runtime/project-files.js";
import { linesOf } from "../../support/cli.ts";

const goCache = execFileSync("go", ["env", "GOCACHE"], { encoding: "utf8" }).trim();

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-go-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

describe("a Go program", () => {
  /** The script with one small program, in a project that a test may change. */
  const copied = ["lab/go-programs.js", "lab/webhook", "src/runtime", "package.json"];
  const cache = () => join(folder, "cache", "konnectivity-bootstrap");
  beforeEach(() => {
    for (const part of copied) cpSync(projectFile(part), join(folder, part), { recursive: true });
  });

  /** Builds the program in a process of its own; the error is the sentence that is thrown. */
  function build(env: NodeJS.ProcessEnv = {}): Promise<{ path: string; said: string[]; error: string }> {
    const call = `try {
      console.log((await import("${folder}/lab/go-programs.js")).ensureGoProgram("webhook").webhook);
    } catch (error) {
      console.error("thrown: " + error.message);
    }`;
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        ["--input-type=module", "--eval", call],
        { env: { ...process.env, XDG_CACHE_HOME: join(folder, "cache"), GOCACHE: goCache, ...env }, encoding: "utf8" },
        (_, stdout, stderr) => {
          const said = linesOf(stderr).filter((line) => !line.startsWith("thrown: "));
          const error = linesOf(stderr).find((line) => line.startsWith("thrown: ")) ?? "";
          resolve({ path: stdout.trim(), said, error: error.replace("thrown: ", "") });
        },
      );
    });
  }

  it("is built once, and says how long that takes and took", async () => {
    const first = await build();
    expect(first.said).toEqual([
      "Building the lab's webhook (half a minute the first time) …",
      expect.stringMatching(/^Built the lab's webhook in \d+ s\.$/),
    ]);
    expect(() => execFileSync(first.path, ["--nonsense"], { stdio: "pipe" })).toThrow("flag provided but not defined");
    expect(await build()).toEqual({ path: first.path, said: [], error: "" });
  });

  it("is another one when its source changes, or how it is linked", async () => {
    const paths = [(await build()).path];
    appendFileSync(join(folder, "lab/webhook/main.go"), "// Changed.\n");
    paths.push((await build()).path);
    const script = join(folder, "lab/go-programs.js");
    writeFileSync(script, readFileSync(script, "utf8").replace('"-s -w"', '"-s"'));
    paths.push((await build()).path);
    expect(new Set(paths).size).toBe(3);
  });

  it("can be built by two at once", async () => {
    const [one, other] = await Promise.all([build(), build()]);
    expect(one.error + other.error).toBe("");
    expect(one.path).toBe(other.path);
    expect(readdirSync(cache())).toHaveLength(1);
  });

  it("is built again after a build that was cut off, of which nothing is left", async () => {
    const unfinished = (pid: number) => `webhook-0123456789abcdef.${pid}.aBcDeF`;
    const dead = 2 ** 22 + 1; // Higher than Linux counts.
    for (const pid of [dead, process.pid]) mkdirSync(join(cache(), unfinished(pid)), { recursive: true });
    const { path } = await build();
    expect(readdirSync(cache()).sort()).toEqual([unfinished(process.pid), path.split("/").at(-2)].sort());
  });

  it("that cannot be built is one sentence, and nothing is left of it", async () => {
    writeFileSync(join(folder, "lab/webhook/main.go"), "package main\n\nfunc main() { nonsense() }\n");
    const { said, error } = await build();
    expect(said).toHaveLength(1);
    expect(error).toBe(
      "Building webhook failed (./main.go:3:15: undefined: nonsense): " +
        `run "go build -o /dev/null ." in ${folder}/lab/webhook and see.`,
    );
    expect(readdirSync(cache())).toEqual([]);
  });

  it("needs Go, and says so", async () => {
    expect((await build({ PATH: "/nowhere" })).error).toMatch(
      /^go cannot be started .*: install Go 1\.26\.2 or newer\.$/,
    );
  });
});

describe("KONNECTIVITY_COMPONENTS", () => {
  const add = (name: string) => {
    writeFileSync(join(folder, name), "#!/bin/sh\n", { mode: 0o755 });
  };
  beforeEach(() => {
    vi.stubEnv("KONNECTIVITY_COMPONENTS", folder);
    vi.stubEnv("XDG_CACHE_HOME", join(folder, "cache"));
  });

  it("names the folder with the programs, and none is built", () => {
    for (const name of ["kube-apiserver", "etcd", "proxy-server", "proxy-agent"]) add(name);
    expect(ensureGoProgram("kubernetes")).toEqual({
      "kube-apiserver": join(folder, "kube-apiserver"),
      etcd: join(folder, "etcd"),
    });
    expect(ensureGoProgram("proxy-0.36.0")).toEqual({
      "proxy-server": join(folder, "proxy-server"),
      "proxy-agent": join(folder, "proxy-agent"),
    });
    expect(readdirSync(folder)).not.toContain("cache");
  });

  it("may be a relative path", () => {
    for (const name of ["proxy-server", "proxy-agent"]) add(name);
    const relative = `${"../".repeat(process.cwd().split("/").length)}${folder.slice(1)}`;
    vi.stubEnv("KONNECTIVITY_COMPONENTS", relative);
    expect(dirname(ensureGoProgram("proxy-0.36.0")["proxy-agent"])).toBe(folder);
  });

  it("is told what is missing", () => {
    add("kube-apiserver");
    expect(() => ensureGoProgram("kubernetes")).toThrow(
      `KONNECTIVITY_COMPONENTS names ${folder}, but there is no etcd in it: put it there, or unset the variable.`,
    );
  });

  it.each<[string, (path: string) => void]>([
    [
      "a file without the right",
      (path) => {
        chmodSync(path, 0o644);
      },
    ],
    [
      "a folder",
      (path) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
  ])("is told what cannot be executed: %s", (_, spoil) => {
    for (const name of ["kube-apiserver", "etcd"]) add(name);
    spoil(join(folder, "etcd"));
    expect(() => ensureGoProgram("kubernetes")).toThrow(
      `KONNECTIVITY_COMPONENTS names ${folder}, but its etcd cannot be executed: make it a program, or unset the variable.`,
    );
  });
});
