import fc from "fast-check";
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { readTunnel } from "../../../../../src/core/konnectivity/options.ts";
import { readCluster } from "../../../../../src/core/ignition/install-config.ts";
import { type Release, releases } from "../../../../../src/core/releases.ts";
import { fileEntry } from "../../../../../src/core/sample/sample.ts";
import { projectFile, readProjectText } from "../../../../../src/runtime/project-files.js";
import { problemsOf } from "../../../../support/problems.ts";
import { networks, pinned, readObject, render, textOf } from "../../../../support/tunnel.ts";

const settingsText = (config: unknown, release: Release = "4.23+", of = networks) =>
  textOf(render(config, release, of), "settings.sh");

/** The settings by name, if every line is NAME='words' and the words hold nothing that a shell or sed could mistake. */
function settings(config: unknown, release?: Release, of?: typeof networks): Record<string, string> {
  return Object.fromEntries(
    settingsText(config, release, of)
      .trimEnd()
      .split("\n")
      .map((line) => {
        const [, name, value] = /^(TUNNEL_[A-Z0-9_]+)='([A-Za-z0-9 ._:/-]*)'$/.exec(line) ?? [];
        if (name === undefined || value === undefined) throw new Error(`not a safe setting: ${line}`);
        return [name, value];
      }),
  );
}

describe("the node's settings", () => {
  it("are exactly those that the node's scripts use", () => {
    const folder = "src/core/konnectivity/node";
    const scripts = readdirSync(projectFile(folder)).map((name) => readProjectText(`${folder}/${name}`));
    const used = new Set(scripts.flatMap((text) => text.match(/TUNNEL_[A-Z0-9_]+/g) ?? []));
    expect(new Set(Object.keys(settings({})))).toEqual(used);
  });

  it.each([
    { config: {}, set: { ADDRESS: "", HOST: "", LISTEN_ADDRESS: "" } },
    { config: { address: "192.0.2.5" }, set: { ADDRESS: "192.0.2.5", HOST: "", LISTEN_ADDRESS: "" } },
    { config: { address: "boot.example.com" }, set: { ADDRESS: "", HOST: "boot.example.com", LISTEN_ADDRESS: "" } },
    { config: { listenAddress: "all" }, set: { ADDRESS: "", HOST: "", LISTEN_ADDRESS: "all" } },
    {
      config: { address: "192.0.2.5", listenAddress: "10.0.0.5" },
      set: { ADDRESS: "192.0.2.5", HOST: "", LISTEN_ADDRESS: "10.0.0.5" },
    },
    { config: {}, set: { IMAGE_COMPONENT: "apiserver-network-proxy" } },
    { config: { image: { server: pinned } }, set: { IMAGE_COMPONENT: "" } },
    { config: {}, set: { KEY_ALGORITHM: "ecdsa-p256", CERTIFICATE_DAYS: "1" } },
    {
      config: { certificates: { keyAlgorithm: "rsa-3072", days: 30 } },
      set: { KEY_ALGORITHM: "rsa-3072", CERTIFICATE_DAYS: "30" },
    },
    { config: {}, set: { TRANSPORT: "unix-socket", AUTHENTICATION: "mtls", CLUSTER_SCOPED: "" } },
    { config: { protocol: "http-connect", transport: "tcp" }, set: { TRANSPORT: "tcp" } },
    {
      config: { authentication: "service-account-token" },
      set: {
        AUTHENTICATION: "service-account-token",
        CLUSTER_SCOPED:
          "clusterrolebinding/bootstrap-konnectivity-token-review clusterrole/bootstrap-konnectivity-token-review",
      },
    },
    { config: {}, set: { NAMESPACED: "daemonset/konnectivity-agent secret/konnectivity-agent-certs" } },
    {
      config: { agents: { kind: "Deployment" } },
      set: { NAMESPACED: "deployment/konnectivity-agent secret/konnectivity-agent-certs" },
    },
  ])("follow the options: $config sets $set", ({ config, set }) => {
    expect(settings(config)).toMatchObject(
      Object.fromEntries(Object.entries(set).map(([name, value]) => [`TUNNEL_${name}`, value])),
    );
  });

  it.each([
    { services: ["172.30.0.0/16"], families: "4" },
    { services: ["fd02::/112"], families: "6" },
    { services: ["172.30.0.0/16", "fd02::/112"], families: "4 6" },
    { services: ["fd02::/112", "172.30.0.0/16"], families: "6 4" },
    { services: ["fd02::/112", "fd03::/112"], families: "6" },
    { services: [], families: "4 6" },
  ])("prefer the family of the first service network: $services", ({ services, families }) => {
    expect(settings({}, "4.23+", { ...networks, serviceNetworks: services }).TUNNEL_FAMILIES).toBe(families);
  });

  it.each([
    ["4.12-4.13", ["agent-bind-address", "tls-min-version"], []],
    ["4.14-4.22", ["tls-min-version"], ["agent-bind-address"]],
    ["4.23+", [], ["agent-bind-address", "tls-min-version"]],
  ] as const)("name the flags that the code of %s does not know", (release, unknown, known) => {
    const flags = settings({}, release).TUNNEL_UNKNOWN_FLAGS?.split(" ") ?? [];
    expect(unknown.every((flag) => flags.includes(flag))).toBe(true);
    expect(known.some((flag) => flags.includes(flag))).toBe(false);
  });

  it("let the image lack no flag that authenticates agents, or without which there is no tunnel", () => {
    const optional = settings({}).TUNNEL_OPTIONAL_FLAGS?.split(" ") ?? [];
    expect(optional).toContain("agent-bind-address");
    const needed = [
      ...["cluster-cert", "cluster-key", "cluster-ca-cert", "ca-cert", "agent-cert", "agent-key", "server-ca-cert"],
      ...["agent-namespace", "agent-service-account", "authentication-audience", "kubeconfig"],
      ...["service-account-token-path", "mode", "uds-name", "proxy-strategies", "agent-identifiers"],
    ];
    expect(optional.filter((flag) => needed.includes(flag))).toEqual([]);
  });

  it("name each flag that a class lacks as an optional one", () => {
    for (const release of releases) {
      const { TUNNEL_UNKNOWN_FLAGS: unknown = "", TUNNEL_OPTIONAL_FLAGS: optional = "" } = settings({}, release);
      for (const flag of unknown.split(" ").filter(Boolean)) expect(optional.split(" ")).toContain(flag);
    }
  });

  it("list machine networks and virtual addresses, separated by spaces", () => {
    const of = {
      ...networks,
      machineNetworks: ["10.0.0.0/16", "2001:db8::/64"],
      virtualAddresses: ["10.0.0.2", "2001:DB8:0:0::2"],
    };
    expect(settings({}, "4.23+", of)).toMatchObject({
      TUNNEL_MACHINE_NETWORKS: "10.0.0.0/16 2001:db8::/64",
      TUNNEL_VIRTUAL_ADDRESSES: "10.0.0.2 2001:db8::2",
    });
  });
});

describe("an IPv6 address in the settings", () => {
  const spellings = [
    ["2001:DB8::7", "2001:db8::7"],
    ["2001:0db8:0000:0000:0000:0000:0000:0007", "2001:db8::7"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["2001:db8::1:0:0:0", "2001:db8:0:0:1::"],
    ["fd00::10.0.0.1", "fd00::a00:1"],
  ] as const;

  it.each(spellings)("is spelled as the kernel does: %s", (given, spelled) => {
    const set = settings({ address: given, listenAddress: given }, "4.23+", { ...networks, virtualAddresses: [given] });
    expect([set.TUNNEL_ADDRESS, set.TUNNEL_LISTEN_ADDRESS, set.TUNNEL_VIRTUAL_ADDRESSES]).toEqual([
      ...[spelled, spelled, spelled],
    ]);
  });

  it("is spelled as the kernel does, whatever it is", () => {
    fc.assert(
      fc.property(fc.ipV6(), (given) => {
        fc.pre(problemsOf(() => readTunnel({ address: given })).length === 0);
        // A URL's host is spelled by the same rules (RFC 5952), by other code.
        const spelled = new URL(`http://[${given}]`).hostname.slice(1, -1);
        expect(settings({ address: given }).TUNNEL_ADDRESS).toBe(spelled);
      }),
      { numRuns: 200 },
    );
  });
});

describe("hostile input", () => {
  const pieces = [
    ...["10.0.0.1", "fd00::1", "::", "boot", "example.com", "registry.example.com/x", "@sha256:", "a".repeat(64)],
    ...["$(id)", "`id`", "%eth0", "@IMAGE@", "{{"],
    ...Array.from(".:-/'\"\n\r\t ;&|\\%#*é\0"),
  ];
  const hostile = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 5 }).map((parts) => parts.join(""));

  it.each<[string, (text: string) => object]>([
    ["address", (text) => ({ address: text })],
    ["listenAddress", (text) => ({ listenAddress: text })],
    ["image.server", (text) => ({ image: { server: text } })],
    ["image.agent", (text) => ({ image: { server: pinned, agent: text } })],
    ["image.binaryDirectory", (text) => ({ image: { server: pinned, binaryDirectory: text } })],
  ])("in %s is refused, or leaves every setting on one safe line and every file valid", (_, configOf) => {
    let accepted = 0;
    fc.assert(
      fc.property(hostile, (text) => {
        const config = configOf(text);
        if (problemsOf(() => readTunnel(config)).length > 0) return;
        accepted++;
        settings(config);
        for (const name of ["server-pod.yaml", "agents/agents.yaml"])
          expect(JSON.stringify(readObject(render(config), name))).not.toMatch(/['`$\\|&;#]|\{\{/);
      }),
      { numRuns: 2000, seed: 8091 },
    );
    // Otherwise nothing was tested.
    expect(accepted).toBeGreaterThan(0);
  });

  it.each([
    { what: "a quote in a virtual address's zone", virtual: "fd00::5%';id;'" },
    { what: "a space in a virtual address's zone", virtual: "fd00::5%a b" },
    { what: "a quote in a machine network's zone", machine: "fd00::%';id;'/64" },
    { what: "a quote after a machine network", machine: "10.0.0.0/16';id;'" },
    { what: "a newline after a machine network", machine: "10.0.0.0/16\n" },
    { what: "a command in a service network", service: "$(id)/16" },
  ])("in the install-config does not reach the settings: $what", ({ virtual, machine, service }) => {
    const installConfig = {
      networking: {
        machineNetwork: machine === undefined ? [] : [{ cidr: machine }],
        serviceNetwork: service === undefined ? [] : [service],
      },
      platform: { baremetal: { apiVIPs: virtual === undefined ? [] : [virtual] } },
    };
    const map = { data: { "install-config": stringify(installConfig) } };
    const cluster = readCluster([fileEntry("/opt/openshift/manifests/cluster-config.yaml", stringify(map), 0o644)]);
    expect(settings({}, "4.23+", cluster)).toMatchObject({
      TUNNEL_MACHINE_NETWORKS: "",
      TUNNEL_VIRTUAL_ADDRESSES: "",
      TUNNEL_FAMILIES: "4 6",
    });
  });
});
