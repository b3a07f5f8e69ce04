import { X509Certificate } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { makePayload } from "../../../../../src/core/bootstrap.ts";
import { readTunnel } from "../../../../../src/core/konnectivity/options.ts";
import { type Bootstrap, checkBootstrap } from "../../../../../src/core/ignition/check.ts";
import type { FileEntry, IgnitionConfig } from "../../../../../src/core/ignition/config.ts";
import { parseIgnition, specVersions } from "../../../../../src/core/ignition/config.ts";
import { recordPath } from "../../../../../src/core/ignition/record.ts";
import type { Networks } from "../../../../../src/core/sample/networks.ts";
import { fileEntry, fixture, sampleConfig, sampleText, type Shape } from "../../../../../src/core/sample/sample.ts";
import { problemsOf } from "../../../../support/problems.ts";

const now = new Date("2026-11-16T12:00:00Z");
const tunnel = readTunnel(undefined);
const bootkubePath = "/usr/local/bin/bootkube.sh";
const clusterConfigPath = "/opt/openshift/manifests/cluster-config.yaml";

const codesOf = (act: () => unknown) => problemsOf(act).map(({ code }) => code);
const check = (config: IgnitionConfig, at = now): Bootstrap =>
  checkBootstrap(parseIgnition(JSON.stringify(config)), at);
const make = (config: IgnitionConfig) => makePayload(JSON.stringify(config), tunnel, now);

/** A sample with its files changed. */
function sampleWith(change: (files: FileEntry[]) => FileEntry[], shape: Shape = "4.18"): IgnitionConfig {
  const config = sampleConfig(shape);
  return { ...config, storage: { ...config.storage, files: change(config.storage?.files ?? []) } };
}

const edit = (path: string, change: (file: FileEntry) => FileEntry) => (files: FileEntry[]) =>
  files.map((file) => (file.path === path ? change(file) : file));

describe("an Ignition config that gets no tunnel", () => {
  it("is one for bootstrap-in-place", () => {
    expect(codesOf(() => make(sampleConfig("bootstrap-in-place")))).toEqual(["bootstrap-in-place"]);
    // With the tunnel off as well: it is not a bootstrap machine.
    expect(codesOf(() => makePayload(sampleText("bootstrap-in-place"), "off", now))).toEqual(["bootstrap-in-place"]);
  });

  it("is one without bootkube.sh", () => {
    const config = sampleWith((files) => files.filter(({ path }) => path !== bootkubePath));
    expect(problemsOf(() => check(config))).toEqual([
      { code: "bootkube-missing", message: expect.stringContaining(bootkubePath) as string },
    ]);
  });

  it.each([
    ["no storage", { ignition: { version: "3.2.0" } }],
    ["no files", { ignition: { version: "3.2.0" }, storage: {} }],
    ["an empty list of files", { ignition: { version: "3.2.0" }, storage: { files: [] } }],
  ])("is one with %s", (_, config) => {
    expect(codesOf(() => check(config))).toEqual(["bootkube-missing"]);
  });

  it("is one with bootkube.sh twice", () => {
    const config = sampleWith((files) => [...files, ...files.filter(({ path }) => path === bootkubePath)]);
    expect(problemsOf(() => check(config))).toEqual([
      { code: "bootkube-repeated", message: expect.stringContaining("contains 2 entries") as string },
    ]);
  });

  it.each([
    ["without contents", {}, "no contents.source"],
    ["with broken base64", { contents: { source: "data:;base64,abc" } }, "base64 is invalid"],
    ["with bytes that are not UTF-8", { contents: { source: "data:,%ff%fe" } }, "not UTF-8"],
    ["at another place", { contents: { source: "https://example.com/?secret" } }, "not a data URL (https:)"],
    ["with parts to append", { contents: { source: "data:,x" }, append: [{ source: "data:,y" }] }, "`append`"],
    ["with an unknown compression", { contents: { source: "data:,x", compression: "xz" } }, "compression"],
  ])("is one with a bootkube.sh %s", (_, entry, reason) => {
    const config = sampleWith(edit(bootkubePath, ({ path }) => ({ path, ...entry })));
    const [problem, ...more] = problemsOf(() => check(config));
    expect(more).toEqual([]);
    expect(problem?.code).toBe("bootkube-undecodable");
    expect(problem?.message).toContain(reason);
    expect(problem?.message).not.toContain("secret");
  });

  it("treats an empty list of parts to append as none", () => {
    expect(codesOf(() => make(sampleWith(edit(bootkubePath, (file) => ({ ...file, append: [] })))))).toEqual([]);
  });

  it("is a payload that is already built, and names the version that built it", () => {
    const again = JSON.parse(make(sampleConfig("4.18")).text) as IgnitionConfig;
    expect(problemsOf(() => make(again))).toEqual([
      {
        code: "already-built",
        message: expect.stringMatching(/built by konnectivity-bootstrap \d+\.\d+\.\d+: use/) as string,
      },
    ]);
    const damaged = sampleWith((files) => [...files, fileEntry(recordPath, "{", 0o600)]);
    expect(problemsOf(() => make(damaged))).toEqual([
      { code: "already-built", message: expect.stringContaining("(version not readable)") as string },
    ]);
  });

  it.each(["2.2.0", "3.6.0-experimental", "4.0.0", "", "x".repeat(100)])("is one of Ignition spec %j", (version) => {
    const [problem] = problemsOf(() => make(sampleConfig("4.18", { version })));
    expect(problem?.code).toBe("ignition-spec-unknown");
    expect(problem?.message).toContain(JSON.stringify(version.slice(0, 20)));
    expect(problem?.message).toContain(specVersions.join(", "));
  });

  it.each(specVersions)("is not one of Ignition spec %s", (version) => {
    const { text } = make(sampleConfig("4.18", { version }));
    expect((JSON.parse(text) as IgnitionConfig).ignition.version).toBe(version);
  });
});

describe("what is not an Ignition config", () => {
  it.each([
    ["nothing", "", "ignition-not-json"],
    ["text", "not json", "ignition-not-json"],
    ["the first half of a config", sampleText("4.18").slice(0, 5000), "ignition-not-json"],
    ["a list", "[]", "ignition-version-missing"],
    ["null", "null", "ignition-version-missing"],
    ["an object of something else", '{"kind":"List"}', "ignition-version-missing"],
    ["a version that is a number", '{"ignition":{"version":3}}', "ignition-version-missing"],
  ])("%s is refused", (_, text, code) => {
    expect(codesOf(() => parseIgnition(text))).toEqual([code]);
  });

  it("reports every malformed part with its path", () => {
    const files = [5, { path: 7 }, { path: "/x", contents: "data:,x" }, { path: "/fine" }, null];
    const text = JSON.stringify({ ignition: { version: "3.2.0" }, storage: { files } });
    expect(problemsOf(() => parseIgnition(text)).map(({ message }) => message.split(", expected")[0])).toEqual([
      "bootstrap.ign is damaged: storage.files[0] is a number",
      "bootstrap.ign is damaged: storage.files[1].path is a number",
      "bootstrap.ign is damaged: storage.files[2].contents is a string",
      "bootstrap.ign is damaged: storage.files[4] is null",
    ]);
  });

  it.each([
    ["storage", { storage: [] }],
    ["storage.files", { storage: { files: {} } }],
  ])("says that %s is malformed", (where, part) => {
    const [problem] = problemsOf(() => parseIgnition(JSON.stringify({ ignition: { version: "3.2.0" }, ...part })));
    expect(problem).toMatchObject({ code: "ignition-malformed", message: expect.stringContaining(where) as string });
  });

  /** The other files that are read: odd types in them are ignored, or reported as a named error. */
  it.each([
    [clusterConfigPath, { source: 5 }],
    [clusterConfigPath, { source: "data:,x", compression: 5 }],
    [clusterConfigPath, { source: "data:,a: *unknown" }],
    [clusterConfigPath, { source: "data:,a: [" }],
    ["/opt/openshift/tls/root-ca.crt", { source: {} }],
    [
      "/opt/openshift/tls/root-ca.crt",
      { source: "data:,-----BEGIN CERTIFICATE-----%0AAAAA%0A-----END CERTIFICATE-----" },
    ],
    ["/usr/local/bin/konnectivity.sh", { source: [] }],
    [bootkubePath, { source: 5 }],
    [bootkubePath, { verification: { hash: 5 } }],
  ])("never ends in a stack trace: %s with %j", (path, contents) => {
    const config = sampleWith(
      edit(path, (file) => ({ ...file, contents: { ...file.contents, ...contents } }) as FileEntry),
      "4.23",
    );
    const act = () => problemsOf(() => make(config));
    expect(act).not.toThrow();
    for (const { code } of act())
      expect(["ignition-malformed", "bootkube-undecodable", "installer-tunnel-on"]).toContain(code);
  });
});

describe("a manifest with a tag that nobody knows", () => {
  it("is read without the YAML parser's warning, which would quote it on stderr", () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    try {
      make(sampleWith(edit(clusterConfigPath, () => fileEntry(clusterConfigPath, "data: !odd {secret: x}", 0o644))));
      expect(warn).not.toHaveBeenCalled();
    } finally {
      warn.mockRestore();
    }
  });
});

describe("the installer's own tunnel", () => {
  it("is refused when its flag is in bootkube.sh", () => {
    const config = sampleWith(
      (files) => files.filter(({ path }) => path !== "/usr/local/bin/konnectivity.sh"),
      "4.23-gate-on",
    );
    expect(codesOf(() => make(config))).toEqual(["installer-tunnel-on"]);
  });

  it("is refused when its functions are filled", () => {
    const on = sampleConfig("4.23-gate-on").storage?.files?.find(({ path }) => path.endsWith("/konnectivity.sh"));
    const config = sampleWith(
      edit("/usr/local/bin/konnectivity.sh", (file) => on ?? file),
      "4.23",
    );
    expect(check(config).installerTunnel).toBe("on");
    expect(codesOf(() => make(config))).toEqual(["installer-tunnel-on"]);
  });

  it("counts as on when its script cannot be decoded", () => {
    const config = sampleWith(
      edit("/usr/local/bin/konnectivity.sh", (file) => ({ ...file, contents: { source: "data:;base64,abc" } })),
      "4.23",
    );
    expect(codesOf(() => make(config))).toEqual(["installer-tunnel-on"]);
  });

  it("stays as it is with our tunnel off", () => {
    const text = sampleText("4.23-gate-on");
    expect(makePayload(text, "off", now).text).toBe(text);
  });

  it("is accepted with its feature gate off, and shares no path with ours", () => {
    const before = sampleConfig("4.23");
    expect(check(before).installerTunnel).toBe("off");
    const after = JSON.parse(make(before).text) as IgnitionConfig;
    const paths = (after.storage?.files ?? []).map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths.slice(0, before.storage?.files?.length)).toEqual(before.storage?.files?.map(({ path }) => path));
    expect(paths.length).toBeGreaterThan(before.storage?.files?.length ?? 0);
  });

  it("is absent before 4.23", () => {
    expect(check(sampleConfig("4.18")).installerTunnel).toBe("absent");
  });
});

describe("certificates that expired", () => {
  const oneDay = fixture("one-day.crt");
  const ends = new Date(new X509Certificate(oneDay).validTo);
  const after = (milliseconds: number) => new Date(ends.getTime() + milliseconds);
  const warningsAt = (at: Date, certificate = oneDay) =>
    check(sampleConfig("4.18", { certificate }), at).warnings.map(({ code, message }) => `${code}: ${message}`);

  it("cause no warning before they expire", () => {
    expect(warningsAt(after(-1000))).toEqual([]);
    expect(warningsAt(ends)).toEqual([]);
  });

  it("cause a warning after that, with the first file and the time", () => {
    expect(warningsAt(after(1))).toEqual([
      `ignition-expired: bootstrap.ign contains an expired certificate (/opt/openshift/tls/root-ca.crt, ${ends.toISOString()}), so the installation will fail: run "openshift-install create ignition-configs" again in a new folder.`,
    ]);
  });

  it("are counted, also in a bundle", () => {
    const [warning] = warningsAt(after(1), `${oneDay}${fixture("long-lived.crt")}${oneDay}`);
    expect(warning).toContain("bootstrap.ign contains 2 expired certificates (first /");
  });

  it("do not stop the build", () => {
    const { warnings } = makePayload(sampleText("4.18", { certificate: oneDay }), tunnel, after(1));
    expect(warnings.map(({ code }) => code)).toEqual(["ignition-expired"]);
  });

  it("are only looked for where openshift-install puts them", () => {
    const elsewhere = sampleWith((files) => [...files, fileEntry("/etc/pki/mine.crt", oneDay, 0o644)]);
    expect(check(elsewhere, after(1)).warnings).toEqual([]);
  });
});

describe("the cluster's networks", () => {
  const base: Networks = { machine: ["10.0.0.0/16"], cluster: ["10.128.0.0/14"], service: ["172.30.0.0/16"] };
  const warningsOf = (networks: Partial<Networks>) =>
    check(sampleConfig("4.18", { networks: { ...base, ...networks } })).warnings;

  it("are read", () => {
    expect(check(sampleConfig("4.18")).cluster).toEqual({
      machineNetworks: base.machine,
      clusterNetworks: base.cluster,
      serviceNetworks: base.service,
      virtualAddresses: [],
    });
  });

  it.each<readonly [string, Partial<Networks>, readonly string[]]>([
    [
      "machine in cluster",
      { machine: ["10.129.0.0/16"] },
      ["machine network 10.129.0.0/16", "cluster network 10.128.0.0/14"],
    ],
    [
      "cluster in machine",
      { machine: ["10.0.0.0/8"] },
      ["machine network 10.0.0.0/8", "cluster network 10.128.0.0/14"],
    ],
    [
      "machine and service",
      { service: ["10.0.128.0/17"] },
      ["machine network 10.0.0.0/16", "service network 10.0.128.0/17"],
    ],
    [
      "cluster and service",
      { service: ["10.128.0.0/14"] },
      ["cluster network 10.128.0.0/14", "service network 10.128.0.0/14"],
    ],
    [
      "the second of a kind",
      { machine: ["192.0.2.0/24", "172.30.7.0/24"] },
      ["machine network 172.30.7.0/24", "service network 172.30.0.0/16"],
    ],
    [
      "IPv6, machine and cluster",
      { machine: ["fd00::/48"], cluster: ["fd00:0:0:1::/64"], service: ["fd02::/112"] },
      ["machine network fd00::/48", "cluster network fd00:0:0:1::/64"],
    ],
    [
      "IPv6, machine and service",
      { machine: ["fd02::/64"], cluster: ["fd01::/48"], service: ["fd02::/112"] },
      ["machine network fd02::/64", "service network fd02::/112"],
    ],
    [
      "IPv6, cluster and service, in two spellings",
      { machine: ["fd00::/48"], cluster: ["fd01::/48"], service: ["FD01:0:0:0::/112"] },
      ["cluster network fd01::/48", "service network FD01:0:0:0::/112"],
    ],
    [
      "one family of two",
      {
        machine: ["10.0.0.0/16", "fd00::/48"],
        cluster: ["10.128.0.0/14", "fd01::/48"],
        service: ["172.30.0.0/16", "fd00::/112"],
      },
      ["machine network fd00::/48", "service network fd00::/112"],
    ],
  ])("that overlap cause a warning: %s", (_, networks, [a = "", b = ""]) => {
    expect(warningsOf(networks)).toEqual([
      {
        code: "networks-overlap",
        message: `The ${a} and the ${b} overlap, so an address in both is ambiguous: change one of them in install-config.yaml.`,
      },
    ]);
  });

  it("that all overlap cause a warning for every pair", () => {
    const every = ["10.0.0.0/8"];
    expect(warningsOf({ machine: every, cluster: every, service: every }).map(({ code }) => code)).toEqual(
      Array(3).fill("networks-overlap"),
    );
  });

  it.each<readonly [string, Partial<Networks>]>([
    ["that touch", { machine: ["10.132.0.0/16"] }],
    ["of two families", { machine: ["10.0.0.0/16", "fd00::/48"], cluster: ["10.128.0.0/14", "fd01::/48"] }],
    ["of one kind", { machine: ["10.0.0.0/16", "10.0.1.0/24"] }],
  ])("%s do not overlap", (_, networks) => {
    expect(warningsOf(networks)).toEqual([]);
  });

  it.each<readonly [string, (files: FileEntry[]) => FileEntry[]]>([
    ["without cluster-config.yaml", (files) => files.filter(({ path }) => path !== clusterConfigPath)],
    ["with one that is no YAML", edit(clusterConfigPath, () => fileEntry(clusterConfigPath, "a: [", 0o644))],
    ["with one that is another object", edit(clusterConfigPath, () => fileEntry(clusterConfigPath, "kind: X", 0o644))],
    ["with one that is a list", edit(clusterConfigPath, () => fileEntry(clusterConfigPath, "- 1", 0o644))],
    ["with one that is empty", edit(clusterConfigPath, () => fileEntry(clusterConfigPath, "", 0o644))],
    [
      "with an install-config that is no YAML",
      edit(clusterConfigPath, () => fileEntry(clusterConfigPath, 'data: {install-config: "a: ["}', 0o644)),
    ],
    [
      "with networks that are none",
      edit(clusterConfigPath, () =>
        fileEntry(
          clusterConfigPath,
          'data: {install-config: "networking: {machineNetwork: [{cidr: 10.0.0.0}, {cidr: 5}, x], serviceNetwork: 3}"}',
          0o644,
        ),
      ),
    ],
  ])("are reported as unknown in a bootstrap.ign %s", (_, change) => {
    const { cluster, warnings } = check(sampleWith(change));
    expect(cluster).toEqual({ machineNetworks: [], clusterNetworks: [], serviceNetworks: [], virtualAddresses: [] });
    expect(warnings).toEqual([
      { code: "networks-unknown", message: expect.stringContaining(clusterConfigPath) as string },
    ]);
  });

  it.each<readonly [string, Record<string, unknown>, readonly string[]]>([
    [
      "lists",
      { baremetal: { apiVIPs: ["10.0.0.5", "fd00::5"], ingressVIPs: ["10.0.0.6"] } },
      ["10.0.0.5", "fd00::5", "10.0.0.6"],
    ],
    ["single ones", { vsphere: { apiVIP: "10.0.0.5", ingressVIP: "10.0.0.6" } }, ["10.0.0.5", "10.0.0.6"]],
    ["the same one twice", { openstack: { apiVIPs: ["10.0.0.5"], apiVIP: "10.0.0.5" } }, ["10.0.0.5"]],
    ["none", { aws: { region: "us-east-1" } }, []],
    ["what is no address", { nutanix: { apiVIPs: ["10.0.0.5/24", "name", 5, null], ingressVIPs: "x" } }, []],
    ["no platform at all", { none: "x" }, []],
  ])("have virtual addresses: %s", (_, platform, expected) => {
    expect(check(sampleConfig("4.18", { platform })).cluster.virtualAddresses).toEqual(expected);
  });
});

describe("a number that JSON.parse would change", () => {
  it.each(["9007199254740993", "123456789012345678901234567890"])("is refused, wherever it is: %s", (number) => {
    const text = sampleText("4.18").replace('"passwd"', `"unknown":{"deep":[${number}]},"passwd"`);
    expect(problemsOf(() => parseIgnition(text)).map(({ message }) => message)).toEqual([
      expect.stringContaining("unknown.deep.0 is a number, expected a number below 2^53"),
    ]);
  });
});
