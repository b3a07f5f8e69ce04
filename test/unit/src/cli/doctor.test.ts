import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Check, isAtLeast, runChecks, satisfies } from "../../../../src/cli/doctor-checks.ts";
import { command, linesOf, runWith } from "../../../support/cli.ts";

const root = mkdtempSync(join(tmpdir(), "doctor-"));
const aws = join(root, "aws/konnectivity.yaml");
const local = join(root, "local/konnectivity.yaml");
beforeAll(async () => {
  for (const platform of ["aws", "local"]) await command("example", join(root, platform), "--platform", platform);
});
afterAll(() => {
  rmSync(root, { recursive: true });
});

/** A folder for PATH in which these programs are, each with what it prints. It does nothing else. */
function pathWith(programs: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(root, "path-"));
  for (const [name, text] of Object.entries(programs))
    writeFileSync(join(folder, name), `#!/bin/sh\necho '${text}'\n`, { mode: 0o755 });
  return folder;
}

const found = (checks: readonly Check[], name: string) => checks.find((check) => check.name === name);
const terraformOf = (programs: Readonly<Record<string, string>>, environment = {}) =>
  runChecks(aws, { PATH: pathWith(programs), ...environment }).needed[3];
const labChecks = ["Linux", "root", "Debian packages", "control groups", "the lab's programs"];

describe("doctor", () => {
  it.each([
    ["1.10.0", true],
    ["1.9.8", false],
    ["2.0.0", true],
  ])("checks the version of Terraform: %s", (version, ok) => {
    const programs = { terraform: JSON.stringify({ terraform_version: version }) };
    expect(terraformOf(programs)).toMatchObject({ name: "Terraform", ok, found: version });
  });

  it("says what to do without Terraform, and what else if OpenTofu is there", () => {
    expect(terraformOf({})).toEqual({
      name: "Terraform",
      ok: false,
      found: "not on the PATH",
      advice: "install Terraform 1.10 or newer, or OpenTofu and set TERRAFORM_BINARY_NAME=tofu",
    });
    const tofu = { tofu: JSON.stringify({ terraform_version: "1.10.1" }) };
    expect(terraformOf(tofu)).toMatchObject({
      ok: false,
      advice: expect.stringMatching(/^set TERRAFORM_BINARY_NAME=tofu/) as string,
    });
    expect(terraformOf(tofu, { TERRAFORM_BINARY_NAME: "tofu" })).toMatchObject({ name: "tofu", ok: true });
    expect(terraformOf({ terraform: "not JSON" })).toMatchObject({ ok: false, found: "does not say its version" });
  });

  it("needs for a platform what that platform needs", () => {
    const environment = { PATH: pathWith({}) };
    const inCloud = runChecks(aws, environment);
    expect(inCloud.platforms).toEqual(["aws"]);
    expect(inCloud.needed.map(({ name }) => name)).toEqual([
      "Node.js",
      "npm packages",
      "cdktf",
      "Terraform",
      "config file",
    ]);
    expect(inCloud.optional.map(({ name }) => name)).toEqual(["ssh", ...labChecks]);
    const inLab = runChecks(local, environment);
    expect(inLab.needed.map(({ name }) => name).slice(5)).toEqual(labChecks);
    expect(found(inLab.needed, "Debian packages")).toMatchObject({
      ok: false,
      advice: expect.stringMatching(/^run as root: apt-get install .*\bpodman\b/) as string,
    });
  });

  it("says why the config file cannot be used, and how to see all of it", () => {
    const missing = join(root, "missing.yaml");
    const { platforms, needed } = runChecks(missing, { PATH: "" });
    expect(platforms).toEqual([]);
    expect(found(needed, "config file")).toEqual({
      name: "config file",
      ok: false,
      found: expect.stringContaining("missing.yaml cannot be read: it does not exist") as string,
      advice: `run npx konnectivity-bootstrap config check --config ${missing}`,
    });
    const wrong = join(root, "wrong.yaml");
    writeFileSync(wrong, "aws: {}\ntagz: {}\n");
    const checks = runChecks(wrong, { PATH: "" });
    expect(checks.platforms).toEqual(["aws"]);
    expect(found(checks.needed, "config file")?.found).toMatch(/^\S+wrong\.yaml: \d+ errors$/);
  });

  it("exits with 0 if everything is there that is needed, with 1 otherwise", async () => {
    const terraform = pathWith({ terraform: JSON.stringify({ terraform_version: "1.11.0" }) });
    const [good, bad] = await Promise.all([
      runWith({ PATH: terraform }, "doctor", "--config", aws),
      runWith({ PATH: pathWith({}) }, "doctor", "--config", aws, "--json"),
    ]);
    expect(good).toMatchObject({ code: 0, stderr: "" });
    expect(linesOf(good.stdout).at(-1)).toBe("This machine has what aws needs.");
    expect(linesOf(good.stdout)).toContain("ok        Terraform           1.11.0");
    expect(bad).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(bad.stdout)).toMatchObject({
      ok: false,
      platforms: ["aws"],
      checks: expect.arrayContaining([
        expect.objectContaining({ name: "Node.js", needed: true, ok: true, advice: null }),
        expect.objectContaining({ name: "Terraform", needed: true, ok: false }),
        expect.objectContaining({ name: "ssh", needed: false }),
      ]) as object,
    });
  });

  it("works without a config file: then it is about the lab", () => {
    const folder = join(root, "empty");
    mkdirSync(folder);
    const cwd = vi.spyOn(process, "cwd").mockReturnValue(folder);
    expect(runChecks(undefined, { PATH: "" }).platforms).toEqual(["local"]);
    cwd.mockRestore();
  });
});

describe("versions", () => {
  it.each([
    ["1.10.0", "1.10.0", true],
    ["1.9.10", "1.10.0", false],
    ["1.10.1", "1.10.0", true],
    ["2.0", "1.10.0", true],
    ["1.10.0-beta1", "1.10.0", true],
  ])("%s is at least %s: %s", (version, oldest, answer) => {
    expect(isAtLeast(version, oldest)).toBe(answer);
  });

  it.each([
    ["v20.18.3", false],
    ["v20.19.0", true],
    ["v21.7.0", false],
    ["v22.13.1", true],
    ["v23.0.0", false],
    ["v26.1.0", true],
  ])("Node.js %s is supported: %s", (version, answer) => {
    expect(satisfies(version, "^20.19.0 || ^22.13.0 || >=24")).toBe(answer);
  });
});
