import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { makePayload } from "../../../../src/core/bootstrap.ts";
import { payloadVersion } from "../../../../src/core/ignition/record.ts";
import { readTunnel } from "../../../../src/core/konnectivity/options.ts";
import { pointerTo } from "../../../../src/core/ignition/pointer.ts";
import { serializeIgnition } from "../../../../src/core/ignition/serialize.ts";
import { projectFile } from "../../../../src/runtime/project-files.js";
import { command, linesOf, program, type Run, run, runIn } from "../../../support/cli.ts";
import { Project } from "../../../support/stacks.ts";
import { fixture, sampleMetadata, sampleText } from "../../../../src/core/sample/sample.ts";

const root = mkdtempSync(join(tmpdir(), "cli-"));
afterAll(() => {
  rmSync(root, { recursive: true });
});

const payload = (...args: readonly string[]) => command("payload", ...args);
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const read = (...path: string[]) => readFileSync(join(...path), "utf8");

/** A folder for one test. */
const folder = () => mkdtempSync(join(root, "test-"));

/** A folder as openshift-install leaves it. */
function installDir(text = sampleText("4.18"), metadata: string | null = JSON.stringify(sampleMetadata)): string {
  const dir = folder();
  writeFileSync(join(dir, "bootstrap.ign"), text);
  if (metadata !== null) writeFileSync(join(dir, "metadata.json"), metadata);
  return dir;
}

function configFile(text: string): string {
  const file = join(folder(), "config.yaml");
  writeFileSync(file, text);
  return file;
}

/** A run that did what it was asked: the answer on stdout, nothing to say about it. */
function expectDone({ code, stderr, stdout }: Run): void {
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout).not.toBe("");
}

/** A run that refused its input: a line for each mistake on stderr, nothing on stdout. */
function expectRefused({ code, stdout, stderr }: Run, ...messages: readonly (string | RegExp)[]): void {
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expectErrors(stderr, ...messages);
}

function expectWrongUsage({ code, stdout, stderr }: Run, ...messages: readonly (string | RegExp)[]): void {
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expectErrors(stderr, ...messages);
}

function expectErrors(stderr: string, ...messages: readonly (string | RegExp)[]): void {
  const lines = linesOf(stderr);
  expect(lines).toHaveLength(messages.length);
  for (const [index, message] of messages.entries()) {
    expect(lines[index]).toMatch(/^error: .*\.$/);
    expect(lines[index]).toMatch(message);
  }
}

describe("payload build", () => {
  it("writes payload and pointer for their owner only, and says what it did", async () => {
    const out = join(folder(), "new", "out");
    const url = "https://store.example.com/p?sig=MARKER";
    const ran = await run("payload", "build", installDir(), "--out", out, "--url", url);
    expectDone(ran);
    expect(readdirSync(out).sort()).toEqual([".gitignore", "payload.ign", "pointer.ign"]);
    expect([modeOf(out), modeOf(join(out, "payload.ign")), modeOf(join(out, "pointer.ign"))]).toEqual([
      "700",
      "600",
      "600",
    ]);
    const text = read(out, "payload.ign");
    const sha512 = createHash("sha512").update(text).digest("hex");
    expect(JSON.parse(read(out, "pointer.ign"))).toMatchObject({
      ignition: { config: { replace: { verification: { hash: `sha512-${sha512}` } } } },
    });
    for (const said of [
      `cluster   ${sampleMetadata.clusterName} (${sampleMetadata.infraID})`,
      "release   4.14-4.22, read from bootkube.sh",
      "tunnel    grpc over unix-socket, agents by mtls",
      `${join(out, "payload.ign")}  ${Buffer.byteLength(text)} bytes (${Buffer.byteLength(text) - Buffer.byteLength(sampleText("4.18"))} added)`,
      `sha512    ${sha512}`,
      `pointer   ${join(out, "pointer.ign")}`,
      "firewall  open tcp 8091",
      "holds every secret of the cluster",
    ])
      expect(ran.stdout).toContain(said);
    expect(ran.stdout).not.toContain("MARKER");
  });

  it("writes the same bytes again, over what is there, and leaves nothing else behind", async () => {
    const [dir, out] = [installDir(), folder()];
    const args = ["build", dir, "--out", out, "--url", "s3://bucket/payload.ign", "--json"];
    const first = await payload(...args);
    const before = ["payload.ign", "pointer.ign"].map((name) => read(out, name));
    const second = await payload(...args);
    expectDone(first);
    expect(second).toEqual(first);
    expect(["payload.ign", "pointer.ign"].map((name) => read(out, name))).toEqual(before);
    expect(readdirSync(out).sort()).toEqual([".gitignore", "payload.ign", "pointer.ign"]);
  });

  it.each(["SIGINT", "SIGTERM"])("finishes writing after %s", async (signal) => {
    // The signal comes from inside the write, after the bytes and before the rename: at the worst moment, every time.
    const preload = join(folder(), "signal.mjs");
    writeFileSync(
      preload,
      `import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module";
       const { fsyncSync } = fs;
       fs.fsyncSync = (file) => { fs.writeSync(2, "sent\\n"); process.kill(process.pid, "${signal}"); fsyncSync(file); };
       syncBuiltinESMExports();`,
    );
    const out = join(folder(), "out");
    const command = [program, "payload", "build", installDir(), "--out", out, "--url", "https://files.example.com/p"];
    const ended = await new Promise((resolve) => {
      execFile(process.execPath, ["--import", preload, ...command], (error, _, stderr) => {
        resolve({ code: error?.code ?? error?.signal ?? 0, stderr });
      });
    });
    // Node.js 20 ends before it would hear the signal, 22 hears it.
    expect(ended).toEqual({ code: expect.toBeOneOf([0, 130, 143]) as unknown, stderr: "sent\nsent\n" });
    expect(readdirSync(out).sort()).toEqual([".gitignore", "payload.ign", "pointer.ign"]);
    for (const file of ["payload.ign", "pointer.ign"])
      expect(() => JSON.parse(read(out, file)) as unknown).not.toThrow();
  });

  it("replaces what a killed run left half-written", async () => {
    const out = folder();
    writeFileSync(join(out, ".payload.ign.partial"), "half", { mode: 0o644 });
    expectDone(await payload("build", installDir(), "--out", out));
    expect(readdirSync(out)).toEqual([".gitignore", "payload.ign"]);
    expect(modeOf(join(out, "payload.ign"))).toBe("600");
  });

  it("prints everything that it knows with --json", async () => {
    const [dir, out] = [installDir(), join(folder(), "out")];
    const ran = await payload(
      ...["build", dir, "--out", out, "--url", "https://store.example.com/p", "--json"],
      ...["--ca-bundle", projectFile("src/core/sample/long-lived.crt")],
      ...["--https-proxy", "https://proxy.example.com", "--proxy-except", "a.example.com,b.example.com"],
      ...["--http-proxy", "http://proxy.example.com", "--timeout", "77"],
    );
    expectDone(ran);
    const text = read(out, "payload.ign");
    expect(JSON.parse(ran.stdout)).toEqual({
      formatVersion: 1,
      ok: true,
      config: null,
      source: join(dir, "bootstrap.ign"),
      cluster: { clusterName: sampleMetadata.clusterName, infraID: sampleMetadata.infraID },
      release: "4.14-4.22",
      tunnel: expect.objectContaining({ protocol: "grpc", transport: "unix-socket", release: "auto" }) as unknown,
      payload: {
        file: join(out, "payload.ign"),
        bytes: Buffer.byteLength(text),
        sha512: createHash("sha512").update(text).digest("hex"),
        addedBytes: Buffer.byteLength(text) - Buffer.byteLength(sampleText("4.18")),
      },
      pointer: { file: join(out, "pointer.ign"), bytes: Buffer.byteLength(read(out, "pointer.ign")) },
      firewall: expect.objectContaining({ direction: "ingress", protocol: "tcp", port: 8091 }) as unknown,
      errors: [],
      warnings: [],
    });
    expect(JSON.parse(read(out, "pointer.ign"))).toMatchObject({
      ignition: {
        timeouts: { httpTotal: 77 },
        proxy: {
          httpProxy: "http://proxy.example.com",
          httpsProxy: "https://proxy.example.com",
          noProxy: ["a.example.com", "b.example.com"],
        },
        security: { tls: { certificateAuthorities: [{}] } },
      },
    });
  });

  it("needs no metadata.json and no pointer", async () => {
    const ran = await payload("build", installDir(sampleText("4.18"), null), "--out", folder());
    expectDone(ran);
    expect(ran.stdout).toContain("cluster   not known (no metadata.json)");
    expect(ran.stdout).toContain("pointer   none");
  });

  it("leaves bootstrap.ign as it is with the tunnel off", async () => {
    const [out, text] = [folder(), `${sampleText("4.23-gate-on")}\n`];
    const ran = await payload("build", installDir(text), "--out", out, "--config", configFile("tunnel: off\n"));
    expectDone(ran);
    expect(read(out, "payload.ign")).toBe(text);
    expect(ran.stdout).toContain("tunnel    off: bootstrap.ign as it is");
    expect(ran.stdout).not.toContain("firewall");
  });

  it("leaves the document as it is with the installer's own tunnel, and names its rule", async () => {
    const [out, text] = [folder(), `${sampleText("4.23-gate-on")}\n`];
    const [dir, config] = [installDir(text), configFile("tunnel: installer\n")];
    const { code, stdout, stderr } = await payload("build", dir, "--out", out, "--config", config);
    expect(code).toBe(0);
    expect(linesOf(stderr)).toEqual([expect.stringMatching(/^warning: The installer's own tunnel listens on every/)]);
    expect(read(out, "payload.ign")).toBe(text);
    expect(stdout).toContain("tunnel    the installer's own: bootstrap.ign as it is");
    expect(stdout).toContain("firewall  open tcp 8091");
    const rule = await payload("firewall", dir, "--config", config, "--json");
    expect(JSON.parse(rule.stdout)).toMatchObject({
      rule: {
        port: 8091,
        sources: { networks: ["10.0.0.0/16"] },
        destination: { address: "its address in the machine network" },
      },
    });
    const inspected = await run("payload", "inspect", join(out, "payload.ign"));
    expectRefused(inspected, /with `tunnel: off` or `tunnel: installer`, the payload is an unchanged bootstrap\.ign/);
  });

  it.each([
    [
      "4.18",
      /^error: .*the installer's own tunnel is not in this bootstrap\.ign \(openshift-install has one from 4\.23 on\)/m,
    ],
    ["4.23", /^error: .*the installer's own tunnel is disabled in this bootstrap\.ign \(feature gate\)/m],
  ] as const)("refuses tunnel: installer for a document without it: %s", async (shape, sentence) => {
    const out = join(folder(), "out");
    const config = configFile("tunnel: installer\n");
    expectRefused(
      await run("payload", "build", installDir(sampleText(shape)), "--out", out, "--config", config),
      sentence,
    );
    expect(existsSync(out)).toBe(false);
  });

  it("warns on stderr, and in JSON as well", async () => {
    const bootstrapIgn = sampleText("4.12", {
      networks: { machine: ["10.0.0.0/8"], cluster: ["10.128.0.0/14"], service: ["172.30.0.0/16"] },
    });
    const { code, stdout, stderr } = await payload(
      ...["build", installDir(bootstrapIgn), "--out", folder(), "--url", "http://store.example.com/p", "--json"],
    );
    expect(code).toBe(0);
    const { warnings } = JSON.parse(stdout) as { warnings: { code: string; message: string }[] };
    expect(warnings.map((warning) => warning.code)).toEqual([
      "networks-overlap",
      "listens-on-all",
      "pointer-not-encrypted",
    ]);
    expect(linesOf(stderr)).toEqual(warnings.map(({ message }) => `warning: ${message}`));
  });

  it("warns of a pointer that names another payload, and only then", async () => {
    const [dir, out] = [installDir(), folder()];
    await payload("build", dir, "--out", out, "--url", "https://store.example.com/p");
    const pointer = read(out, "pointer.ign");
    expectDone(await payload("build", dir, "--out", out));
    const other = configFile("tunnel: {certificates: {days: 2}}\n");
    const { code, stdout, stderr } = await payload("build", dir, "--out", out, "--config", other);
    expect(code).toBe(0);
    expect(stdout).not.toContain("warning");
    expect(linesOf(stderr)).toEqual([
      `warning: ${join(out, "pointer.ign")} is from an earlier build and names another payload: build again with --url, or delete it.`,
    ]);
    expect(read(out, "pointer.ign")).toBe(pointer);
  });

  it("refuses a bootstrap.ign and creates no folder for it", async () => {
    const out = join(folder(), "out");
    const dir = installDir(sampleText("4.23-gate-on"));
    expectRefused(
      await run("payload", "build", dir, "--out", out),
      /installer's own tunnel is enabled .* set `tunnel: installer` to use the installer's/,
    );
    expect(existsSync(out)).toBe(false);
  });

  it("refuses a bootstrap.ign and leaves existing files alone", async () => {
    const [dir, out] = [installDir(sampleText("bootstrap-in-place")), folder()];
    const old = { "payload.ign": "old payload", "pointer.ign": "old pointer" };
    for (const [name, text] of Object.entries(old)) writeFileSync(join(out, name), text);
    const ran = await payload("build", dir, "--out", out, "--url", "https://store.example.com/p");
    expectRefused(ran, /bootstrap-in-place/);
    expect(Object.fromEntries(readdirSync(out).map((name) => [name, read(out, name)]))).toEqual(old);
  });

  it("writes nothing when only the pointer is wrong", async () => {
    const out = join(folder(), "out");
    const ran = await payload(
      ...["build", installDir(), "--out", out, "--url", "s3://bucket/p", "--timeout", "5", "--https-proxy", "x"],
    );
    expectWrongUsage(
      ran,
      /^error: A proxy has no effect/,
      /^error: A total timeout has no effect/,
      /The https proxy is "x"/,
    );
    expect(existsSync(out)).toBe(false);
  });

  it("names every option that needs --url", async () => {
    const args = "--ca-bundle x --http-proxy x --https-proxy x --proxy-except x --timeout 5".split(" ");
    const out = join(folder(), "out");
    const ran = await payload("build", installDir(), "--out", out, ...args);
    const options = args.filter((arg) => arg.startsWith("--"));
    expectWrongUsage(ran, ...options.map((option) => `${option} applies to the pointer`));
    expect(existsSync(out)).toBe(false);
  });

  it("reports every error in the config, each on its line", async () => {
    const config = configFile("tunnel:\n  protocol: udp\n  transprt: tcp\n  agents: {replicas: 0, kind: Pod}\n");
    expectRefused(
      await payload("build", installDir(), "--out", folder(), "--config", config),
      /tunnel\.protocol is "udp"; expected grpc or http-connect/,
      /tunnel\.agents\.kind is "Pod"; expected DaemonSet or Deployment/,
      /tunnel\.agents\.replicas is 0; expected a whole number from 1 to 100/,
      /tunnel\.transprt is not an option; .*transport/,
    );
  });

  it.each([["build", "--out", join(root, "never")], ["firewall"]])(
    "says where the options are that do not work together: %s",
    async (...command) => {
      const config = configFile("tunnel:\n  protocol: grpc\n  transport: tcp\n  agents:\n    replicas: 2\n");
      expectRefused(
        await payload(...command, installDir(sampleText("4.12")), "--config", config),
        `${config}:2:3: tunnel.protocol grpc and tunnel.transport tcp `,
        `${config}:5:5: tunnel.agents.kind DaemonSet and tunnel.agents.replicas 2 `,
      );
    },
  );

  it.each([
    [
      "a sign that is missing",
      "tunnel:\n  agents: {kind: Pod\n",
      /config\.yaml:3:1: \S+config\.yaml is not valid YAML: .*; fix the syntax there\.$/,
    ],
    ["an alias of nothing", "tunnel: *nothing\n", /config\.yaml is not valid YAML: /],
  ])("says where the config is not YAML: %s", async (_, text, message) => {
    expectRefused(await payload("build", installDir(), "--out", folder(), "--config", configFile(text)), message);
  });

  it("says which file it cannot read, why, and what to do", async () => {
    const base = folder();
    const out = ["--out", join(base, "out")];
    const [noBootstrapIgn, noBundle] = await Promise.all([
      payload("build", base, ...out),
      payload("build", installDir(), ...out, "--url", "https://store.example.com/p", "--ca-bundle", base),
    ]);
    expectRefused(
      noBootstrapIgn,
      /bootstrap\.ign cannot be read: it does not exist; use the folder in which "openshift-/,
    );
    expectRefused(noBundle, /cannot be read: it is a folder; check --ca-bundle\.$/);
    expect(readdirSync(base)).toEqual([]);
  });

  it("says where it cannot write, and writes nothing", async () => {
    const base = folder();
    writeFileSync(join(base, "file"), "mine");
    const ran = await payload("build", installDir(), "--out", join(base, "file"));
    expectRefused(ran, /file\/payload\.ign cannot be written: .*; nothing was changed\.$/);
    expect(readdirSync(base)).toEqual(["file"]);
    expect(read(base, "file")).toBe("mine");
  });

  const oddPlaces: [string, string][] = [
    ["/dev/null", "part of the path is not a folder"],
    ["/dev/null/konnectivity", "part of the path is not a folder"],
  ];
  it.each(oddPlaces)("refuses to write to %s", async (out, reason) => {
    expect(await payload("build", installDir(), "--out", out)).toEqual({
      code: 1,
      stdout: "",
      stderr: `error: ${out}/payload.ign cannot be written: ${reason}; nothing was changed.\n`,
    });
  });

  it("leaves none of the folders that it created, if one cannot be created", async () => {
    const base = folder();
    symlinkSync(join(base, "nowhere"), join(base, "link"));
    expectRefused(
      await payload("build", installDir(), "--out", join(base, "link")),
      /link\/payload\.ign cannot be written: something of that name already exists; nothing was changed\.$/,
    );
    const long = join(base, "new", "x".repeat(300));
    expectRefused(
      await payload("build", installDir(), "--out", long),
      /payload\.ign cannot be written: a name in its path is too long; nothing was changed\.$/,
    );
    expect(readdirSync(base)).toEqual(["link"]);
  });

  it("writes both files or none", async () => {
    const out = folder();
    writeFileSync(join(out, "payload.ign"), "old payload");
    mkdirSync(join(out, "pointer.ign"));
    const ran = await payload("build", installDir(), "--out", out, "--url", "https://store.example.com/p");
    expectRefused(ran, /pointer\.ign cannot be written: it is a folder; nothing was changed\.$/);
    expect(read(out, "payload.ign")).toBe("old payload");
    expect(readdirSync(out).sort()).toEqual(["payload.ign", "pointer.ign"]);
  });

  it("does not fail after it wrote: an old pointer that cannot be read", async () => {
    const out = folder();
    mkdirSync(join(out, "pointer.ign"));
    const { code, stdout, stderr } = await payload("build", installDir(), "--out", out);
    const written = existsSync(join(out, "payload.ign"));
    expect({ code, written, answered: stdout !== "" }).toEqual(
      code === 0 ? { code, written: true, answered: true } : { code: 1, written: false, answered: false },
    );
    for (const line of linesOf(stderr)) expect(line).toMatch(/^(warning|error): .*[\w)"]\.$/);
  });
});

describe("payload inspect", () => {
  const built = makePayload(sampleText("4.18"), readTunnel(undefined), new Date("2026-11-16T12:00:00Z"));
  const { sha512 } = built;

  it("shows a payload, as text and as JSON", async () => {
    const file = join(folder(), "payload.ign");
    writeFileSync(file, built.text);
    const [text, json] = await Promise.all([payload("inspect", file), payload("inspect", file, "--json")]);
    expectDone(text);
    expectDone(json);
    const found = JSON.parse(json.stdout) as { added: { path: string }[]; diff: string };
    expect(found).toMatchObject({ kind: "payload", sha512, record: { release: "4.14-4.22" } });
    expect(text.stdout).toMatch(new RegExp(`^payload   version ${payloadVersion}, for release 4\\.14-4\\.22\n`));
    expect(text.stdout).toContain(sha512);
    for (const { path } of found.added) expect(text.stdout).toContain(`  ${path} `);
    for (const line of found.diff.split("\n")) expect(text.stdout).toContain(line.trimEnd());
  });

  it("shows a pointer without the secret part of its URL", async () => {
    const file = join(folder(), "pointer.ign");
    const url = "https://user:MARKER@store.example.com/p?sig=MARKER";
    writeFileSync(file, serializeIgnition(pointerTo({ url, sha512 }).config).text);
    const ran = await payload("inspect", file);
    expectDone(ran);
    expect(ran.stdout).not.toContain("MARKER");
    expect(ran.stdout).toContain("source    https://…@store.example.com/p?…\n");
    expect(ran.stdout).toContain(`hash      sha512-${sha512}\n`);
    expect(ran.stdout).toContain("time-out  1800 s\n");
  });

  it("refuses what it cannot show", async () => {
    const [dir, damaged] = [installDir(), join(folder(), "damaged.ign")];
    writeFileSync(damaged, built.text.replace('/konnectivity-bootstrap/settings.sh"', '/elsewhere/settings.sh"'));
    const [plain, changed] = await Promise.all([
      payload("inspect", join(dir, "bootstrap.ign")),
      payload("inspect", damaged),
    ]);
    expectRefused(plain, /bootstrap\.ign is neither a pointer nor a payload/);
    expectRefused(changed, /damaged\.ign was changed after it was built: .*settings\.sh is missing; build it again\.$/);
  });
});

describe("payload firewall", () => {
  it("prints the rule as YAML and as JSON, the same", async () => {
    const dir = installDir();
    const [text, json] = await Promise.all([payload("firewall", dir), payload("firewall", dir, "--json")]);
    expectDone(text);
    expectDone(json);
    const answer = JSON.parse(json.stdout) as unknown;
    expect(answer).toEqual({ formatVersion: 1, ok: true, ...(parse(text.stdout) as object), errors: [], warnings: [] });
    const plain = await payload("firewall", dir, "--format", "json");
    expect(JSON.parse(plain.stdout)).toEqual(parse(text.stdout));
    expect(answer).toMatchObject({
      cluster: sampleMetadata.infraID,
      rule: { direction: "ingress", protocol: "tcp", port: 8091, sources: { networks: ["10.0.0.0/16"] } },
    });
    expect(readdirSync(dir).sort()).toEqual(["bootstrap.ign", "metadata.json"]);
  });

  it("warns on stderr of what makes the rule doubtful", async () => {
    const networks = { machine: [], cluster: ["10.128.0.0/14"], service: ["10.128.0.0/16"] };
    const { code, stderr } = await payload("firewall", installDir(sampleText("4.18", { networks })));
    expect(code).toBe(0);
    expect(linesOf(stderr)).toEqual([
      expect.stringContaining("does not contain the machine networks"),
      expect.stringContaining("overlap"),
    ]);
  });

  it("says that no rule is needed with the tunnel off", async () => {
    const ran = await payload("firewall", installDir(), "--config", configFile("tunnel: off\n"));
    expectDone(ran);
    expect(parse(ran.stdout)).toBeNull();
    expect(ran.stdout).toContain("no rule is needed");
  });
});

describe("the config file of payload commands", () => {
  const environment = { ...process.env, KONNECTIVITY_CONFIG: undefined };
  const project = new Project({ tunnel: { port: 9345 } });
  const other = installDir();
  afterAll(() => {
    project.remove();
  });
  const inProject = (...args: string[]) => runIn(project.folder, environment, "payload", ...args);

  it("is used by build, which names it and the bootstrap.ign, and finds the install folder in it", async () => {
    const ran = await inProject("build", "--out", "out");
    expectDone(ran);
    expect(ran.stdout).toMatch(/^config {4}konnectivity\.yaml\nsource {4}ocp\/bootstrap\.ign\n/);
    const { options } = (
      JSON.parse((await inProject("inspect", "out/payload.ign", "--json")).stdout) as {
        record: { options: object };
      }
    ).record;
    expect(options).toMatchObject({ port: 9345 });
  });

  it("is left out with --no-config: the payload is that of the defaults", async () => {
    const ran = await inProject("build", "ocp", "--no-config", "--out", "plain", "--json");
    expectDone(ran);
    const { sha512 } = makePayload(sampleText("4.18"), readTunnel({}), new Date());
    expect(JSON.parse(ran.stdout)).toMatchObject({ config: null, payload: { sha512 } });
  });

  it("is named on stderr beside commands for a shell, unless --config names it", async () => {
    const found = await inProject("firewall", "--format", "nft");
    expect(found).toMatchObject({ code: 0, stderr: "config    konnectivity.yaml\n" });
    expect(found.stdout).toContain("9345");
    const named = await payload("firewall", "--format", "nft", "--config", project.configFile);
    expect(named.stderr).toBe("");
    expect(named.stdout).toContain("9345");
  });

  it("names an install folder: another one is used with a warning, and the same one without", async () => {
    const ran = await payload("firewall", other, "--config", project.configFile);
    expect(ran.code).toBe(0);
    expect(parse(ran.stdout)).toMatchObject({ config: project.configFile, source: join(other, "bootstrap.ign") });
    expect(linesOf(ran.stderr)).toEqual([
      expect.stringMatching(
        /^warning: The install folder of \S+konnectivity\.yaml is \S+ocp, which also has a bootstrap/,
      ),
    ]);
    const link = join(folder(), "link");
    symlinkSync(join(project.folder, "ocp"), link);
    expectDone(await payload("firewall", link, "--config", project.configFile));
  });

  it("without one, the install folder must be given", async () => {
    for (const words of [["firewall"], ["build", "--out", "x"]]) {
      const { code, stdout, stderr } = await payload(...words, "--no-config");
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain("error: name the install folder: there is no config file that names one\n");
    }
  });

  it("has its errors reported with those of the install folder", async () => {
    const file = configFile("tunnel:\n  protocol: carrier-pigeon\ninstallDir: 5\n");
    expectRefused(
      await payload("build", folder(), "--out", folder(), "--config", file),
      /config\.yaml:3:1: installDir is 5/,
      /config\.yaml:2:3: tunnel\.protocol is "carrier-pigeon"/,
      /bootstrap\.ign cannot be read: it does not exist/,
    );
  });

  it("is compared with a payload by inspect: an option that differs is shown", async () => {
    const out = folder();
    expectDone(await payload("build", other, "--no-config", "--out", out));
    const file = join(out, "payload.ign");
    const compare = async (text: string) => {
      const named = configFile(text);
      const { code, stdout, stderr } = await payload("inspect", file, "--config", named);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const lines = stdout.slice(0, stdout.indexOf("\n\noptions")).replaceAll(named, "FILE").split("\n");
      const { config, differences } = JSON.parse(
        (await payload("inspect", file, "--config", named, "--json")).stdout,
      ) as {
        config: string;
        differences: object[];
      };
      expect(config).toBe(named);
      return [lines.slice(lines.findIndex((line) => line.startsWith("config"))), differences];
    };
    const same = "config    FILE: the payload has the tunnel options of this file";
    const differs = "config    FILE: the tunnel options differ; to use those of the file, build the payload again";
    expect(await compare("{}\n")).toEqual([[same], []]);
    // The port of a machine that openshift-install creates.
    expect(await compare("tunnel: { port: 8091 }\n")).toEqual([[same], []]);
    expect(await compare("tunnel: { agents: { kind: Deployment } }\n")).toEqual([
      [differs, '  tunnel.agents.kind: "DaemonSet" in the payload, "Deployment" in the file'],
      [{ option: "tunnel.agents.kind", payload: "DaemonSet", config: "Deployment" }],
    ]);
    expect(await compare("tunnel: off\n")).toEqual([
      [differs, '  tunnel: "on" in the payload, "off" in the file'],
      [{ option: "tunnel", payload: "on", config: "off" }],
    ]);
  });

  it("is not compared without one, nor with a pointer", async () => {
    const out = folder();
    expectDone(await payload("build", other, "--no-config", "--out", out, "--url", "s3://bucket/payload.ign"));
    const none = await payload("inspect", join(out, "payload.ign"), "--no-config", "--json");
    expect(JSON.parse(none.stdout)).toMatchObject({ config: null, differences: null });
    const broken = configFile("[");
    expectDone(await payload("inspect", join(out, "pointer.ign"), "--config", broken));
    expectRefused(await payload("inspect", join(out, "payload.ign"), "--config", broken), /is not valid YAML/);
  });
});

describe("usage", () => {
  it.each([
    [["--help"], ["payload"]],
    [
      ["payload", "--help"],
      ["build", "inspect", "firewall"],
    ],
    [
      ["payload", "build", "--help"],
      ["--out", "--config", "--url", "--ca-bundle", "--timeout", "--json"],
    ],
    [
      ["payload", "inspect", "--help"],
      ["<file>", "--json"],
    ],
    [
      ["payload", "firewall", "--help"],
      ["[install-dir]", "--config", "--no-config", "--json"],
    ],
  ])("is shown by %j", async (args, words) => {
    const ran = await command(...args);
    expectDone(ran);
    expect(ran.stdout).toMatch(/^Usage: konnectivity-bootstrap /);
    for (const word of words) expect(ran.stdout).toContain(word);
  });

  it("has a version", async () => {
    const { version } = JSON.parse(read(projectFile("package.json"))) as {
      version: string;
    };
    expect(await run("--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  it.each([
    [[], /^Usage:/],
    [["payload", "nothing"], /unknown command 'nothing'/],
    [["payload", "build", "dir"], /required option '--out <dir>' not specified/],
    [["payload", "build", "dir", "--out", "x", "--timeout", "soon"], /Give whole seconds above 0/],
  ])("is wrong with %j: code 2, and the help to read", async (args, message) => {
    const { code, stdout, stderr } = await command(...args);
    expect(stdout).toBe("");
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/--help/);
  });

  it("is wrong for the program as it is for its commands", async () => {
    expect(await run("payload", "nothing")).toEqual(await command("payload", "nothing"));
  });
});

describe("an expired bootstrap.ign", () => {
  it("is built, with a warning on stderr that says since when", async () => {
    // The fixture's certificate lives for one day.
    const dir = installDir(sampleText("4.18", { certificate: fixture("one-day.crt") }));
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2027-01-01T00:00:00Z") });
    const ran = await payload("build", dir, "--out", folder()).finally(() => vi.useRealTimers());
    expect(linesOf(ran.stderr)).toEqual([
      expect.stringMatching(/^warning: bootstrap\.ign contains an expired certificate \(\S+, 2026-11-17T/),
    ]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).not.toContain("expired");
  });
});
