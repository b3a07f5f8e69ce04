import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makePayload } from "../../../../../src/core/bootstrap.ts";
import { readTunnel, type Tunnel } from "../../../../../src/core/konnectivity/options.ts";
import { decodeContents } from "../../../../../src/core/ignition/contents.ts";
import type { FileEntry, IgnitionConfig } from "../../../../../src/core/ignition/config.ts";
import { type PayloadRecord, recordPath } from "../../../../../src/core/ignition/record.ts";
import { fileEntry, sampleConfig, sampleText, shapes, tunnelShapes } from "../../../../../src/core/sample/sample.ts";
import { problemsOf } from "../../../../support/problems.ts";

const now = new Date("2026-11-16T12:00:00Z");
const tunnel = readTunnel(undefined);
const bootkubePath = "/usr/local/bin/bootkube.sh";
const make = (config: IgnitionConfig, options: Tunnel = tunnel) => makePayload(JSON.stringify(config), options, now);
const read = (text: string) => JSON.parse(text) as IgnitionConfig;
const filesOf = (config: IgnitionConfig) => config.storage?.files ?? [];
const recordOf = (config: IgnitionConfig) =>
  JSON.parse(
    decodeContents(filesOf(config).find(({ path }) => path === recordPath)?.contents).toString(),
  ) as PayloadRecord;

/** A sample with keys that nobody knows, at every level, in an odd order. */
function oddConfig(): IgnitionConfig {
  const { ignition, passwd, storage, systemd } = sampleConfig("4.18");
  const files = (storage?.files ?? []).map((file, index): FileEntry => {
    if (index % 2 === 1) return { zeta: { b: 1, a: [null, false, 0, ""] }, ...file, alpha: index };
    return {
      ...file,
      contents: { unknown: ["ü", "\u2028", "<&>"], ...file.contents, last: { deep: { deeper: 1.5 } } },
    };
  });
  return {
    zzz: [[], {}, ""],
    systemd,
    storage: {
      links: [{ path: "/etc/link", target: "/etc/target", hard: false }],
      files: [{ path: "/etc/first", contents: { source: "data:,%ff%00" } }, ...files, { path: "/etc/no-contents" }],
      zunknown: { "": "empty key", constructor: 1, "0": "a number as key" },
      disks: [],
    },
    passwd,
    ignition: { unknown: true, ...ignition, timeouts: { httpTotal: 30 } },
    aaa: 12345678901,
  };
}

describe.each(tunnelShapes)("a payload of %s", (shape) => {
  const before = sampleConfig(shape);
  const { text, release, bytes, sha512, originalBytes } = make(before);
  const after = read(text);

  it("keeps every entry in its place", () => {
    const old = filesOf(before);
    const kept = filesOf(after).slice(0, old.length);
    expect(kept.filter(({ path }) => path !== bootkubePath)).toEqual(old.filter(({ path }) => path !== bootkubePath));
    expect(kept.map(({ path }) => path)).toEqual(old.map(({ path }) => path));
    expect({ ...after, storage: null }).toEqual({ ...before, storage: null });
  });

  it("has new files after them, which overwrite existing ones and only root can read", () => {
    const added = filesOf(after).slice(filesOf(before).length);
    expect(added.map(({ path }) => path)).toEqual([...recordOf(after).added, recordPath]);
    for (const file of added) {
      expect(Object.keys(file)).toEqual(["path", "mode", "overwrite", "contents"]);
      expect(file.overwrite).toBe(true);
      expect(file.mode).toBe(file.path.startsWith("/usr/local/bin/") ? 0o555 : 0o600);
      expect(decodeContents(file.contents).length).toBeGreaterThan(0);
    }
  });

  it("has a record of how it was built", () => {
    const script = decodeContents(filesOf(before).find(({ path }) => path === bootkubePath)?.contents);
    expect(recordOf(after)).toMatchObject({
      release,
      options: JSON.parse(JSON.stringify(tunnel)) as object,
      bootkubeSha256: createHash("sha256").update(script).digest("hex"),
    });
  });

  it("is reported with its size and hash", () => {
    expect(bytes).toBe(Buffer.byteLength(text));
    expect(originalBytes).toBe(Buffer.byteLength(JSON.stringify(before)));
    expect(sha512).toBe(createHash("sha512").update(text).digest("hex"));
  });
});

describe("an unknown part of an Ignition config", () => {
  const before = oddConfig();
  const after = read(make(before).text);

  it("keeps its keys, their order and their values, at every level", () => {
    const old = filesOf(before);
    // Text, because toEqual does not see the order of keys.
    const rest = (config: IgnitionConfig) =>
      JSON.stringify({
        ...config,
        storage: {
          ...config.storage,
          files: filesOf(config)
            .slice(0, old.length)
            .filter(({ path }) => path !== bootkubePath),
        },
      });
    expect(rest(after)).toBe(rest(before));
  });

  it("keeps the decoded bytes of every file", () => {
    for (const [index, file] of filesOf(before).entries()) {
      const kept = filesOf(after)[index];
      expect(kept?.path).toBe(file.path);
      if (file.contents === undefined || file.path === bootkubePath) continue;
      expect(decodeContents(kept?.contents)).toEqual(decodeContents(file.contents));
    }
  });

  it("stays in the entry of bootkube.sh too", () => {
    const entry = (config: IgnitionConfig) => filesOf(config).find(({ path }) => path === bootkubePath);
    const [old, kept] = [entry(before), entry(after)];
    expect(JSON.stringify({ ...kept, contents: { ...kept?.contents, source: "" } })).toBe(
      JSON.stringify({ ...old, contents: { ...old?.contents, source: "" } }),
    );
    expect(kept?.contents?.source).not.toBe(old?.contents?.source);
  });

  it("does not change the config that it is given", () => {
    const config = oddConfig();
    make(config);
    expect(config).toEqual(oddConfig());
  });
});

describe("the bytes of a payload", () => {
  it.each(tunnelShapes)("of %s are the same every time", (shape) => {
    const first = make(sampleConfig(shape));
    const second = makePayload(sampleText(shape), readTunnel(undefined), new Date("2027-01-01T00:00:00Z"));
    expect(second.text).toBe(first.text);
    expect(second.sha512).toBe(first.sha512);
  });

  it("do not depend on the order in which options were written", () => {
    const one = readTunnel({ protocol: "http-connect", transport: "tcp", agents: { kind: "Deployment", replicas: 2 } });
    const two = readTunnel({ agents: { replicas: 2, kind: "Deployment" }, transport: "tcp", protocol: "http-connect" });
    expect(make(sampleConfig("4.18"), two).sha512).toBe(make(sampleConfig("4.18"), one).sha512);
  });

  it("do not depend on whether a default was written out", () => {
    const spelled = readTunnel({ protocol: "grpc", agents: { hostNetwork: false }, certificates: {} });
    expect(make(sampleConfig("4.18"), spelled).sha512).toBe(make(sampleConfig("4.18")).sha512);
  });

  it("depend on the options", () => {
    const other = readTunnel({ protocol: "http-connect" });
    expect(make(sampleConfig("4.18"), other).sha512).not.toBe(make(sampleConfig("4.18")).sha512);
  });

  it.each(shapes.filter((shape) => shape !== "bootstrap-in-place"))(
    "of %s are those of bootstrap.ign with the tunnel off",
    (shape) => {
      const spaced = `${JSON.stringify(sampleConfig(shape), undefined, 3)}\n\n`;
      const made = makePayload(spaced, "off", now);
      expect(made.text).toBe(spaced);
      expect(made.bytes).toBe(Buffer.byteLength(spaced));
      expect(made.firewall).toBeUndefined();
    },
  );
});

describe("a path that already exists", () => {
  const added = [...recordOf(read(make(sampleConfig("4.18")).text)).added];

  it.each(added)("is reported: %s", (path) => {
    const config = sampleConfig("4.18");
    config.storage?.files?.push(fileEntry(path, "mine\n", 0o644));
    expect(problemsOf(() => make(config))).toEqual([
      {
        code: "path-taken",
        message: `bootstrap.ign already contains ${path}, which the tunnel needs: remove it from the manifests or files that you added.`,
      },
    ]);
  });

  it("is reported with all the others", () => {
    const config = sampleConfig("4.18");
    config.storage?.files?.push(...added.map((path) => fileEntry(path, "mine\n", 0o644)));
    expect(problemsOf(() => make(config))).toHaveLength(added.length);
  });

  // Ignition refuses a config in which a file and a link (or a directory) share a path.
  it.each(["links", "directories"])("is found among the %s too", (kind) => {
    const config = sampleConfig("4.18");
    const [path] = added;
    config.storage = { ...config.storage, [kind]: [{ path, target: "/etc/hosts" }] };
    expect(problemsOf(() => make(config)).map(({ code }) => code)).toEqual(["path-taken"]);
  });

  it("is allowed with the tunnel off", () => {
    const config = sampleConfig("4.18");
    config.storage?.files?.push(fileEntry(added[0] ?? "", "mine\n", 0o644));
    expect(make(config, "off").text).toBe(JSON.stringify(config));
  });
});

it("fails with a sentence, not a stack overflow, when an unknown key is nested without end", () => {
  const deep = `{"a":`.repeat(100_000) + "1" + "}".repeat(100_000);
  const text = sampleText("4.18").replace('"passwd"', `"unknown":${deep},"passwd"`);
  expect(problemsOf(() => makePayload(text, readTunnel({}), new Date())).map(({ code }) => code)).toEqual([
    "ignition-malformed",
  ]);
});
