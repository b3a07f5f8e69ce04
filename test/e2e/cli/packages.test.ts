import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Clone, destroyTimeSteps, runIn } from "../../support/clone.ts";
import { changedExample, exampleOf, Project } from "../../support/stacks.ts";

let clone: Clone;
let project: Project;
beforeEach(() => {
  clone = new Clone();
  const { files } = exampleOf("aws");
  project = new Project({ ...changedExample("aws"), local: { name: "packages" } }, { files });
});
afterEach(() => {
  clone.remove();
  project.remove();
});

const cli = (...args: string[]) =>
  runIn(project.folder, ["node", clone.path("cli/konnectivity-bootstrap.js"), ...args]);
const app = () =>
  runIn(project.folder, ["node", clone.path("scripts/app.js")], {
    KONNECTIVITY_CONFIG: project.configFile,
    CDKTF_OUTDIR: project.outdir,
  });

describe("with other versions than package-lock.json has", () => {
  it("every destroy-time step runs, and leaves node_modules as it is", async () => {
    expect(await app()).toMatchObject({ code: 0 });
    const steps = destroyTimeSteps(project.outdir);
    expect(steps.map(({ name }) => name).sort()).toEqual([
      ...["aws-bootstrap.gate", "aws-bootstrap.report", "aws-bootstrap.report"],
      ...["aws-teardown.gate", "aws-teardown.sweep"],
      ...["local-bootstrap.gate", "local-bootstrap.machine", "local-bootstrap.report", "local-bootstrap.report"],
      ...["local-teardown.gate", "local-teardown.sweep"],
    ]);
    clone.recordOtherVersions();
    const before = clone.installed();
    const payloads = ["aws-bootstrap", "local-bootstrap"].map((name) =>
      join(project.outdir, "stacks", name, "payload.ign"),
    );
    expect(payloads.map((file) => existsSync(file))).toEqual([true, true]);

    const ran = [];
    for (const { name, words, cwd, env } of steps) ran.push({ name, ...(await runIn(cwd, words, env)) });
    expect(clone.installed()).toEqual(before);
    expect(payloads.map((file) => existsSync(file))).toEqual([false, false]);
    for (const { name, code, stdout, stderr } of ran) {
      expect(stderr, name).not.toMatch(/npm|at .*:\d+:\d+/);
      // There is no cluster to ask, and that is what the gate says.
      if (/^aws.*gate$/.test(name)) expect([code, stderr]).toEqual([1, expect.stringContaining("kubeconfig")]);
      if (name === "local-bootstrap.machine") expect([code, stdout]).toEqual([0, "The lab packages is gone.\n"]);
    }
  });

  it("one that this version cannot use is named, with the reason and what to do", async () => {
    clone.recordOtherVersions();
    clone.replacePackage("commander", "export const Command = 5;");
    const { code, stderr } = await cli("--version");
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^konnectivity-bootstrap: The installed npm packages differ from package-lock\.json \(.* is 0\.0\.1, not .*, …\), and this failed: .*; run "npm ci" in .*\.\n$/,
      ),
    ]);
    expect(stderr).toContain(clone.folder);
  });
});

describe("without its npm packages", () => {
  const missing = (name: string) => `The npm package ${name} is missing: run "npm ci" in ${clone.folder}.\n`;

  it("the command line and the app say what to run, and install nothing", async () => {
    rmSync(clone.path("node_modules"), { recursive: true });
    expect(await cli("--version")).toEqual({
      code: 1,
      stdout: "",
      stderr: `konnectivity-bootstrap: ${missing("tsx")}`,
    });
    expect(await app()).toEqual({ code: 1, stdout: "", stderr: `error: ${missing("tsx")}` });
    expect(existsSync(clone.path("node_modules"))).toBe(false);
  });

  it("they name the one that is missing, and do what can be done without it", async () => {
    rmSync(clone.package("@kubernetes/client-node"));
    rmSync(clone.package("@cdktf/provider-aws"));
    const gate = await cli("teardown", "gate", "--config", project.configFile, "aws");
    expect(gate).toEqual({
      code: 1,
      stdout: "",
      stderr: `konnectivity-bootstrap: ${missing("@kubernetes/client-node")}`,
    });
    expect(await app()).toEqual({ code: 1, stdout: "", stderr: `error: ${missing("@cdktf/provider-aws")}` });
    expect(await cli("payload", "firewall", "ocp")).toMatchObject({ code: 0, stderr: "" });
  });

  it("they say that an interrupted installation is not complete", async () => {
    rmSync(clone.path("node_modules/.package-lock.json"));
    clone.replacePackage("yaml", "");
    const { code, stderr } = await cli("--version");
    // Which export is missed first depends on the order of imports.
    const named = stderr.replace(/'yaml' does not provide an export named '\w+'/, "'yaml' lacks an export");
    expect([code, named]).toEqual([
      1,
      `konnectivity-bootstrap: The npm packages are not installed completely, and this failed: The requested module 'yaml' lacks an export; run "npm ci" in ${clone.folder}.\n`,
    ]);
  });
});
