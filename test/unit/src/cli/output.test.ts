import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { main } from "../../../../src/cli/main.ts";
import { outputTo } from "../../../../src/cli/output.ts";
import { gatheredFiles } from "../../../../src/cluster/gather.ts";
import { diagnose } from "../../../../src/cluster/diagnose.ts";
import { decodeContents } from "../../../../src/core/ignition/contents.ts";
import type { IgnitionConfig } from "../../../../src/core/ignition/config.ts";
import { recordPath } from "../../../../src/core/ignition/record.ts";
import { fileEntry, sampleText } from "../../../../src/core/sample/sample.ts";
import { projectFile } from "../../../../src/runtime/project-files.js";
import { withApi } from "../../../support/api.ts";
import { command, linesOf } from "../../../support/cli.ts";
import { changedExample, exampleOf, metadata, Project, synthesize } from "../../../support/stacks.ts";

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
/** Characters that a terminal obeys, reorders or hides. */
const obeyed = [
  ...range(0x00, 0x08),
  ...range(0x0b, 0x1f),
  ...range(0x7f, 0x9f),
  ...[0x00ad, 0x061c, 0x180e, 0xfeff],
  ...range(0x200b, 0x200f),
  ...range(0x2028, 0x202e),
  ...range(0x2060, 0x2064),
  ...range(0x2066, 0x206f),
  ...range(0xfff9, 0xfffb),
  ...[0xe0001, 0xe0020, 0xe007f],
].map((code) => String.fromCodePoint(code));
const obeyedIn = (text: string) => obeyed.filter((character) => text.includes(character));

/** Sets the title, a link and the clipboard, and clears the screen, also with C1 codes; then right-to-left text. */
const evil =
  "\u001b]0;owned\u0007\u001b]8;;http://x\u001b\\\u001b]52;c;eA==\u0007\u001b[2J\u009b2J\u202efdp.exe\u2066\u200b\u061c";
/** Looks like a line of the program's own output. */
const forged = "x\nwarning: forged\ntunnel  forged";

const done = { exitCode: 0, errors: [], json: "document" } as const;

function written() {
  const text = { stdout: "", stderr: "" };
  const into = (stream: keyof typeof text) => ({
    write: (part: string | Uint8Array) => {
      text[stream] += String(part);
      return true;
    },
  });
  return { text, output: outputTo(into("stdout"), into("stderr")) };
}

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-output-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe("output", () => {
  const methods: [string, (text: string) => string][] = [
    ["text", (text) => both(({ output }) => { output.text(text); })], // prettier-ignore
    ["warnings", (text) => both(({ output }) => { output.warnings([{ code: "x", message: text }]); })], // prettier-ignore
    ["error", (text) => both(({ output }) => { output.error(text); })], // prettier-ignore
    ["usage", (text) => both(({ output }) => { output.usage(text); })], // prettier-ignore
    ["json", (text) => both(({ output }) => { output.json({ [text]: [text] }); output.end(done); })], // prettier-ignore
    ["jsonLine", (text) => both(({ output }) => { output.jsonLine({ [text]: [text] }, true); })], // prettier-ignore
    ["errors", (text) => both(({ output }) => { output.end({ ...done, errors: [{ code: "x", message: text }] }); })], // prettier-ignore
  ];
  function both(act: (to: ReturnType<typeof written>) => void): string {
    const to = written();
    act(to);
    return to.text.stdout + to.text.stderr;
  }

  it.each(methods)("has no control characters for a terminal: %s", (_, print) => {
    for (const character of obeyed) expect(obeyedIn(print(`a${character}b`)), JSON.stringify(character)).toEqual([]);
    expect(print("a\u001bb")).toContain("a\\u001bb");
    expect(print("a\u009bb\u{e0001}")).toContain("a\\u009bb\\udb40\\udc01");
    expect(print("ä → “x” … 😀")).toContain("ä → “x” … 😀");
  });

  it("keeps lines and tabs of a text, but a message on one line", () => {
    const { output, text } = written();
    output.text("a\n\tb\n");
    output.error("a\nerror: b");
    output.warnings([{ code: "x", message: "a\nb" }]);
    expect(text).toEqual({ stdout: "a\n\tb\n", stderr: "error: a\\u000aerror: b\nwarning: a\\u000ab\n" });
  });

  it("is JSON that parses to the same value", () => {
    const value = { [evil]: obeyed, text: [...obeyed, "\\", '"', "\n\t", "\ud800", "\\\u009b"].join("\\") };
    const { output, text } = written();
    output.json(value);
    output.end(done);
    expect(JSON.parse(text.stdout)).toEqual({ formatVersion: 1, ok: true, ...value, errors: [], warnings: [] });
  });

  it("is safe when an unexpected error ends a command", async () => {
    const { output, text } = written();
    const broken = { ...output, json: () => { throw new Error(`broken ${evil}`); } }; // prettier-ignore
    expect(await main(["node", "x", "doctor", "--json"], broken)).toBe(1);
    expect(JSON.parse(text.stdout)).toMatchObject({ ok: false, errors: [{ code: "unexpected", message: `Error: broken ${evil}` }] }); // prettier-ignore
    expect(obeyedIn(text.stdout)).toEqual([]);
    expect(text.stderr).toContain("Error: broken \\u001b]0;owned");
    expect(obeyedIn(text.stderr)).toEqual([]);
  });
});

/** Holds for text from every source. */
function expectClean({ stdout, stderr }: { stdout: string; stderr: string }, words = "owned"): void {
  const all = `${stdout}${stderr}`;
  expect(obeyedIn(all)).toEqual([]);
  expect(all, "it was printed").toContain(words);
  expect(linesOf(all).filter((line) => /^(warning: forged|tunnel {2}forged)/.test(line))).toEqual([]);
}

describe("text from elsewhere is printed safely:", () => {
  it("what a machine sends through ssh", async () => {
    const bin = join(folder, "bin");
    mkdirSync(bin);
    const sections = [
      `== ${evil}\n x`,
      `== machine\n name=m${evil}\n now=1763294400`,
      `== tunnel\n ours\n== record\n {}\n== server-pod\n x\n== healthz\n ok\n 200\n== readyz\n ${evil}`,
      `== metrics\n konnectivity_network_proxy_server_dial_failure_count{reason="r${evil}"} 3`,
      `== sockets\n LISTEN 0 0 [::]:8091${evil.replaceAll(/\s/g, "")} [::]:*`,
      `== certificates\n file=${evil}/tls.crt\n notBefore=Nov 16 12:00:00 2026 GMT\n notAfter=Nov 17 12:00:00 2026 GMT\n name=DNS:${evil}`,
      `== end`,
    ];
    writeFileSync(join(bin, "answer"), `${sections.join("\n")}\n`);
    writeFileSync(join(bin, "ssh"), '#!/bin/sh\ncat >/dev/null\ncase "$*" in *silent*) cat "${0%/*}/answer" >&2; exit 255 ;; *) cat "${0%/*}/answer" ;; esac\n'); // prettier-ignore
    chmodSync(join(bin, "ssh"), 0o755);
    vi.stubEnv("PATH", `${bin}${delimiter}${process.env.PATH ?? ""}`);
    try {
      const text = await command("status", "--ssh", "core@here", "--node", "silent");
      expectClean(text);
      expect(text.stdout).toContain("r\\u001b]0;owned");
      const json = await command("status", "--ssh", "core@here", "--json");
      expectClean(json);
      expect(JSON.parse(json.stdout)).toMatchObject({ server: { machine: `m${evil}` } });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("names and messages of an API", async () => {
    const pod = {
      metadata: { name: `agent${evil}${forged}` },
      spec: { nodeName: `node${evil}${forged}` },
      status: { phase: forged, containerStatuses: [{ restartCount: 1, state: { waiting: { reason: evil } } }] },
    };
    const event = { involvedObject: { kind: evil, name: forged }, message: `${evil}${forged}` };
    const objects = { "/log": `E1116 ${evil}`, pods: { items: [pod] }, events: { items: [event] } };
    await withApi(objects, async (file) => {
      expectClean(await command("status", "--kubeconfig", file));
      const json = await command("status", "--kubeconfig", file, "--json");
      expectClean(json);
      expect(JSON.parse(json.stdout)).toMatchObject({ cluster: { pods: [{ name: pod.metadata.name }] } });
    });
  });

  it("a key and a value of the config", async () => {
    const file = join(folder, "config.yaml");
    writeFileSync(file, JSON.stringify({ [`${evil}${forged}`]: 1, firewall: `${evil}${forged}` }));
    const run = await command("config", "check", "--config", file);
    expect(run.code).toBe(1);
    expectClean(run);
  });

  it("clusterName of metadata.json, and the names of folders", async () => {
    const installDir = join(folder, `ocp${evil.replaceAll("/", "")}`);
    mkdirSync(installDir);
    writeFileSync(join(installDir, "bootstrap.ign"), sampleText("4.18"));
    writeFileSync(join(installDir, "metadata.json"), JSON.stringify({ ...metadata, clusterName: `${evil}${forged}` }));
    const run = await command("payload", "build", installDir, "--out", join(installDir, "out"));
    expect(run.code).toBe(0);
    expectClean(run);
    expectClean(await command("payload", "inspect", join(installDir, "nothing")));
    const json = await command("payload", "build", installDir, "--out", join(installDir, "out"), "--json");
    expectClean(json);
    expect(JSON.parse(json.stdout)).toMatchObject({ cluster: { clusterName: `${evil}${forged}` } });
  });

  it("the record in a payload, and a pointer", async () => {
    const installDir = join(folder, "inspected");
    mkdirSync(installDir);
    writeFileSync(join(installDir, "bootstrap.ign"), sampleText("4.18"));
    expect(await command("payload", "build", installDir, "--out", installDir)).toMatchObject({ code: 0 });
    const file = join(installDir, "payload.ign");
    const ignition = JSON.parse(readFileSync(file, "utf8")) as IgnitionConfig;
    const files = ignition.storage?.files?.map((entry) => {
      if (entry.path !== recordPath) return entry;
      const record = JSON.parse(decodeContents(entry.contents).toString()) as object;
      const planted = { ...record, release: `${evil}${forged}`, options: { [evil]: forged } };
      return fileEntry(recordPath, JSON.stringify(planted), 0o600);
    });
    writeFileSync(file, JSON.stringify({ ...ignition, storage: { ...ignition.storage, files } }));
    const text = await command("payload", "inspect", file);
    expect(text.code).toBe(0);
    expectClean(text);
    const json = await command("payload", "inspect", file, "--json");
    expectClean(json);
    expect(JSON.parse(json.stdout)).toMatchObject({ record: { release: `${evil}${forged}` } });
    const config = { replace: { source: `s3://x${forged}${evil}`, verification: { hash: evil } } };
    writeFileSync(file, JSON.stringify({ ignition: { version: "3.2.0", config } }));
    expectClean(await command("payload", "inspect", file));
  });

  it.each([
    ["an unknown command", [evil]],
    ["an unknown option", ["status", `--${evil}`]],
    ["a wrong value", ["status", "--name", evil]],
    ["a choice", ["teardown", "gate", evil]],
    ["a file", ["payload", "inspect", evil.replaceAll("/", "")]],
  ])("an argument: %s", async (_, args) => {
    const run = await command(...args);
    expect(run.code).not.toBe(0);
    expectClean(run);
  });

  it("the reason that opens the gate", async () => {
    vi.stubEnv("KONNECTIVITY_OPEN_GATE", `${evil}${forged}`);
    try {
      expectClean(await command("teardown", "gate", "aws"));
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("error messages of the cdktf app", () => {
    const file = join(folder, `k${evil.replaceAll("/", "")}.yaml`);
    writeFileSync(file, JSON.stringify({ [evil]: 1 }));
    const app = projectFile("scripts/app.js");
    const env = { ...process.env, KONNECTIVITY_CONFIG: file, CDKTF_OUTDIR: join(folder, "app.out") };
    const run = spawnSync(process.execPath, [app], { encoding: "utf8", env, cwd: folder });
    expect(run.status).toBe(1);
    expectClean(run);
  });

  it("warnings that cdktf prints about the stacks", () => {
    const aside = join(folder, `stacks${evil.replaceAll("/", "")}`);
    mkdirSync(aside);
    const project = new Project(changedExample("aws"), { folder: aside, files: exampleOf("aws").files, shape: "none" });
    const inputs = project.inputs();
    synthesize(
      { ...inputs, warnings: [...inputs.warnings, { code: "x", message: `${evil}${forged}` }] },
      project.outdir,
    );
    const manifest = JSON.parse(readFileSync(join(project.outdir, "manifest.json"), "utf8")) as {
      stacks: Record<string, { annotations: { message: string }[] }>;
    };
    const messages = Object.values(manifest.stacks).flatMap(({ annotations }) => annotations.map((one) => one.message));
    expectClean({ stdout: messages.join("\n"), stderr: "" });
  });

  it("every gathered file", () => {
    const status = diagnose({ machines: [], unreachable: [{ machine: evil, reason: forged }] });
    const pod = { ...{ name: evil, node: evil, state: evil, ready: false, restarts: 0 }, reason: undefined, log: evil };
    const probes = [
      { machine: evil, unreachable: evil },
      { machine: "m", sections: new Map([["log", `a\r\n\t${evil}`], [evil, evil]]) }, // prettier-ignore
    ];
    const files = gatheredFiles(
      { probes, cluster: { ended: false, pods: [pod], events: [forged] }, status },
      new Date(0),
    );
    for (const [name, text] of files) expect(obeyedIn(`${name}${text}`), name).toEqual([]);
    expect(files.get("m/log.txt")).toMatch(/^a\\u000d\n\t\\u001b\]0;owned/);
    expect(files.get("cluster/events.txt")).toBe("x\\u000awarning: forged\\u000atunnel  forged\n");
    expect(JSON.parse(files.get("cluster/pods.json") ?? "")).toMatchObject([{ name: evil }]);
  });
});
