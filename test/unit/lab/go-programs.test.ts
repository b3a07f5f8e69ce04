import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ensureGoProgram } from "../../../lab/go-programs.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-go-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
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

  it("is refused if a program is missing", () => {
    add("kube-apiserver");
    expect(() => ensureGoProgram("kubernetes")).toThrow(
      `KONNECTIVITY_COMPONENTS is ${folder}, but that folder has no etcd: add it, or unset the variable.`,
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
  ])("is refused if a program cannot be executed: %s", (_, damage) => {
    for (const name of ["kube-apiserver", "etcd"]) add(name);
    damage(join(folder, "etcd"));
    expect(() => ensureGoProgram("kubernetes")).toThrow(
      `KONNECTIVITY_COMPONENTS is ${folder}, but its etcd is not executable: make it executable, or unset the variable.`,
    );
  });
});
