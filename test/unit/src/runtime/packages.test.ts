import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Clone, runIn } from "../../../support/clone.ts";

let clone: Clone;
beforeEach(() => {
  clone = new Clone();
  // Stands in for npm: it writes down how it was called, and installs nothing.
  mkdirSync(clone.path("bin"));
  writeFileSync(clone.path("bin/npm"), `#!/bin/sh\necho "$@" >> ${clone.path("npm.log")}\n`, { mode: 0o755 });
});
afterEach(() => {
  clone.remove();
});

/** Runs set-up as `npm run synth` does. @returns how npm was called */
async function setUp(): Promise<string> {
  const env = { PATH: `${clone.path("bin")}:${process.env.PATH ?? ""}` };
  expect(await runIn(clone.folder, ["node", "scripts/setup.js"], env)).toMatchObject({ code: 0 });
  return existsSync(clone.path("npm.log")) ? readFileSync(clone.path("npm.log"), "utf8") : "";
}

describe("set-up for the app alone", () => {
  it("installs nothing if the installed packages are those of package-lock.json", async () => {
    expect(await setUp()).toBe("");
  });

  it("reads npm-shrinkwrap.json in the package of a release, which has no package-lock.json", async () => {
    renameSync(clone.path("package-lock.json"), clone.path("npm-shrinkwrap.json"));
    expect(await setUp()).toBe("");
    clone.recordOtherVersions();
    expect(await setUp()).toBe("ci --no-audit --no-fund\n");
  });

  it("keeps the cdktf command and all other development packages when it updates", async () => {
    clone.recordOtherVersions();
    expect(await setUp()).toBe("ci --no-audit --no-fund\n");
  });

  it("leaves development packages out if there are none yet", async () => {
    rmSync(clone.path("node_modules"), { recursive: true });
    expect(await setUp()).toBe("ci --no-audit --no-fund --omit=dev\n");
  });
});
