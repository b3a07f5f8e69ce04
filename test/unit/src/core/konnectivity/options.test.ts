import { describe, expect, it } from "vitest";
import { withIpiPort } from "../../../../../src/core/konnectivity/agent-port.ts";
import { transports } from "../../../../../src/core/konnectivity/combinations.ts";
import { readTunnel } from "../../../../../src/core/konnectivity/options.ts";
import { type Release, releases } from "../../../../../src/core/releases.ts";
import { problemsOf } from "../../../../support/problems.ts";
import { containerOf, pinned, readObject, render } from "../../../../support/tunnel.ts";

const defaults = {
  release: "auto",
  required: true,
  protocol: "grpc",
  transport: "unix-socket",
  authentication: "mtls",
  acceptUnauthenticatedAgents: false,
  address: "detect",
  listenAddress: "address",
  port: 8091,
  image: "release",
  agents: { kind: "DaemonSet", hostNetwork: false },
  certificates: { keyAlgorithm: "ecdsa-p256", days: 1 },
};

const messages = (config: unknown) => problemsOf(() => readTunnel(config)).map(({ message }) => message);

/** `{ "agents.kind": 5 }` as the config that it stands for. */
function configWith(path: string, value: unknown): unknown {
  const keys = path.split(".").slice(1);
  return keys.reduceRight((inner, key) => ({ [key]: inner }), value);
}

describe("the tunnel's options for openshift-install's own infrastructure", () => {
  it.each([
    [undefined, 9591],
    [null, 9591],
    [{}, 9591],
    [{ port: undefined }, 9591],
    [{ port: 8091 }, 8091],
    [{ port: 9700 }, 9700],
  ])("of %j have the port %i", (tunnel, port) => {
    expect(readTunnel(withIpiPort(tunnel))).toEqual({ ...defaults, port });
  });

  it("are what they are where they are no object", () => {
    for (const tunnel of ["off", 5, []]) expect(withIpiPort(tunnel)).toBe(tunnel);
  });
});

describe("the tunnel's options", () => {
  it.each([undefined, null, {}, { agents: {}, certificates: {} }])("have defaults: %j", (config) => {
    expect(readTunnel(config)).toEqual(defaults);
  });

  it("keep the defaults of options that are not given", () => {
    expect(readTunnel({ agents: { hostNetwork: true }, certificates: { days: 30 } })).toEqual({
      ...defaults,
      agents: { kind: "DaemonSet", hostNetwork: true },
      certificates: { keyAlgorithm: "ecdsa-p256", days: 30 },
    });
  });

  it.each(["off", "installer"])("do not exist with tunnel: %s", (tunnel) => {
    expect(readTunnel(tunnel)).toBe(tunnel);
  });

  it.each([
    { address: "10.0.0.5" },
    { address: "2001:db8::5" },
    { address: "FD00::5" },
    { address: "bootstrap.sample.example.com" },
    { address: "bootstrap" },
    { address: "0-0.example.com" },
    { listenAddress: "all" },
    { listenAddress: "10.0.0.5" },
    { listenAddress: "2001:db8::5" },
    { port: 1024 },
    { port: 8090 },
    { port: 9591 },
    { port: 29_999 },
    { image: { server: "localhost/proxy" } },
    { image: { server: "registry.example.com:5000/a/b-c/d_e:v1.2.3_x" } },
    { image: { server: pinned, agent: "registry.example.com/agent:1", binaryDirectory: "/" } },
    { image: { server: pinned, binaryDirectory: "/opt/proxy.d/bin" } },
    { agents: { kind: "Deployment", replicas: 1 } },
    { agents: { kind: "Deployment", replicas: 100 } },
    { certificates: { keyAlgorithm: "rsa-3072", days: 30 } },
    ...releases.map((release) => ({ release })),
  ])("may be %j", (config) => {
    expect(readTunnel(config)).toMatchObject(config);
  });
});

describe("a bad value", () => {
  const dialable =
    "detect, an IP address that nodes can dial (no loopback, link-local or multicast; no brackets), or a DNS name in lower case";
  const listening = "address, all, or an IP address of the machine";
  const reference = "an image reference with a registry, like registry.example.com/team/proxy@sha256:…";
  const inImage = (part: object) => ({ server: pinned, ...part });

  /** By path: what is expected there, and values that are not. */
  const wrong: Record<string, { expected: string; values: unknown[] }[]> = {
    tunnel: [{ expected: "off, installer, or an object", values: ["on", "OFF", "Installer", false, true, 5, []] }],
    "tunnel.release": [
      { expected: "auto or 4.12-4.13 or 4.14-4.22 or 4.23+", values: ["4.18", "4.11", "", 4.18, null] },
    ],
    "tunnel.protocol": [{ expected: "grpc or http-connect", values: ["GRPC", "http", null, 1] }],
    "tunnel.transport": [{ expected: "unix-socket or tcp", values: ["uds", "TCP", true] }],
    "tunnel.authentication": [{ expected: "mtls or service-account-token or none", values: ["mTLS", "token", false] }],
    "tunnel.acceptUnauthenticatedAgents": [{ expected: "true or false", values: ["true", 1, null] }],
    "tunnel.address": [
      { expected: "detect, an IP address or a DNS name", values: [5, null, ["10.0.0.5"]] },
      {
        expected: dialable,
        values: [
          ...["", "10.0.0.0/16", "10.0.0", "10.0.0.256", "010.0.0.1", "0.0.0.0", "127.0.0.1", "169.254.1.1"],
          ...[
            "224.0.0.1",
            "239.1.1.1",
            "255.255.255.255",
            "::",
            "0::0",
            "::1",
            "fe80::1",
            "ff02::1",
            "::ffff:127.0.0.1",
          ],
          ...["[2001:db8::5]", "2001:db8::5/64", "fe80::1%eth0", "2001:db8::5%eth0", "2001:db8:::5"],
          ...[
            "Bootstrap.example.com",
            "bootstrap.example.com.",
            "-a.example.com",
            "a..b",
            "a_b",
            `${"a".repeat(64)}.com`,
          ],
          ...[
            "a b",
            "a'b",
            'a"b',
            "a\nb",
            "a;b",
            "$(id)",
            "a|b",
            "a&b",
            "10.0.0.1\n",
            " 10.0.0.1",
            "https://a.example",
          ],
          `${"a.".repeat(127)}a`,
        ],
      },
    ],
    "tunnel.listenAddress": [
      { expected: "address, all or an IP address", values: [0, null] },
      {
        expected: listening,
        values: [
          ...[
            "detect",
            "bootstrap.example.com",
            "0.0.0.0",
            "::",
            "0:0::0",
            "127.0.0.1",
            "::1",
            "fe80::1",
            "fe80::1%a'b",
          ],
          ...["[2001:db8::5]", "10.0.0.5:8091", "", "10.0.0.5'", "10.0.0.5 10.0.0.6"],
        ],
      },
    ],
    "tunnel.port": [
      { expected: "a whole number from 1024 to 29999", values: [0, 443, 30_000, 65_536, 8091.5, "8091", null] },
      ...[
        { port: 6443, user: "the kube-apiserver" },
        { port: 22_623, user: "the machine-config server" },
        { port: 2379, user: "etcd" },
        { port: 2380, user: "etcd" },
        { port: 9978, user: "etcd" },
        { port: 10_250, user: "the kubelet and the control plane" },
        { port: 10_259, user: "the kubelet and the control plane" },
        { port: 18_080, user: "CoreDNS of platforms without a cloud's DNS" },
        { port: 19_531, user: "the journal gateway" },
        { port: 2041, user: "the tunnel's own health checks" },
        { port: 8095, user: "the tunnel's own metrics" },
        { port: 9099, user: "the cluster-version operator" },
        { port: 9105, user: "the node exporter and the network's metrics" },
        { port: 9537, user: "CRI-O" },
        { port: 9641, user: "OVN" },
      ].map(({ port, user }) => ({
        expected: `a port that nothing else on the machine uses (${port} is used by ${user}), for example 8091, or 9591 if only 9000–9999 is open`,
        values: [port],
      })),
    ],
    "tunnel.image": [
      {
        expected: "release, or an object with server (and agent, binaryDirectory)",
        values: ["Release", pinned, 5, null, []],
      },
      { expected: "release, which was named payload in 0.1.0", values: ["payload"] },
    ],
    "tunnel.image.server": [
      {
        expected: reference,
        values: [
          ...["", "proxy", "proxy:v1", "Registry.example.com/proxy", "https://registry.example.com/proxy"],
          ...["registry.example.com/Proxy", "registry.example.com/proxy@sha256:abc", "registry.example.com/a'b"],
          ...[
            "registry.example.com/a b",
            "registry.example.com/a\n",
            "registry.example.com/a|b",
            "registry.example.com/",
          ],
          ...["registry.example.com:port/a", "@IMAGE@", `registry.example.com/${"a".repeat(255)}`],
        ],
      },
    ],
    "tunnel.agents": [{ expected: "an object", values: [null, "DaemonSet", 2, []] }],
    "tunnel.agents.kind": [{ expected: "DaemonSet or Deployment", values: ["daemonset", "StatefulSet", null] }],
    "tunnel.agents.replicas": [
      { expected: "a whole number from 1 to 100", values: [0, -1, 101, 1.5, "2", null, 2 ** 53] },
    ],
    "tunnel.agents.hostNetwork": [{ expected: "true or false", values: ["yes", 1, null] }],
    "tunnel.certificates": [{ expected: "an object", values: [null, 1, "rsa-2048"] }],
    "tunnel.certificates.keyAlgorithm": [
      { expected: "ecdsa-p256 or rsa-2048 or rsa-3072", values: ["rsa-1024", "ed25519", "RSA-2048", 2048] },
    ],
    "tunnel.certificates.days": [{ expected: "a whole number from 1 to 30", values: [0, 31, 1.5, "1", null] }],
  };

  it.each(
    Object.entries(wrong).flatMap(([path, list]) =>
      list.flatMap(({ expected, values }) => values.map((value) => ({ path, value, expected }))),
    ),
  )("is reported with its option, the value and what is expected: $path $value", ({ path, value, expected }) => {
    const problems = problemsOf(() => readTunnel(configWith(path, value)));
    const shown = JSON.stringify(value);
    const found = shown.length > 60 ? `${shown.slice(0, 60)}…` : shown;
    const message = `${path} is ${found}; expected ${expected}.`;
    expect(problems).toEqual([{ code: "option-invalid", message, options: [path] }]);
  });

  it.each([
    { image: inImage({ agent: "proxy" }), says: `tunnel.image.agent is "proxy"; expected ${reference}.` },
    {
      image: inImage({ agent: 5 }),
      says: "tunnel.image.agent is 5; expected an image reference with a registry, like registry.example.com/team/proxy@sha256:….",
    },
    {
      image: { server: 5 },
      says: "tunnel.image.server is 5; expected an image reference with a registry, like registry.example.com/team/proxy@sha256:….",
    },
    {
      image: {},
      says: "tunnel.image.server is missing; expected an image reference with a registry, like registry.example.com/team/proxy@sha256:….",
    },
    {
      image: { agent: pinned },
      says: "tunnel.image.server is missing; expected an image reference with a registry, like registry.example.com/team/proxy@sha256:….",
    },
    {
      image: inImage({ binaryDirectory: "usr/bin" }),
      says: 'tunnel.image.binaryDirectory is "usr/bin"; expected an absolute path like /usr/bin.',
    },
    {
      image: inImage({ binaryDirectory: "/usr/bin; id" }),
      says: 'tunnel.image.binaryDirectory is "/usr/bin; id"; expected an absolute path like /usr/bin.',
    },
    {
      image: inImage({ binaryDirectory: 5 }),
      says: "tunnel.image.binaryDirectory is 5; expected an absolute path like /usr/bin.",
    },
  ])("is reported with its own option inside image too: $says", ({ image, says }) => {
    expect(problemsOf(() => readTunnel({ image }))).toMatchObject([{ code: "option-invalid", message: says }]);
  });

  it.each(["::ffff:10.0.0.1", "::ffff:0:0", "::10.0.0.1"])("is an IPv4 address in IPv6 notation: %s", (address) => {
    // The kernel spells it another way, and ::ffff:0:0 is every address.
    expect(messages({ address })).toHaveLength(1);
    expect(messages({ listenAddress: address })).toHaveLength(1);
  });

  it("does not hide the others: all errors are reported at once", () => {
    const problems = problemsOf(() =>
      readTunnel({
        protocl: "grpc",
        transport: "uds",
        address: "127.0.0.1",
        image: { server: "proxy", agent: "proxy" },
        agents: { replica: 3, kind: "daemonset", hostNetwork: "no" },
        certificates: { days: 99 },
      }),
    );
    expect(problems.map(({ code, message }) => `${code} ${message.split(" ")[0] ?? ""}`).sort()).toEqual([
      "option-invalid tunnel.address",
      "option-invalid tunnel.agents.hostNetwork",
      "option-invalid tunnel.agents.kind",
      "option-invalid tunnel.certificates.days",
      "option-invalid tunnel.image.agent",
      "option-invalid tunnel.image.server",
      "option-invalid tunnel.transport",
      "option-unknown tunnel.agents.replica",
      "option-unknown tunnel.protocl",
    ]);
  });
});

describe("an unknown option", () => {
  it.each([
    { path: "tunnel.protocl", nearest: "protocol" },
    { path: "tunnel.Protocol", nearest: "protocol" },
    { path: "tunnel.listenAdress", nearest: "listenAddress" },
    { path: "tunnel.agent", nearest: "agents" },
    { path: "tunnel.agents.replica", nearest: "replicas" },
    { path: "tunnel.agents.hostnetwork", nearest: "hostNetwork" },
    { path: "tunnel.certificates.day", nearest: "days" },
    { path: "tunnel.certificates.keyAlgoritm", nearest: "keyAlgorithm" },
  ])("is reported with the most similar option: $path", ({ path, nearest }) => {
    const problems = problemsOf(() => readTunnel(configWith(path, 1)));
    expect(problems.map(({ code }) => code)).toEqual(["option-unknown"]);
    expect(problems[0]?.message).toContain(`${path} is not an option`);
    expect(problems[0]?.message).toMatch(new RegExp(`did you mean ${nearest}\\b`));
  });

  it("is reported with the most similar option inside image", () => {
    expect(messages({ image: { server: pinned, agnt: pinned } })).toEqual([
      expect.stringMatching(/^tunnel\.image\.agnt is not an option.*did you mean agent\b/),
    ]);
  });

  it("is reported with the most similar option inside image, also if that is required and missing", () => {
    expect(messages({ image: { sever: pinned } })).toContainEqual(
      expect.stringMatching(/^tunnel\.image\.sever is not an option.*did you mean server\b/),
    );
  });

  it.each([
    { path: "tunnel.replicas", known: ["release", "protocol", "agents", "certificates"] },
    { path: "tunnel.agents.tolerations", known: ["kind", "replicas", "hostNetwork"] },
  ])("is reported with all options if none is similar: $path", ({ path, known }) => {
    const [message = ""] = messages(configWith(path, 1));
    expect(message).toContain(`${path} is not an option`);
    for (const name of known) expect(message).toContain(name);
    expect(message).not.toContain("did you mean");
  });

  it("that an earlier version had is reported with what to do", () => {
    expect(messages({ seLinuxOptions: { type: "spc_t" } })).toEqual([
      "tunnel.seLinuxOptions is not an option; it was removed because it never had an effect: CRI-O clears the SELinux label of a container on the host network, and the server is one; delete it.",
    ]);
  });

  it("is reported in a sentence with one full stop", () => {
    expect(messages({ protocl: "grpc" })[0]).not.toMatch(/\?\.$/);
  });
});

describe("options together", () => {
  const protocols = ["grpc", "http-connect"] as const;
  const ways = protocols.flatMap((protocol) =>
    (["unix-socket", "tcp"] as const).map((transport) => ({ protocol, transport })),
  );

  it("are one table: every protocol over every transport", () => {
    expect(Object.keys(transports).sort()).toEqual(ways.map((way) => `${way.protocol}/${way.transport}`).sort());
    expect(ways.filter(({ protocol, transport }) => !transports[`${protocol}/${transport}`].works)).toEqual([
      { protocol: "grpc", transport: "tcp" },
    ]);
  });

  it.each(ways)("do what the table says: $protocol over $transport", ({ protocol, transport }) => {
    const way = transports[`${protocol}/${transport}`];
    const problems = problemsOf(() => render({ protocol, transport }));
    if (way.works) {
      expect(problems).toEqual([]);
    } else {
      expect(problems.map(({ code }) => code)).toEqual(["combination-refused"]);
      expect(problems[0]?.message).toBe(
        `tunnel.protocol ${protocol} and tunnel.transport ${transport} cannot be combined: ${way.reason}.`,
      );
    }
  });

  it.each([
    {
      why: "nobody agreed to agents without a proof",
      config: { authentication: "none" },
      names: ["tunnel.authentication none", "tunnel.acceptUnauthenticatedAgents false", "CVE-2026-16242"],
    },
    {
      why: "an agreement to what is not done is a mistake",
      config: { authentication: "mtls", acceptUnauthenticatedAgents: true },
      names: ["tunnel.authentication mtls", "tunnel.acceptUnauthenticatedAgents true"],
    },
    {
      why: "the same with tokens",
      config: { authentication: "service-account-token", acceptUnauthenticatedAgents: true },
      names: ["tunnel.authentication service-account-token", "tunnel.acceptUnauthenticatedAgents true"],
    },
    {
      why: "a DaemonSet has as many agents as nodes",
      config: { agents: { kind: "DaemonSet", replicas: 3 } },
      names: ["tunnel.agents.kind DaemonSet", "tunnel.agents.replicas 3"],
    },
    {
      why: "a DaemonSet is the default",
      config: { agents: { replicas: 3 } },
      names: ["tunnel.agents.kind DaemonSet", "tunnel.agents.replicas 3"],
    },
    {
      why: "the kube-apiserver's port is not the agents'",
      config: { protocol: "http-connect", transport: "tcp", port: 8090 },
      names: ["tunnel.transport tcp", "tunnel.port 8090", "unix-socket"],
    },
  ])("are refused when they contradict each other: $why", ({ config, names }) => {
    const problems = problemsOf(() => render(config));
    expect(problems.map(({ code }) => code)).toEqual(["combination-refused"]);
    for (const name of names) expect(problems[0]?.message).toContain(name);
  });

  it("are refused all at once", () => {
    const config = {
      ...{ protocol: "grpc", transport: "tcp", authentication: "none", listenAddress: "192.0.2.7" },
      agents: { replicas: 3 },
    };
    expect(problemsOf(() => render(config, "4.12-4.13")).map(({ code }) => code)).toEqual([
      ...["combination-refused", "combination-refused", "combination-refused"],
    ]);
  });
});

describe("an option that needs a flag which the code of the release may not know", () => {
  const unsure = [
    { config: { listenAddress: "192.0.2.7" }, said: "listens on every address of the machine, for agents" },
    { config: { listenAddress: "2001:db8::7" }, said: "listens on every address of the machine, for agents" },
    {
      config: { protocol: "http-connect", transport: "tcp", listenAddress: "all" },
      said: "opens port 8090 (TLS, client certificates) on every address of the machine",
    },
  ];

  it.each(unsure)("is a warning for 4.12-4.13, because the image may have newer code: $config", ({ config, said }) => {
    const messages = render(config, "4.12-4.13").warnings.map(({ message }) => message);
    expect(messages).toContainEqual(
      expect.stringContaining(`A proxy image with the code of release 4.12-4.13 ${said}`),
    );
  });

  it.each(unsure)("needs no warning from 4.14 on: $config", ({ config, said }) => {
    for (const release of ["4.14-4.22", "4.23+"] as const)
      expect(render(config, release).warnings.filter(({ message }) => message.includes(said))).toEqual([]);
  });
});

describe("the image", () => {
  const upstream = (name: string) => `registry.k8s.io/kas-network-proxy/${name}:v0.36.0@sha256:${"c".repeat(64)}`;
  const mirrored = `registry.example.com/mirror/kas-network-proxy/proxy-server@sha256:${"d".repeat(64)}`;

  function started(image: unknown) {
    const assets = render({ image });
    const server = containerOf(readObject(assets, "server-pod.yaml"));
    const agent = containerOf(readObject(assets, "agents/agents.yaml"));
    return { server: [server.image, server.command?.[0]], agent: [agent.image, agent.command?.[0]] };
  }

  it.each([
    {
      of: "the release payload is put in on the node",
      image: "release",
      server: ["@IMAGE@", "/usr/bin/proxy-server"],
      agent: ["@IMAGE@", "/usr/bin/proxy-agent"],
    },
    {
      of: "one's own is built like OpenShift's and holds both",
      image: { server: pinned },
      server: [pinned, "/usr/bin/proxy-server"],
      agent: [pinned, "/usr/bin/proxy-agent"],
    },
    {
      of: "Kubernetes has the binaries at the root",
      image: { server: upstream("proxy-server"), agent: upstream("proxy-agent") },
      server: [upstream("proxy-server"), "/proxy-server"],
      agent: [upstream("proxy-agent"), "/proxy-agent"],
    },
    {
      of: "a mirror of Kubernetes' is one",
      image: { server: mirrored, agent: upstream("proxy-agent") },
      server: [mirrored, "/proxy-server"],
      agent: [upstream("proxy-agent"), "/proxy-agent"],
    },
    {
      of: "a folder that is given wins",
      image: { server: upstream("proxy-server"), agent: pinned, binaryDirectory: "/opt/bin" },
      server: [upstream("proxy-server"), "/opt/bin/proxy-server"],
      agent: [pinned, "/opt/bin/proxy-agent"],
    },
    {
      of: "the root can be given",
      image: { server: pinned, binaryDirectory: "/" },
      server: [pinned, "/proxy-server"],
      agent: [pinned, "/proxy-agent"],
    },
    {
      of: "each binary is where its own image has it",
      image: { server: pinned, agent: upstream("proxy-agent") },
      server: [pinned, "/usr/bin/proxy-server"],
      agent: [upstream("proxy-agent"), "/proxy-agent"],
    },
  ])("of $of", ({ image, server, agent }) => {
    expect(started(image)).toEqual({ server, agent });
  });

  it("of Kubernetes' proxy-server has no agent in it: it is not used for agents", () => {
    const server = upstream("proxy-server");
    const refused = problemsOf(() => render({ image: { server } })).length > 0;
    expect(refused || started({ server }).agent[0] !== server).toBe(true);
  });
});

describe("a warning", () => {
  const unpinned = "registry.example.com/team/proxy:latest";
  const codes = (config: object, release: Release = "4.23+") =>
    render(config, release).warnings.map(({ code }) => code);

  it.each(releases.slice(1))("is not printed without a reason (%s)", (release) => {
    expect(codes({}, release)).toEqual([]);
  });

  it("is printed in capitals when agents are not authenticated", () => {
    const { warnings } = render({ authentication: "none", acceptUnauthenticatedAgents: true });
    expect(warnings).toEqual([
      {
        code: "agents-unauthenticated",
        message: expect.stringMatching(/^AGENTS ARE NOT AUTHENTICATED.*8091/) as string,
      },
    ]);
  });

  it("names the tunnel's port", () => {
    const config = { authentication: "none", acceptUnauthenticatedAgents: true, port: 9591 };
    const [none, all] = render(config, "4.12-4.13").warnings;
    expect(none?.message).toContain("anyone who can reach port 9591 ");
    expect(all?.message).toContain("for agents (9591, TLS) and for health (2041)");
    const [refused] = problemsOf(() => render({ authentication: "none", port: 9591 }));
    expect(refused?.message).toContain("anyone who can reach port 9591 ");
  });

  it.each([
    { config: {}, release: "4.12-4.13", expected: ["listens-on-all"] },
    { config: { listenAddress: "all" }, release: "4.12-4.13", expected: [] },
    {
      config: { protocol: "http-connect", listenAddress: "all" },
      release: "4.12-4.13",
      expected: ["connect-unbounded"],
    },
    { config: { protocol: "http-connect" }, release: "4.14-4.22", expected: ["connect-unbounded"] },
    { config: { protocol: "http-connect" }, release: "4.23+", expected: [] },
  ] as const)("names what the release's image cannot do: $release $config", ({ config, release, expected }) => {
    expect(codes(config, release)).toEqual(expected);
  });

  it.each([
    { image: "release", named: [] },
    { image: { server: pinned }, named: [] },
    { image: { server: unpinned }, named: [unpinned] },
    { image: { server: unpinned, agent: unpinned }, named: [unpinned] },
    { image: { server: pinned, agent: unpinned }, named: [unpinned] },
    { image: { server: unpinned, agent: pinned }, named: [unpinned] },
    { image: { server: unpinned, agent: `${unpinned}-agent` }, named: [unpinned, `${unpinned}-agent`] },
  ])("names each image that is not pinned, once: $image", ({ image, named }) => {
    const { warnings } = render({ image });
    expect(warnings.map(({ code }) => code)).toEqual(named.map(() => "image-not-pinned"));
    expect(warnings.map(({ message }) => message.split(" ")[0])).toEqual(named);
  });
});
