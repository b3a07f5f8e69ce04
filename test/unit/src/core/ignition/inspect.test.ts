import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { outputTo } from "../../../../../src/cli/output.ts";
import { payloadCommand } from "../../../../../src/cli/payload.ts";
import { describePayload } from "../../../../../src/cli/payload-text.ts";
import { inspect, makePayload } from "../../../../../src/core/bootstrap.ts";
import { readTunnel } from "../../../../../src/core/konnectivity/options.ts";
import { decodeContents, encodeContents, replaceContents } from "../../../../../src/core/ignition/contents.ts";
import type { FileEntry, IgnitionConfig } from "../../../../../src/core/ignition/config.ts";
import type { InspectedPayload } from "../../../../../src/core/ignition/inspect.ts";
import { pointerTo } from "../../../../../src/core/ignition/pointer.ts";
import { type PayloadRecord, recordPath } from "../../../../../src/core/ignition/record.ts";
import { serializeIgnition } from "../../../../../src/core/ignition/serialize.ts";
import { UserError } from "../../../../../src/core/errors.ts";
import { fileEntry, fixture, sampleConfig, sampleText, tunnelShapes } from "../../../../../src/core/sample/sample.ts";
import { installInfoPath, rewrittenByInstaller } from "../../../../support/installer-rewrite.ts";
import { problemsOf } from "../../../../support/problems.ts";

const now = new Date("2026-11-16T12:00:00Z");
const tunnel = readTunnel(undefined);
const bootkubePath = "/usr/local/bin/bootkube.sh";
const read = (text: string) => JSON.parse(text) as IgnitionConfig;
const filesOf = (config: IgnitionConfig) => config.storage?.files ?? [];

function inspectPayload(text: string): InspectedPayload {
  const found = inspect(text, "payload.ign");
  if (found.kind !== "payload") throw new Error("this is a pointer");
  return found;
}

const scriptIn = (text: string) =>
  decodeContents(filesOf(read(text)).find(({ path }) => path === bootkubePath)?.contents).toString();

describe.each(tunnelShapes)("a payload of %s", (shape, release) => {
  const original = sampleText(shape);
  const payload = makePayload(original, tunnel, now);
  const found = inspectPayload(payload.text);

  it("is shown with its size, hash, release and options", () => {
    expect(found).toMatchObject({
      bytes: payload.bytes,
      sha512: payload.sha512,
      record: { release, options: JSON.parse(JSON.stringify(tunnel)) as unknown },
    });
  });

  it("has a record of its options, which is read in 0.1.0's words too", () => {
    expect(found.record.options).toMatchObject({ image: "release", port: 8091 });
    const config = read(payload.text);
    const record = filesOf(config).find(({ path }) => path === recordPath);
    if (record?.contents === undefined) throw new Error("the payload has no record");
    const recorded = JSON.parse(decodeContents(record.contents).toString()) as { options: Record<string, unknown> };
    const { port: _, ...options } = recorded.options;
    const ofThen = { ...recorded, version: "0.1.0", options: { ...options, image: "payload" } };
    record.contents = replaceContents(record.contents, Buffer.from(JSON.stringify(ofThen)));
    expect(inspect(JSON.stringify(config), "payload.ign")).toMatchObject({
      record: { version: "0.1.0", options: { image: "release", port: 8091 } },
    });
  });

  it("is shown with the bytes that the tunnel really adds", () => {
    expect(found.addedBytes).toBe(Buffer.byteLength(payload.text) - Buffer.byteLength(original));
  });

  it("is shown with every file that was not there before", () => {
    const before = new Set(filesOf(read(original)).map(({ path }) => path));
    const added = filesOf(read(payload.text)).filter(({ path }) => !before.has(path));
    expect(found.added).toHaveLength(added.length);
    expect(found.added).toMatchObject(
      added.map((file) => ({
        path: file.path,
        mode: (file.mode ?? 0).toString(8).padStart(4, "0"),
        bytes: decodeContents(file.contents).length,
        stored: JSON.stringify(file).length + 1,
      })),
    );
  });

  it("that openshift-install has written again is shown with what is unchanged and what was added", () => {
    const again = inspectPayload(rewrittenByInstaller(payload.text));
    expect(again).toMatchObject({
      record: found.record,
      diff: found.diff,
      sinceBuild: { rewritten: true, filesAdded: [installInfoPath] },
    });
    expect(again.added.map(({ path, mode, bytes }) => [path, mode, bytes])).toEqual(
      found.added.map(({ path, mode, bytes }) => [path, mode, bytes]),
    );
    expect(again.sha512).not.toBe(found.sha512);
    const text = describePayload(again);
    expect(text).toContain("unchanged the tunnel's files and its lines in bootkube.sh");
    expect(text).toContain("changed   the order of keys: the payload was written again after the build");
    expect(text).toContain(`added     ${installInfoPath}, after the build`);
  });

  it("that Go has marshalled, with an empty `replace`, is not taken for a pointer", () => {
    const config = read(payload.text);
    const text = JSON.stringify({
      ...config,
      ignition: { config: { replace: { verification: {} } }, version: "3.2.0" },
    });
    expect(inspect(text, "payload.ign")).toMatchObject({ kind: "payload" });
  });

  it("is shown as it was built where nobody has written it again", () => {
    expect(found.sinceBuild).toEqual({ rewritten: false, filesAdded: [] });
    expect(describePayload(found)).not.toMatch(/^(unchanged|changed|added) {3}/m);
  });

  it("that was changed in the tunnel after openshift-install wrote it is refused", () => {
    const config = read(rewrittenByInstaller(payload.text));
    const [first = ""] = found.record.added;
    const changed = filesOf(config).map((file) =>
      file.path === first ? { ...file, contents: encodeContents("mine") } : file,
    );
    const text = JSON.stringify({ ...config, storage: { ...config.storage, files: changed } });
    expect(problemsOf(() => inspect(text, "payload.ign")).map(({ code }) => code)).toEqual(["payload-damaged"]);
  });

  it("is shown with a diff that only adds", () => {
    const lines = found.diff.split("\n").slice(2);
    expect(lines.filter((line) => line.startsWith("-"))).toEqual([]);
    expect(lines.filter((line) => line.startsWith("@@"))).toHaveLength(4);
  });
});

describe("a pointer", () => {
  const sha512 = "0".repeat(128);

  it("is shown with all its settings", () => {
    const { text, bytes } = serializeIgnition(
      pointerTo({
        url: "https://store.example.com/p",
        sha512,
        caBundle: fixture("long-lived.crt"),
        proxy: { https: "https://proxy.example.com" },
        totalTimeoutSeconds: 77,
      }).config,
    );
    expect(inspect(text, "pointer.ign")).toEqual({
      kind: "pointer",
      bytes,
      source: "https://store.example.com/p",
      hash: `sha512-${sha512}`,
      totalTimeoutSeconds: 77,
      proxy: true,
      caBundle: true,
    });
  });

  it("is shown without settings that it does not have", () => {
    const { text } = serializeIgnition(pointerTo({ url: "s3://bucket/p", sha512 }).config);
    expect(inspect(text, "pointer.ign")).toMatchObject({
      totalTimeoutSeconds: undefined,
      proxy: false,
      caBundle: false,
    });
  });

  it("without source and hash is shown as such", () => {
    const text = JSON.stringify({ ignition: { version: "3.2.0", config: { replace: {} } } });
    expect(inspect(text, "pointer.ign")).toMatchObject({ source: "missing", hash: "missing" });
  });
});

describe("what is neither", () => {
  it.each([
    ["a bootstrap.ign", sampleText("4.18")],
    ["a payload with the tunnel off", makePayload(sampleText("4.18"), "off", now).text],
    ["text", "hello"],
    ["a payload that is cut off", makePayload(sampleText("4.18"), tunnel, now).text.slice(0, -100)],
    ["other JSON", "{}"],
    ["an empty config", '{"ignition":{"version":"3.2.0"}}'],
    ["a pointer of openshift-install", '{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://x/"}]}}}'],
  ])("is refused: %s", (_, text) => {
    expect(problemsOf(() => inspect(text, "some.ign"))).toEqual([
      { code: "not-a-payload", message: expect.stringMatching(/^some\.ign is neither/) as string, file: "some.ign" },
    ]);
  });
});

describe("a payload that was changed", () => {
  const { text } = makePayload(sampleText("4.18"), tunnel, now);
  const changed = (path: string, change: (file: FileEntry) => FileEntry | undefined) => {
    const config = read(text);
    const files = filesOf(config).flatMap((file) => (file.path === path ? (change(file) ?? []) : file));
    return JSON.stringify({ ...config, storage: { ...config.storage, files } });
  };
  const changedScript = (change: (script: string) => string) =>
    changed(bootkubePath, (file) => ({ ...file, contents: encodeContents(change(scriptIn(text))) }));
  const changedRecord = (change: (record: PayloadRecord) => unknown) =>
    changed(recordPath, (file) => {
      const record = JSON.parse(decodeContents(file.contents).toString()) as PayloadRecord;
      return { ...file, contents: encodeContents(JSON.stringify(change(record))) };
    });
  const settings = "/opt/openshift/konnectivity-bootstrap/settings.sh";
  const notOurs = "bootkube.sh is not the installer's script with the tunnel's lines";

  it.each<readonly [string, string, string]>([
    ["a file is gone", changed(settings, () => undefined), `${settings} is missing`],
    ["bootkube.sh is gone", changed(bootkubePath, () => undefined), `${bootkubePath} is missing`],
    [
      "a file is broken",
      changed(settings, (file) => ({ ...file, contents: { source: "data:;base64,abc" } })),
      `${settings} cannot be decoded (its base64 is invalid)`,
    ],
    [
      "a file says something else",
      changed(settings, (file) => ({ ...file, contents: encodeContents("exit 0\n") })),
      "a file of the tunnel differs from what was built",
    ],
    [
      "a file has another mode",
      changed(settings, (file) => ({ ...file, mode: 0o777 })),
      "a file of the tunnel differs from what was built",
    ],
    ["a file has no contents", changed(settings, ({ path }) => ({ path })), `${settings} cannot be decoded`],
    ["an inserted line is gone", changedScript((script) => script.replace("tunnel_agents\n", "")), notOurs],
    [
      "an insertion is gone",
      changedScript((script) => script.replace(/# konnectivity-bootstrap: remove the tunnel\n.*\n/, "")),
      notOurs,
    ],
    [
      "an inserted line is another",
      changedScript((script) => script.replace("tunnel_setup", "tunnel_nothing")),
      notOurs,
    ],
    [
      "a line of the installer's is another",
      changedScript((script) => script.replace("set -euoE", "set -uoE")),
      notOurs,
    ],
    ["a line was added", changedScript((script) => `${script}true\n`), notOurs],
    ["the script is empty", changedScript(() => ""), notOurs],
    [
      "an insertion stands elsewhere",
      changedScript((script) => {
        const line = "# konnectivity-bootstrap: the tunnel's agents\ntunnel_agents\n\n";
        return `${script.replace(line, "")}${line}`;
      }),
      "",
    ],
    ["the record's hash is another", changedRecord((record) => ({ ...record, bootkubeSha256: "00" })), notOurs],
    [
      "the record's insertion is another",
      changedRecord((record) => ({ ...record, insertions: { ...record.insertions, setup: "x\n" } })),
      notOurs,
    ],
    ["the record has no insertions", changedRecord((record) => ({ ...record, insertions: {} })), ""],
    [
      "the record's insertions are numbers",
      changedRecord((record) => ({ ...record, insertions: { setup: 1, render: 2, manifests: 3, cleanup: 4 } })),
      "",
    ],
    [
      "the record names a file that is not there",
      changedRecord((record) => ({ ...record, added: [...record.added, "/etc/more"] })),
      "/etc/more is missing",
    ],
    ["the record has no list of files", changedRecord(({ added: _added, ...record }) => record), ""],
    ["the record's list of files is none", changedRecord((record) => ({ ...record, added: 5 })), ""],
  ])("is refused when %s", (_, damaged, detail) => {
    const problems = problemsOf(() => inspect(damaged, "some.ign"));
    expect(problems.map(({ code }) => code)).toEqual(["payload-damaged"]);
    expect(problems[0]?.message).toMatch(/^some\.ign was changed after it was built: .*; build it again\.$/);
    expect(problems[0]?.message).toContain(detail);
  });

  it.each<readonly [string, string]>([
    ["is broken", changed(recordPath, (file) => ({ ...file, contents: { source: "data:;base64,abc" } }))],
    ["is no JSON", changed(recordPath, (file) => ({ ...file, contents: { source: "data:,{" } }))],
    ["is a list", changedRecord(() => [])],
    ["is gone", changed(recordPath, () => undefined)],
  ])("is not taken for a payload when the record %s", (_, damaged) => {
    expect(problemsOf(() => inspect(damaged, "some.ign")).map(({ code }) => code)).toEqual(["not-a-payload"]);
  });
});

describe("no secret", () => {
  // Short: V8 quotes ten characters around a syntax error.
  const marker = "MK-7f3a";
  const encoded = Buffer.from(marker).toString("base64").slice(0, 8);

  /** Secrets where a real bootstrap.ign has them; files of ours contain none. */
  function configWithSecrets(): IgnitionConfig {
    const config = sampleConfig("4.18");
    const secret = (path: string) => fileEntry(path, `${marker}\n`.repeat(3), 0o600);
    const plain = (path: string): FileEntry => ({ path, contents: { source: `data:,${marker}` } });
    config.storage?.files?.push(
      secret("/opt/openshift/tls/kube-apiserver-lb-signer.key"),
      plain("/opt/openshift/tls/root-ca.key"),
      secret("/opt/openshift/openshift/99_kubeadmin-password-secret.yaml"),
      plain("/root/.docker/config.json"),
      { path: "/etc/broken", contents: { source: `${marker}:${marker}` } },
    );
    const files = filesOf(config).map((file) =>
      file.path === "/opt/openshift/auth/kubeconfig" ? secret(file.path) : file,
    );
    return {
      ...config,
      storage: { files },
      passwd: { users: [{ name: "core", passwordHash: marker, sshAuthorizedKeys: [marker] }] },
      systemd: { units: [{ name: "a.service", contents: marker }] },
    };
  }

  /** What a command prints and throws, together. */
  function run(...args: string[]): string {
    const said: string[] = [];
    const stream = { write: (text: string | Uint8Array) => said.push(String(text)) > 0 };
    const output = outputTo(stream, stream);
    const command = payloadCommand(output);
    try {
      command.parse(args, { from: "user" });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      said.push(error.message, JSON.stringify(error.problems));
    }
    output.end({ exitCode: 0, errors: [], json: "document" });
    expect(said.join("")).not.toBe("");
    return said.join("\n");
  }

  const expectNoSecret = (text: string) => {
    expect(text).not.toContain(marker);
    expect(text).not.toContain(encoded);
  };

  it("comes out of a payload", () => {
    const { text } = makePayload(JSON.stringify(configWithSecrets()), tunnel, now);
    expect(text).toContain(marker);
    expectNoSecret(JSON.stringify(inspect(text, "payload.ign")));
  });

  it("comes out of a command", () => {
    const folder = mkdtempSync(join(tmpdir(), "secret-"));
    try {
      writeFileSync(join(folder, "bootstrap.ign"), JSON.stringify(configWithSecrets()));
      const out = join(folder, "out");
      for (const args of [
        ["build", folder, "--out", out, "--url", `https://store.example.com/p?sig=${marker}`],
        ["build", folder, "--out", out, "--json"],
        ["inspect", join(out, "payload.ign")],
        ["inspect", join(out, "payload.ign"), "--json"],
        ["inspect", join(out, "pointer.ign")],
        ["inspect", join(out, "pointer.ign"), "--json"],
        ["inspect", join(folder, "bootstrap.ign")],
        ["firewall", folder],
        ["firewall", folder, "--json"],
      ])
        expectNoSecret(run(...args));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("comes out of an error, wherever the text is truncated", () => {
    const text = JSON.stringify(configWithSecrets());
    const { text: payload } = makePayload(text, tunnel, now);
    for (let at = text.indexOf(marker); at >= 0; at = text.indexOf(marker, at + 1)) {
      const [quote, end] = [text.lastIndexOf('"', at), at + marker.length];
      const broken = [
        text.slice(0, end),
        `${text.slice(0, end)}"x${text.slice(at)}`,
        text.slice(0, quote) + text.slice(quote + 1),
      ];
      for (const config of broken) {
        const problems = problemsOf(() => makePayload(config, tunnel, now));
        expect(problems.map(({ code }) => code)).toEqual(["ignition-not-json"]);
        expectNoSecret(problems.map(({ message }) => message).join("\n"));
      }
    }
    for (const [index] of filesOf(read(payload)).entries()) {
      for (const part of [
        { contents: marker },
        { path: [marker] },
        { contents: { source: `${marker},%` } },
        { contents: { source: `data:;base64,${marker}` } },
        { contents: { source: "data:,x", compression: marker } },
      ]) {
        for (const [config, act] of [
          [configWithSecrets(), makePayload],
          [read(payload), inspect],
        ] as const) {
          const files = filesOf(config);
          if (files[index] !== undefined) Object.assign(files[index], part);
          const changed = JSON.stringify(config);
          const problems = problemsOf(() =>
            act === inspect ? inspect(changed, "f") : makePayload(changed, tunnel, now),
          );
          expectNoSecret(problems.map(({ message }) => message).join("\n"));
        }
      }
    }
  });

  it("comes out of another Ignition config that looks like a pointer", () => {
    const text = JSON.stringify({ ignition: { version: "3.2.0", config: { replace: { source: `data:,${marker}` } } } });
    let said: string;
    try {
      said = JSON.stringify(inspect(text, "pointer.ign"));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      said = error.message;
    }
    expectNoSecret(said);
  });
});
