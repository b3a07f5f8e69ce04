import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createProgram } from "../../../../src/cli/main.ts";
import { formatVersion, type JsonError, outputTo } from "../../../../src/cli/output.ts";
import { operatorObjects } from "../../../../lab/operators.ts";
import { version } from "../../../../src/core/package.ts";
import { payloadVersion } from "../../../../src/core/ignition/record.ts";
import { sampleText } from "../../../../src/core/sample/sample.ts";
import { withApi } from "../../../support/api.ts";
import { command, linesOf, type Run } from "../../../support/cli.ts";
import { changedExample, exampleOf, metadata, Project } from "../../../support/stacks.ts";

const root = mkdtempSync(join(tmpdir(), "json-"));
const missing = join(root, "missing");
const there = join(root, "there.yaml");
let project: Project;
beforeAll(() => {
  writeFileSync(there, "mine\n");
  project = new Project(changedExample("aws"), { files: exampleOf("aws").files });
  // What the machine that runs the tests has configured is of no interest.
  vi.stubEnv("KONNECTIVITY_CONFIG", "");
  vi.stubEnv("KUBECONFIG", "");
});
afterAll(() => {
  vi.unstubAllEnvs();
  project.remove();
  rmSync(root, { recursive: true });
});

/** The words of every command that does something. */
function leaves(of: Command, words: readonly string[] = []): { words: readonly string[]; of: Command }[] {
  if (of.commands.length === 0) return [{ words, of }];
  return of.commands.flatMap((child) => leaves(child, [...words, child.name()]));
}

/** The options without which a command says nothing about any other. */
const requiredOptions = ({ options }: Command) =>
  options.flatMap(({ mandatory, long, argChoices }) => (mandatory ? [long ?? "", argChoices?.[0] ?? "x"] : []));

const silent = { write: () => true };
const all = leaves(createProgram(outputTo(silent, silent))).map(({ words, of }) => ({
  name: words.join(" "),
  words,
  of,
}));

/** Commands without --json, and why. */
const withoutJson: Readonly<Record<string, string>> = {
  "config schema": "prints JSON, and nothing else",
  completion: "prints a script",
  "lab up": "prints lines as it goes on; its exit code says the rest",
  "lab down": "its exit code says everything",
  "lab finish": "its exit code says everything",
  "lab enter": "prints what another program prints",
};

/** For every command with --json: arguments with which it fails, and the errors that it must report. */
const failures: Readonly<Record<string, { args: () => string[]; errors: readonly object[]; code?: number }>> = {
  "ipi prepare": { args: () => [missing], errors: [{ code: "file-unreadable", file: missing }] },
  "ipi restore": { args: () => [missing], errors: [{ code: "file-unreadable", file: missing }] },
  "ipi check": { args: () => [missing], errors: [{ code: "file-unreadable", file: missing }] },
  "payload build": {
    args: () => [missing, "--out", join(root, "out")],
    errors: [{ code: "file-unreadable", file: join(missing, "bootstrap.ign") }],
  },
  "payload inspect": { args: () => [missing], errors: [{ code: "file-unreadable", file: missing }] },
  "payload firewall": {
    args: () => [missing],
    errors: [{ code: "file-unreadable", file: join(missing, "bootstrap.ign") }],
  },
  "config init": { args: () => ["aws", "--config", there], errors: [{ code: "file-exists", file: there }] },
  "config check": { args: () => ["--config", missing], errors: [{ code: "file-unreadable", file: missing }] },
  example: { args: () => [root, "--platform", "aws"], errors: [{ code: "file-exists", file: root }] },
  verify: { args: () => ["--kubeconfig", missing], errors: [{ code: "file-unreadable", file: missing }] },
  status: { args: () => ["--kubeconfig", missing], errors: [{ code: "file-unreadable", file: missing }] },
  gather: { args: () => ["--kubeconfig", missing], errors: [{ code: "file-unreadable", file: missing }] },
  "tunnel off": { args: () => ["--ssh", "core@10.0.0.5"], errors: [{ code: "switch-unconfirmed" }], code: 2 },
  "tunnel on": { args: () => ["--ssh", "core@10.0.0.5"], errors: [{ code: "switch-unconfirmed" }], code: 2 },
  "teardown gate": {
    args: () => ["aws", "--config", project.configFile, "--kubeconfig", missing],
    errors: [{ code: "file-unreadable", file: missing }],
  },
  "teardown sweep": {
    args: () => ["aws", "--config", missing],
    errors: [{ code: "file-unreadable", file: missing }],
  },
  "teardown report": { args: () => ["aws", "--config", missing], errors: [{ code: "file-unreadable", file: missing }] },
  acceptance: {
    args: () => ["aws", "--yes", "--config", missing],
    errors: [{ code: "file-unreadable", file: missing }],
  },
  webhooks: { args: () => [missing], errors: [{ code: "file-unreadable", file: join(missing, "bootstrap.ign") }] },
  // A check that failed is a result, not an error.
  doctor: { args: () => ["--config", missing], errors: [] },
};

interface Printed {
  readonly formatVersion: number;
  readonly ok: boolean;
  readonly errors: readonly JsonError[];
  readonly warnings: readonly { code: string; message: string }[];
}

/** What a command printed, which must be JSON, and nothing else, in the documented shape. */
function parsed({ stdout, code }: Run): Printed {
  const printed = JSON.parse(stdout) as Printed;
  expect(printed).toMatchObject({ formatVersion, ok: code === 0 });
  for (const error of printed.errors) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^[a-z]+(-[a-z]+)*$/) as string });
    expect(error.message).toMatch(/^\S.*\S$/);
    const known = ["code", "message", "option", "options", "file", "line", "column"];
    expect(Object.keys(error).filter((key) => !known.includes(key))).toEqual([]);
  }
  for (const warning of printed.warnings) expect(warning.message).not.toBe("");
  return printed;
}

describe("every command", () => {
  it("is in one of the lists of this test", () => {
    expect(all.length).toBeGreaterThan(20);
    const names = all.map(({ name }) => name);
    expect([...Object.keys(withoutJson), ...Object.keys(failures)].sort()).toEqual([...names].sort());
  });

  it.each(all)("has --json, or a reason why not: $name", ({ name, of }) => {
    expect(of.options.some(({ long }) => long === "--json")).toBe(!(name in withoutJson));
  });

  it.each(all)("exits with 2 for an unknown option: $name", async ({ words, of }) => {
    const { code, stdout, stderr } = await command(...words, ...requiredOptions(of), "--nonsense");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("unknown option '--nonsense'");
  });

  it.each(all)("prints wrong usage as JSON too: $name", async ({ words, of }) => {
    const ran = await command(...words, ...requiredOptions(of), "--nonsense", "--json");
    expect(ran.code).toBe(2);
    expect(parsed(ran).errors).toEqual([
      { code: "unknown-option", message: expect.stringMatching(/^unknown option '--(nonsense|json)'/) as string },
    ]);
    expect(ran.stderr).toContain("error: unknown option");
  });

  it.each(Object.entries(failures))("prints its errors as JSON: %s", async (name, { args, errors, code = 1 }) => {
    const ran = await command(...name.split(" "), ...args(), "--json");
    expect(ran.code).toBe(code);
    expect(parsed(ran).errors).toEqual(errors.map((one) => expect.objectContaining(one) as unknown));
    // The same sentences are on stderr, for whoever reads the log.
    const sentences = linesOf(ran.stderr).filter((line) => line.startsWith("error: "));
    expect(sentences).toHaveLength(errors.length);
    for (const [index, { message }] of parsed(ran).errors.entries()) expect(sentences[index]).toContain(message);
  });

  it.each(Object.entries(failures))("prints no JSON without --json: %s", async (name, { args, code = 1 }) => {
    const ran = await command(...name.split(" "), ...args());
    expect(ran.code).toBe(code);
    expect(ran.stdout).not.toMatch(/^[{[]/);
  });
});

describe("an error as JSON", () => {
  it("has option, file, line and column", async () => {
    const file = join(root, "errors.yaml");
    writeFileSync(
      file,
      `installDir: ${join(project.folder, "ocp")}\naws:\n  vpcld: vpc-1\ntunnel:\n  protocol: grpc\n  transport: tcp\n`,
    );
    const ran = await command("config", "check", "--config", file, "--json");
    const { errors } = parsed(ran);
    expect(errors).toContainEqual({
      ...{ code: "option-unknown", option: "aws.vpcld", file, line: 3, column: 3 },
      message: "aws.vpcld is not an option; did you mean vpcId.",
    });
    expect(errors).toContainEqual({
      ...{ code: "combination-refused", option: "tunnel.protocol", file, line: 5, column: 3 },
      options: ["tunnel.protocol", "tunnel.transport"],
      message: expect.stringContaining("tunnel.protocol grpc and tunnel.transport tcp") as string,
    });
    expect(errors.length).toBe(linesOf(ran.stderr).length);
  });

  it("has the place at which a file is not YAML", async () => {
    const file = join(root, "broken.yaml");
    writeFileSync(file, "aws:\n  vpcId: [\n");
    const { errors } = parsed(await command("config", "check", "--config", file, "--json"));
    expect(errors[0]).toMatchObject({ code: "config-not-yaml", file, line: 3, column: 1 });
  });

  it("names bootstrap.ign when it is about that", async () => {
    const other = new Project(changedExample("aws"), { files: exampleOf("aws").files });
    other.write("ocp/bootstrap.ign", sampleText("bootstrap-in-place"));
    const file = join(other.folder, "ocp/bootstrap.ign");
    const runs = await Promise.all([
      command("config", "check", "--config", other.configFile, "--json"),
      command("payload", "build", join(other.folder, "ocp"), "--out", join(root, "out"), "--json"),
      command("payload", "firewall", join(other.folder, "ocp"), "--json"),
    ]);
    for (const ran of runs) expect(parsed(ran).errors).toMatchObject([{ code: "bootstrap-in-place", file }]);
    other.remove();
  });

  it("names an option of the command line", async () => {
    const ran = await command("verify", "--kubeconfig", "x", "--finish", "--json");
    expect(ran.code).toBe(2);
    expect(parsed(ran).errors).toMatchObject([{ code: "verify-lab-only", option: "--finish" }]);
  });
});

describe("wrong usage", () => {
  it.each([
    ["a lab and a real cluster", ["status", "--name", "x", "--kubeconfig", "y"], "lab-or-cluster"],
    ["the same for gather", ["gather", "--name", "x", "--ssh", "y"], "lab-or-cluster"],
    ["a lab's option for a cluster", ["verify", "--finish", "--kubeconfig", "x"], "verify-lab-only"],
    ["neither platform nor kubeconfig", ["teardown", "sweep"], "missing-argument"],
    ["two formats", ["payload", "firewall", "x", "--format", "nft"], "conflicting-option"],
    ["an argument too many", ["doctor", "x"], "excess-arguments"],
    ["no such command", ["stauts"], "unknown-command"],
    ["no such platform", ["config", "init", "vsphere"], "invalid-argument"],
    ["a missing argument", ["payload", "inspect"], "missing-argument"],
    ["a missing option", ["example", "x"], "missing-mandatory-option-value"],
    ["a value that is missing", ["status", "--json", "--kubeconfig"], "option-missing-argument"],
  ])("is %s: exit code 2", async (_, args, code) => {
    const ran = await command(...args, ...(args.includes("--json") ? [] : ["--json"]));
    expect(ran.code).toBe(2);
    expect(parsed(ran).errors).toMatchObject([{ code }]);
  });

  it("is reported for an option of the pointer that has no effect", async () => {
    const args = ["payload", "build", join(project.folder, "ocp"), "--out", join(root, "out"), "--json"];
    for (const [rest, code] of [
      [["--timeout", "5"], "pointer-option-without-url"],
      [["--url", "ftp://x/y"], "pointer-scheme-unknown"],
      [["--url", "s3://x/y", "--timeout", "5"], "pointer-option-not-honoured"],
    ] as const) {
      const ran = await command(...args, ...rest);
      expect(ran.code).toBe(2);
      expect(parsed(ran).errors).toMatchObject([{ code }]);
    }
  });
});

describe("a result as JSON", () => {
  it("of --version has what a bug report needs", async () => {
    const facts = { version, payloadVersion, node: process.version, platform: process.platform };
    for (const args of [
      ["--version", "--json"],
      ["--json", "-V"],
    ])
      // prettier-ignore
      expect(parsed(await command(...args))).toMatchObject({ ok: true, ...facts, architecture: process.arch });
    expect(await command("--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("of config check has the payload, the tunnel and the state", async () => {
    const checked = parsed(await command("config", "check", "--config", project.configFile, "--json"));
    expect(checked).toMatchObject({
      cluster: metadata.infraID,
      config: project.configFile,
      payload: { present: true, example: false, sha512: expect.stringMatching(/^[0-9a-f]{128}$/) as string },
      tunnel: { protocol: "grpc", transport: "unix-socket", authentication: "mtls", port: 8091 },
      state: { backend: "local", folder: join(project.folder, ".state") },
    });
    const { payload } = checked as unknown as { payload: { sha512: string } };
    const out = join(root, "built");
    const args = ["build", join(project.folder, "ocp"), "--out", out, "--config", project.configFile, "--json"];
    expect(parsed(await command("payload", ...args))).toMatchObject({ payload: { sha512: payload.sha512 } });
  });

  it("of config check says where a shared state is, and what a lab has", async () => {
    const s3 = { bucket: "states", region: "eu-west-1", keyPrefix: "clusters/prod" };
    const shared = new Project(
      changedExample("aws", { region: "eu-central-1" }, { state: { s3 }, infrastructureName: metadata.infraID }),
      {
        files: exampleOf("aws").files,
      },
    );
    const checked = await command("config", "check", "--config", shared.configFile, "--json");
    expect(parsed(checked)).toMatchObject({ state: { backend: "s3", ...s3 } });
    shared.remove();
    const lab = join(root, "lab.yaml");
    writeFileSync(lab, "local: { ipi: true }\n");
    const ofLab = parsed(await command("config", "check", "--config", lab, "--json"));
    expect(ofLab).toMatchObject({ payload: null, tunnel: { port: 9591 } });
  });

  it("of config init and example says what was written and what to do next", async () => {
    const file = join(root, "new.yaml");
    expect(parsed(await command("config", "init", "gcp", "--config", file, "--json"))).toMatchObject({
      ...{ platform: "google", file, next: expect.stringContaining("config check --config") as string },
      warnings: [{ code: "alias" }],
    });
    const folder = join(root, "example");
    expect(parsed(await command("example", folder, "--platform", "aws", "--json"))).toMatchObject({
      config: join(folder, "konnectivity.yaml"),
      installDir: join(folder, "ocp"),
      next: expect.arrayContaining([expect.stringContaining("payload build")]) as object,
    });
  });

  it("is printed together with the errors: what the gate found", async () => {
    const objects = operatorObjects({ bootstrap: "complete", etcd: "enough members", revisions: [1, 1, 0] });
    const [configMap, etcd, apiServer] = ["ConfigMap", "Etcd", "KubeAPIServer"].map((wanted) =>
      (objects as { kind: string }[]).find(({ kind }) => kind === wanted),
    );
    await withApi({ "configmaps/bootstrap": configMap, etcds: etcd, kubeapiservers: apiServer }, async (kubeconfig) => {
      const ran = await command("teardown", "gate", "aws", "--kubeconfig", kubeconfig, "--wait", "0", "--json");
      expect(ran.code).toBe(1);
      expect(parsed(ran)).toMatchObject({
        errors: [{ code: "gate-closed" }],
        override: null,
        conditions: [{ met: true }, { met: false, seen: expect.stringContaining("member") as string }, { met: true }],
      });
    });
  });

  it("of teardown gate says who opened it", async () => {
    vi.stubEnv("KONNECTIVITY_OPEN_GATE", "we have looked");
    const opened = await command("teardown", "gate", "aws", "--json");
    vi.stubEnv("KONNECTIVITY_OPEN_GATE", undefined);
    expect(parsed(opened)).toMatchObject({ ok: true, override: "we have looked", conditions: [] });
  });

  it("of --watch is one line for each change", async () => {
    // Both are over at once: the bootstrap has ended, and a folder that was never prepared stays so.
    const objects = {
      "configmaps/bootstrap": { data: { status: "complete" } },
      pods: { items: [] },
      events: { items: [] },
    };
    await withApi(objects, async (kubeconfig) => {
      const watched = await command("status", "--kubeconfig", kubeconfig, "--watch", "--json");
      expect(linesOf(watched.stdout)).toHaveLength(1);
      expect(parsed(watched)).toMatchObject({ ok: true, state: "ended" });
    });
    const watched = await command("ipi", "check", join(project.folder, "ocp"), "--watch", "--json");
    expect(linesOf(watched.stdout)).toHaveLength(1);
    expect(parsed(watched)).toMatchObject({ ok: false, stage: "not prepared" });
  });

  it("of --watch is one line, also when it fails", async () => {
    const { stdout, code } = await command("status", "--kubeconfig", missing, "--watch", "--json");
    expect(code).toBe(1);
    expect(linesOf(stdout)).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, errors: [{ code: "file-unreadable" }] });
  });
});

it("the words of another program's command line do not ask for JSON", async () => {
  const { stdout } = await command("lab", "enter", "--name", "nothere", "bootstrap", "cat", "--json");
  expect(stdout).toBe("");
});
