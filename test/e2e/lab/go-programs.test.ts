import { execFile, execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { projectFile } from "../../../src/runtime/project-files.js";
import { linesOf } from "../../support/cli.ts";

const goCache = execFileSync("go", ["env", "GOCACHE"], { encoding: "utf8" }).trim();

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-go-"));
});
afterEach(() => {
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
        `run "go build -o /dev/null ." in ${folder}/lab/webhook to see the error.`,
    );
    expect(readdirSync(cache())).toEqual([]);
  });

  it("needs Go, and says so", async () => {
    expect((await build({ PATH: "/nowhere" })).error).toMatch(
      /^go cannot be started .*: install Go 1\.26\.2 or newer\.$/,
    );
  });
});
