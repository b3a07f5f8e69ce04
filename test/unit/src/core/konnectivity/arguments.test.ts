import type { VolumeMount } from "kubernetes-types/core/v1.js";
import { describe, expect, it } from "vitest";
import type { TunnelOptions } from "../../../../../src/core/konnectivity/options.ts";
import { type Release, releases } from "../../../../../src/core/releases.ts";
import { problemsOf } from "../../../../support/problems.ts";
import {
  allCases,
  containerOf,
  mustWork,
  podSpecOf,
  renderedCases,
  type RenderedTunnel,
  render,
  textOf,
} from "../../../../support/tunnel.ts";

/**
 * What the binaries know and accept, written down from their sources (openshift/apiserver-network-proxy, branches
 * release-4.12, release-4.14, release-4.22 and main: cmd/{server,agent}/app/options/options.go), not from flags.ts.
 */
const logFlags = ["v", "logtostderr", "log-file", "log-file-max-size", "stderrthreshold"];

const oldest = {
  server: [
    ...logFlags,
    ...["server-cert", "server-key", "server-ca-cert", "cluster-cert", "cluster-key", "cluster-ca-cert"],
    ...["mode", "uds-name", "delete-existing-uds-file", "server-port", "agent-port", "admin-port", "health-port"],
    ...["keepalive-time", "frontend-keepalive-time", "enable-profiling", "enable-contention-profiling"],
    ...["server-id", "server-count", "agent-namespace", "agent-service-account", "authentication-audience"],
    ...["kubeconfig", "kubeconfig-qps", "kubeconfig-burst", "proxy-strategies", "cipher-suites"],
  ],
  agent: [
    ...logFlags,
    ...["agent-cert", "agent-key", "ca-cert", "proxy-server-host", "proxy-server-port", "alpn-proto"],
    ...["health-server-host", "health-server-port", "admin-server-port", "enable-profiling"],
    ...["enable-contention-profiling", "agent-id", "sync-interval", "probe-interval", "sync-interval-cap"],
    ...["keepalive-time", "service-account-token-path", "agent-identifiers", "warn-on-channel-limit", "sync-forever"],
  ],
};
const middle = {
  server: [
    ...oldest.server,
    ...["server-bind-address", "agent-bind-address", "admin-bind-address", "health-bind-address"],
  ],
  agent: [...oldest.agent, "admin-bind-address"],
};
const newest = {
  server: [
    ...middle.server,
    ...["tls-min-version", "xfr-channel-size", "graceful-shutdown-timeout", "backend-dial-timeout"],
    ...["enable-lease-controller", "lease-namespace", "lease-label", "kube-api-content-type"],
  ],
  agent: [
    ...middle.agent,
    ...["xfr-channel-size", "count-server-leases", "lease-namespace", "lease-label", "server-count-source"],
    ...["kubeconfig", "kube-api-content-type"],
  ],
};
const knownFlags: Record<Release, { server: string[]; agent: string[] }> = {
  "4.12-4.13": oldest,
  "4.14-4.22": middle,
  "4.23+": newest,
};

/** How often an agent may ping: 30 s is the later servers' setting, 5 min what grpc allows where nothing is set. */
const shortestPing: Record<Release, number> = { "4.12-4.13": 300, "4.14-4.22": 30, "4.23+": 30 };

/** TLS 1.2 suites that Go holds secure and FIPS knows. */
const goodSuite = /^TLS_ECDHE_(ECDSA|RSA)_WITH_AES_(128_GCM_SHA256|256_GCM_SHA384)$/;

/** Which identifier makes an agent count for a strategy; the server's /readyz asks the first one only. */
const joins: Record<string, (identifiers: URLSearchParams) => boolean> = {
  default: () => true,
  defaultRoute: (identifiers) => identifiers.get("default-route") === "true",
  destHost: (identifiers) => ["ipv4", "ipv6", "host"].some((key) => identifiers.has(key)),
};

const hostConfig = "/etc/kubernetes/bootstrap-configs/";
const kasConfig = "/etc/kubernetes/config/";
/** The socket's folder, and nothing else of the kube-apiserver's configuration. */
const socketFolder = `${hostConfig}konnectivity/`;

interface Binary {
  readonly args: readonly string[];
  readonly mounts: readonly VolumeMount[];
  readonly gracePeriod: number;
}

/** All that the rules look at. */
interface Tunnel {
  readonly release: Release;
  readonly options: Pick<TunnelOptions, "authentication" | "listenAddress" | "transport" | "protocol"> & {
    readonly hostNetwork: boolean;
  };
  readonly server: Binary;
  readonly agent: Binary;
  readonly selector: RenderedTunnel["egress"]["egressSelections"];
}

/** A tunnel with its arguments as values by flag. */
interface Arguments extends Tunnel {
  readonly s: Readonly<Partial<Record<string, string>>>;
  readonly a: Readonly<Partial<Record<string, string>>>;
  readonly knows: (flag: string) => boolean;
}

/** What must be true of every tunnel's arguments. */
const rules = {
  "every argument is --flag=value": ({ server, agent }) =>
    [...server.args, ...agent.args].every((arg) => /^--[a-z-]+=[^\s]+$/.test(arg)),
  "no flag is given twice": ({ server, agent }) =>
    [server, agent].every(({ args }) => new Set(args.map(flagOf)).size === args.length),
  "no binary gets a flag that its release does not know": ({ release, server, agent }) =>
    server.args.every((arg) => knownFlags[release].server.includes(flagOf(arg))) &&
    agent.args.every((arg) => knownFlags[release].agent.includes(flagOf(arg))),
  "over a socket: port 0, no certificates, a leftover socket is deleted": ({ s, options }) =>
    options.transport !== "unix-socket" ||
    (s["server-port"] === "0" &&
      s["uds-name"] !== undefined &&
      s["delete-existing-uds-file"] === "true" &&
      [s["server-cert"], s["server-key"], s["server-ca-cert"], s["server-bind-address"]].every(isAbsent)),
  "over TCP: all three certificates, on loopback where it can be, no socket": ({ s, options, knows }) =>
    options.transport !== "tcp" ||
    ([s["server-cert"], s["server-key"], s["server-ca-cert"]].every(isGiven) &&
      s["server-bind-address"] === (knows("server-bind-address") ? "127.0.0.1" : undefined) &&
      [s["uds-name"], s["delete-existing-uds-file"]].every(isAbsent)),
  "gRPC has no TCP": ({ s }) => s.mode !== "grpc" || isGiven(s["uds-name"]),
  "agents always meet TLS, and trust one CA": ({ s, a }) =>
    [s["cluster-cert"], s["cluster-key"], a["ca-cert"]].every(isGiven),
  "client certificates with mtls, and only then": ({ s, a, options }) =>
    [s["cluster-ca-cert"], a["agent-cert"], a["agent-key"]].every(
      options.authentication === "mtls" ? isGiven : isAbsent,
    ),
  "all that tokens need with service-account-token, and only then": ({ s, a, options }) =>
    [
      ...[s["agent-namespace"], s["agent-service-account"], s["authentication-audience"], s.kubeconfig],
      a["service-account-token-path"],
    ].every(options.authentication === "service-account-token" ? isGiven : isAbsent),
  "ports are neither reserved nor ephemeral": ({ s, a }) =>
    [s["agent-port"], s["health-port"], a["health-server-port"], a["proxy-server-port"]]
      .concat(s["server-port"] === "0" ? [] : [s["server-port"]])
      .every((port) => Number(port) >= 1024 && Number(port) <= 49151) &&
    (s["server-port"] !== "0" || isGiven(s["uds-name"])),
  "no two listeners of the server share a port": ({ s }) => {
    const taken = [s["server-port"], s["agent-port"], s["health-port"], s["admin-port"] ?? "8095"];
    return new Set(taken).size === taken.length;
  },
  "agents dial the port on which the server waits": ({ s, a }) => s["agent-port"] === a["proxy-server-port"],
  "agents dial the host that the node puts in": ({ a }) => a["proxy-server-host"] === "@SERVER_HOST@",
  "the server listens where the options say": ({ s, options, knows }) =>
    s["agent-bind-address"] ===
    (options.listenAddress === "all" || !knows("agent-bind-address") ? undefined : "@LISTEN_ADDRESS@"),
  "agents ping no more often than the server allows": ({ a, release }) =>
    seconds(a["keepalive-time"]) >= shortestPing[release] && seconds(a["keepalive-time"]) <= 600,
  "the server notices a vanished agent within half a minute": ({ s }) =>
    seconds(s["keepalive-time"]) >= 1 && seconds(s["keepalive-time"]) <= 10,
  "the server pings the kube-apiserver now and then": ({ s }) =>
    seconds(s["frontend-keepalive-time"]) >= 30 && seconds(s["frontend-keepalive-time"]) <= 300,
  "an agent's first wait is not above the longest": ({ a }) =>
    seconds(a["sync-interval"]) <= seconds(a["sync-interval-cap"]),
  "an agent is back within two seconds": ({ a }) =>
    seconds(a["sync-interval-cap"]) <= 2 && seconds(a["sync-interval"]) + seconds(a["probe-interval"]) <= 1,
  "agents join the server's first strategy": ({ s, a }) =>
    joins[(s["proxy-strategies"] ?? "default").split(",")[0] ?? ""]?.(
      new URLSearchParams(a["agent-identifiers"] ?? ""),
    ) ?? false,
  "there is one server": ({ s }) => s["server-count"] === "1",
  "the mode is the selector's protocol, and the options'": ({ s, selector, options }) =>
    s.mode === options.protocol &&
    clusterConnection(selector)?.proxyProtocol === { grpc: "GRPC", "http-connect": "HTTPConnect" }[options.protocol],
  "only the cluster's traffic is proxied": ({ selector }) =>
    selector.map(({ name }) => name).join() === "cluster,controlplane,etcd" &&
    selector.slice(1).every(({ connection }) => JSON.stringify(connection) === '{"proxyProtocol":"Direct"}'),
  "the kube-apiserver finds the socket where the server makes it": ({ s, selector, server }) => {
    const made = s["uds-name"];
    if (made === undefined) return clusterConnection(selector)?.transport?.uds === undefined;
    return (
      made.startsWith(socketFolder) &&
      server.mounts.some(({ mountPath, readOnly }) => `${mountPath}/` === socketFolder && readOnly !== true) &&
      clusterConnection(selector)?.transport?.uds?.udsName === made.replace(hostConfig, kasConfig)
    );
  },
  "the kube-apiserver dials the port with a certificate of its own": ({ s, selector }) => {
    const tcp = clusterConnection(selector)?.transport?.tcp;
    if (isGiven(s["uds-name"])) return tcp === undefined;
    const files = ["caBundle", "clientCert", "clientKey"].map((key) => tcp?.tlsConfig?.[key] ?? "");
    return (
      tcp?.url === `https://127.0.0.1:${s["server-port"] ?? ""}` &&
      new Set(files).size === 3 &&
      files.every((file) => file.startsWith(kasConfig))
    );
  },
  "every file is mounted": ({ server, agent }) =>
    [server, agent].every(({ args, mounts }) =>
      args
        .map(valueOf)
        .filter((value) => value.startsWith("/"))
        .every((path) => mounts.some(({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`))),
    ),
  "keys are mounted read-only": ({ server, agent }) =>
    [...server.mounts, ...agent.mounts].every(
      ({ mountPath, readOnly }) => readOnly === true || `${mountPath}/` === socketFolder,
    ),
  "the server sees nothing of the kube-apiserver's configuration": ({ server }) =>
    server.mounts.every(
      ({ mountPath }) => !socketFolder.startsWith(`${mountPath}/`) || `${mountPath}/` === socketFolder,
    ),
  "the server's health is for the machine alone": ({ s, knows }) =>
    s["health-bind-address"] === (knows("health-bind-address") ? "127.0.0.1" : undefined),
  "an agent's health is for its node alone": ({ a, options }) =>
    a["health-server-host"] === (options.hostNetwork ? "127.0.0.1" : undefined),
  "debugging is for the machine alone": ({ s, a, knows }) =>
    [s["admin-bind-address"], a["admin-bind-address"]].every(
      (address) => address === (knows("admin-bind-address") ? "127.0.0.1" : undefined),
    ),
  "TLS 1.2 has good suites for both kinds of keys": ({ s }) => {
    const suites = (s["cipher-suites"] ?? "").split(",");
    return suites.every((suite) => goodSuite.test(suite)) && new Set(suites.map((x) => x.split("_")[2])).size === 2;
  },
  "where it can be, nothing waits for ever": ({ s, server, release }) =>
    release !== "4.23+" ||
    // An agent's own dial ends after 5 s; the grace period must leave room for an orderly end.
    (seconds(s["backend-dial-timeout"]) > 5 &&
      seconds(s["graceful-shutdown-timeout"]) > 0 &&
      seconds(s["graceful-shutdown-timeout"]) < server.gracePeriod),
  "where it can be, TLS is 1.2 or newer and channels are wide": ({ s, release }) =>
    release !== "4.23+" ||
    (/^VersionTLS1[23]$/.test(s["tls-min-version"] ?? "") && Number(s["xfr-channel-size"]) >= 150),
} satisfies Record<string, (tunnel: Arguments) => boolean>;

/** The rules that a tunnel breaks. */
function argvProblems(tunnel: Tunnel): string[] {
  const byFlag = ({ args }: Binary) => Object.fromEntries(args.map((arg) => [flagOf(arg), valueOf(arg)]));
  const read: Arguments = {
    ...tunnel,
    s: byFlag(tunnel.server),
    a: byFlag(tunnel.agent),
    knows: (flag) => knownFlags[tunnel.release].server.includes(flag),
  };
  return Object.entries(rules).flatMap(([rule, holds]: [string, (tunnel: Arguments) => boolean]) =>
    holds(read) ? [] : [rule],
  );
}

const flagOf = (arg: string) => arg.replace(/^--/, "").split("=")[0] ?? "";
const valueOf = (arg: string) => arg.split("=").slice(1).join("=");
const isGiven = (value: string | undefined) => value !== undefined && value !== "";
const isAbsent = (value: string | undefined) => value === undefined;
const clusterConnection = (selector: Tunnel["selector"]) => selector.find(({ name }) => name === "cluster")?.connection;

/** A Go duration of one unit; anything else is not a number. */
function seconds(duration: string | undefined): number {
  const [, count, unit] = /^(\d+)(ms|s|m|h)$/.exec(duration ?? "") ?? [];
  return Number(count) * ({ ms: 0.001, s: 1, m: 60, h: 3600 }[unit ?? ""] ?? NaN);
}

/** What the node makes of a tunnel if it cannot ask the image: node/setup.sh, which test/e2e/node runs. */
function tunnelOf({ release, options, assets, server, agents, egress }: RenderedTunnel): Tunnel {
  const [, unknown = ""] = /^TUNNEL_UNKNOWN_FLAGS='(.*)'$/m.exec(textOf(assets, "settings.sh")) ?? [];
  const keepalive = unknown.split(" ").includes("agent-bind-address") ? "5m" : "30s";
  const binary = (object: typeof server | typeof agents): Binary => {
    const { args = [], volumeMounts = [] } = containerOf(object);
    return {
      args: args
        .filter((arg) => !unknown.split(" ").includes(flagOf(arg)))
        .map((arg) => arg.replace("@AGENT_KEEPALIVE@", keepalive)),
      mounts: volumeMounts,
      gracePeriod: podSpecOf(object).terminationGracePeriodSeconds ?? 30,
    };
  };
  const { authentication, listenAddress, transport, protocol, agents: wanted } = options;
  return {
    release,
    options: { authentication, listenAddress, transport, protocol, hostNetwork: wanted.hostNetwork },
    server: binary(server),
    agent: binary(agents),
    selector: egress.egressSelections,
  };
}

describe("the arguments of server and agents", () => {
  it("keep every rule, for every combination of options and every release", () => {
    const broken = renderedCases().flatMap((rendered) =>
      argvProblems(tunnelOf(rendered)).map((rule) => `${rendered.name}: ${rule}`),
    );
    expect(broken).toEqual([]);
    // 864 combinations; without gRPC over TCP 216 per release.
    expect(renderedCases()).toHaveLength(3 * 216);
  });

  it("exist for the combinations that work, and for no other", () => {
    const refused = allCases.filter((tunnelCase) => !mustWork(tunnelCase));
    const accepted = refused.filter(({ options, release }) => problemsOf(() => render(options, release)).length === 0);
    expect(accepted.map(({ name }) => name)).toEqual([]);
    expect(refused).toHaveLength(864 - 3 * 216);
  });

  it.each(releases)("name both binaries' flags of %s once each", (release) => {
    const { server, agent } = knownFlags[release];
    expect([server.length, agent.length]).toEqual([new Set(server).size, new Set(agent).size]);
  });
});

/** One way to break each rule; a rule without one does not compile. */
type Break = (tunnel: Tunnel) => Tunnel;

const without =
  (binary: "server" | "agent", ...flags: string[]): Break =>
  (tunnel) => ({
    ...tunnel,
    [binary]: { ...tunnel[binary], args: tunnel[binary].args.filter((arg) => !flags.includes(flagOf(arg))) },
  });
const adding =
  (binary: "server" | "agent", ...args: string[]): Break =>
  (tunnel) => ({ ...tunnel, [binary]: { ...tunnel[binary], args: [...tunnel[binary].args, ...args] } });
const setting =
  (binary: "server" | "agent", flag: string, value: string): Break =>
  (tunnel) =>
    adding(binary, `--${flag}=${value}`)(without(binary, flag)(tunnel));
const selecting =
  (change: (text: string) => string): Break =>
  (tunnel) => ({ ...tunnel, selector: JSON.parse(change(JSON.stringify(tunnel.selector))) as Tunnel["selector"] });
const mounting =
  (binary: "server" | "agent", change: (mount: VolumeMount) => VolumeMount[]): Break =>
  (tunnel) => ({ ...tunnel, [binary]: { ...tunnel[binary], mounts: tunnel[binary].mounts.flatMap(change) } });

const breaks: Record<keyof typeof rules, Partial<Record<string, Break[]>>> = {
  "every argument is --flag=value": { default: [adding("server", "--enable-profiling"), adding("agent", "-v=2")] },
  "no flag is given twice": { default: [adding("server", "--v=3"), adding("agent", "--v=3")] },
  "no binary gets a flag that its release does not know": {
    default: [adding("server", "--no-such-flag=1"), adding("agent", "--no-such-flag=1")],
    middle: [adding("server", "--xfr-channel-size=150"), adding("server", "--backend-dial-timeout=10s")],
    oldest: [adding("server", "--health-bind-address=127.0.0.1"), adding("agent", "--admin-bind-address=127.0.0.1")],
  },
  "over a socket: port 0, no certificates, a leftover socket is deleted": {
    default: [
      without("server", "server-port"),
      without("server", "delete-existing-uds-file"),
      adding("server", "--server-cert=/etc/konnectivity/serving/tls.crt"),
    ],
  },
  "over TCP: all three certificates, on loopback where it can be, no socket": {
    tcp: [without("server", "server-ca-cert"), setting("server", "server-bind-address", "0.0.0.0")],
  },
  "gRPC has no TCP": { default: [without("server", "uds-name")] },
  "agents always meet TLS, and trust one CA": {
    default: [without("server", "cluster-cert", "cluster-key"), without("agent", "ca-cert")],
  },
  "client certificates with mtls, and only then": {
    default: [without("server", "cluster-ca-cert"), without("agent", "agent-key")],
    tokens: [adding("server", "--cluster-ca-cert=/etc/konnectivity/serving/ca.crt")],
    none: [adding("server", "--cluster-ca-cert=/etc/konnectivity/serving/ca.crt")],
  },
  "all that tokens need with service-account-token, and only then": {
    tokens: [without("server", "authentication-audience"), without("server", "kubeconfig")],
    none: [adding("agent", "--service-account-token-path=/etc/konnectivity/token/token")],
  },
  "ports are neither reserved nor ephemeral": {
    default: [setting("server", "health-port", "80"), setting("agent", "health-server-port", "49152")],
    tcp: [setting("server", "server-port", "0")],
  },
  "no two listeners of the server share a port": { default: [setting("server", "health-port", "8091")] },
  "agents dial the port on which the server waits": { default: [setting("agent", "proxy-server-port", "8090")] },
  "agents dial the host that the node puts in": { default: [without("agent", "proxy-server-host")] },
  "the server listens where the options say": {
    default: [without("server", "agent-bind-address")],
    all: [adding("server", "--agent-bind-address=@LISTEN_ADDRESS@")],
  },
  "agents ping no more often than the server allows": {
    default: [setting("agent", "keepalive-time", "29s"), without("agent", "keepalive-time")],
    oldest: [setting("agent", "keepalive-time", "30s")],
  },
  "the server notices a vanished agent within half a minute": {
    default: [without("server", "keepalive-time"), setting("server", "keepalive-time", "30s")],
  },
  "the server pings the kube-apiserver now and then": { default: [without("server", "frontend-keepalive-time")] },
  "an agent's first wait is not above the longest": { default: [setting("agent", "sync-interval", "11s")] },
  "an agent is back within two seconds": {
    default: [
      setting("agent", "sync-interval-cap", "10s"),
      setting("agent", "sync-interval", "1s"),
      without("agent", "probe-interval"),
    ],
  },
  "agents join the server's first strategy": {
    default: [setting("server", "proxy-strategies", "destHost,defaultRoute"), without("agent", "agent-identifiers")],
  },
  "there is one server": { default: [setting("server", "server-count", "2")] },
  "the mode is the selector's protocol, and the options'": {
    default: [setting("server", "mode", "http-connect"), selecting((text) => text.replace("GRPC", "HTTPConnect"))],
  },
  "only the cluster's traffic is proxied": { default: [selecting((text) => text.replace("Direct", "GRPC"))] },
  "the kube-apiserver finds the socket where the server makes it": {
    default: [
      setting("server", "uds-name", "/etc/kubernetes/konnectivity-server/konnectivity-server.socket"),
      selecting((text) => text.replace("konnectivity-server.socket", "another.socket")),
      mounting("server", (mount) => [{ ...mount, readOnly: true }]),
    ],
  },
  "the kube-apiserver dials the port with a certificate of its own": {
    tcp: [
      setting("server", "server-port", "8089"),
      selecting((text) => text.replace("https:", "http:")),
      selecting((text) => text.replace("clientCert", "clientCertificate")),
    ],
  },
  "every file is mounted": { default: [mounting("server", () => []), mounting("agent", () => [])] },
  "keys are mounted read-only": { default: [mounting("agent", ({ readOnly: _, ...mount }) => [mount])] },
  "the server sees nothing of the kube-apiserver's configuration": {
    default: [
      mounting("server", (mount) => [mount, { name: "configs", mountPath: "/etc/kubernetes/bootstrap-configs" }]),
    ],
  },
  "the server's health is for the machine alone": { default: [without("server", "health-bind-address")] },
  "an agent's health is for its node alone": {
    default: [setting("agent", "health-server-host", "127.0.0.1")],
    hostNetwork: [without("agent", "health-server-host")],
  },
  "debugging is for the machine alone": { default: [setting("server", "admin-bind-address", "0.0.0.0")] },
  "TLS 1.2 has good suites for both kinds of keys": {
    default: [
      without("server", "cipher-suites"),
      setting("server", "cipher-suites", "TLS_RSA_WITH_AES_128_CBC_SHA"),
      setting("server", "cipher-suites", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
    ],
  },
  "where it can be, nothing waits for ever": {
    default: [without("server", "backend-dial-timeout"), setting("server", "graceful-shutdown-timeout", "10s")],
  },
  "where it can be, TLS is 1.2 or newer and channels are wide": { default: [without("server", "xfr-channel-size")] },
};

/** Good tunnels to break: the defaults for the newest release, unless the name says otherwise. */
const starts: Record<string, string> = {
  default: "4.23+ grpc unix-socket mtls address DaemonSet",
  middle: "4.14-4.22 grpc unix-socket mtls address DaemonSet",
  oldest: "4.12-4.13 grpc unix-socket mtls address DaemonSet",
  tcp: "4.23+ http-connect tcp mtls address DaemonSet",
  tokens: "4.23+ grpc unix-socket service-account-token address DaemonSet",
  none: "4.23+ grpc unix-socket none address DaemonSet",
  all: "4.23+ grpc unix-socket mtls all DaemonSet",
  hostNetwork: "4.23+ grpc unix-socket mtls address DaemonSet host network",
};

describe("the rules can fail", () => {
  it.each(
    Object.entries(breaks).flatMap(([rule, byStart]) =>
      Object.entries(byStart).flatMap(([start, list = []]) => list.map((change, i) => ({ rule, start, change, i }))),
    ),
  )("$rule ($start, $i)", ({ rule, start, change }) => {
    const good = renderedCases().find(({ name }) => name === starts[start]);
    if (good === undefined) throw new Error(`no case ${starts[start] ?? start}`);
    expect(argvProblems(tunnelOf(good))).toEqual([]);
    expect(argvProblems(change(tunnelOf(good)))).toContain(rule);
  });
});
