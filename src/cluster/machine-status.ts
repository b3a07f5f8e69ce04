import { isObject } from "../core/ignition/config.ts";
import { defaultAgentPort } from "../core/konnectivity/agent-port.ts";
import { type TunnelKind, tunnelKinds } from "../core/konnectivity/tunnel-names.ts";
import { lastReason, type Reason } from "./reasons.ts";

export interface Certificate {
  /** Path below the certificates' folder, such as serving/tls.crt: see tunnel-names.ts. */
  readonly file: string;
  readonly from: Date;
  readonly until: Date;
  readonly sha256: string;
  /** Its subject alternative names. */
  readonly names: readonly string[];
}

/** The tunnel's server on the bootstrap machine. */
export interface ServerStatus {
  readonly machine: string;
  /** Whose tunnel it is. */
  readonly tunnel: TunnelKind;
  readonly now: Date;
  /** Whether the bootstrap has ended, and the tunnel with it. */
  readonly ended: boolean;
  /** With `tunnel.required: false`: why this machine goes on without its tunnel. @default - it does not */
  readonly givenUp?: string;
  /** The digest of the server's CA, which is also on the agents that have it. @default - there is no server */
  readonly pki?: string;
  /** Whether the server's static pod manifest exists. */
  readonly wanted: boolean;
  /** Whether an operator has switched the tunnel off: the kube-apiserver connects directly. @default - it is on */
  readonly switchedOff?: true;
  /** The tunnel's stage of bootkube.sh that failed, unless a later stage has ended since. */
  readonly failedStage: string | undefined;
  /** The last message of the tunnel's scripts in bootkube's journal. */
  readonly said: string | undefined;
  /** HTTP status codes; 0 if nothing answers. */
  readonly healthz: number;
  readonly readyz: number;
  /** Number of connected agents; undefined if the server does not answer. */
  readonly agents: number | undefined;
  readonly dialErrors: Readonly<Record<string, number>>;
  readonly pendingDials: number;
  /** The port for agents. */
  readonly port: number;
  /** Addresses on which it listens for agents. */
  readonly listens: readonly string[];
  /** Addresses of connected agents. */
  readonly peers: readonly string[];
  /** Addresses that were connected a moment ago. */
  readonly formerPeers: readonly string[];
  readonly certificates: readonly Certificate[];
  readonly lastLogLine: string | undefined;
}

/** One agent, as seen on its node. */
export interface AgentStatus {
  readonly where: string;
  readonly now: Date;
  readonly runs: boolean;
  /** HTTP status code; 0 if nothing answers. */
  readonly readyz: number;
  /** The address that it dials. */
  readonly dials: string | undefined;
  /** Whether it waits for an answer to a TCP SYN right now. */
  readonly dialling: boolean;
  /** Why it is not connected, according to its log. */
  readonly reason: Reason | undefined;
  /** The HTTP proxy through which it dials. */
  readonly proxy: string | undefined;
  readonly certificates: readonly Certificate[];
}

export interface MachineStatus {
  readonly machine: string;
  /** undefined if it is not a bootstrap machine with a tunnel. */
  readonly server: ServerStatus | undefined;
  readonly agents: readonly AgentStatus[];
}

/** Interprets the sections that the probe printed on a machine. */
export function parseProbe(sections: ReadonlyMap<string, string>): MachineStatus {
  const section = (name: string) => sections.get(name) ?? "";
  // Its host name is the node's name in the cluster, too.
  const machine = /^name=(.*)$/m.exec(section("machine"))?.[1] ?? "";
  const now = new Date(1000 * Number(/^now=(\d+)$/m.exec(section("machine"))?.[1] ?? 0));
  const tunnel = section("tunnel");
  const numbers = [...sections.keys()].flatMap((name) => /^agent-(\d+)\.container$/.exec(name)?.[1] ?? []);
  return {
    machine,
    server: isTunnelKind(tunnel) ? readServer(machine, now, sections, section, tunnel) : undefined,
    agents: numbers.map((number) => readAgent(machine, now, (name) => section(`agent-${number}.${name}`))),
  };
}

const isTunnelKind = (text: string): text is TunnelKind => (tunnelKinds as readonly string[]).includes(text);

function readServer(
  machine: string,
  now: Date,
  sections: ReadonlyMap<string, string>,
  section: (name: string) => string,
  tunnel: TunnelKind,
): ServerStatus {
  const metrics = metricsOf(section("metrics"), "konnectivity_network_proxy_server_");
  const sockets = linesOf(section("sockets")).map((line) => line.split(/\s+/));
  const connected = sockets.filter(([state]) => state === "ESTAB");
  const former = sockets.filter(([state]) => state !== "ESTAB" && state !== "LISTEN");
  const hostOf = (address = "") => address.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
  const peers = (some: readonly string[][]) => [...new Set(some.map((socket) => hostOf(socket[4])))].sort();
  const answers = codeOf(section("healthz")) === 200;
  const [givenUp] = linesOf(section("given-up"));
  const pki = /konnectivity-bootstrap\/pki: '([0-9a-f]{16})'/.exec(section("server-pod"))?.[1];
  return {
    ...(givenUp !== undefined && { givenUp }),
    ...(pki !== undefined && { pki }),
    machine,
    tunnel,
    now,
    ended: sections.has("ended"),
    wanted: sections.has("server-pod"),
    ...(isDirect(section("egress-selector")) && { switchedOff: true as const }),
    failedStage: failedStage(section("stages")),
    said: linesOf(section("said"))
      .at(-1)
      ?.replace(/^konnectivity-bootstrap: /, ""),
    healthz: codeOf(section("healthz")),
    readyz: codeOf(section("readyz")),
    // Servers of every release have this metric once the first agent has connected.
    agents: answers ? sum(metrics, "grpc_connections", 'service_method="Connect"') : undefined,
    dialErrors: byReason(metrics),
    pendingDials: sum(metrics, "pending_backend_dials"),
    port: Number(/^\d{1,5}$/m.exec(section("agent-port"))?.[0] ?? defaultAgentPort),
    listens: sockets.filter(([state]) => state === "LISTEN").map((socket) => socket[3] ?? ""),
    peers: peers(connected),
    formerPeers: peers(former),
    certificates: certificatesOf(section("certificates")),
    lastLogLine: linesOf(section("log")).at(-1),
  };
}

function readAgent(where: string, now: Date, section: (name: string) => string): AgentStatus {
  const flag = (name: string) => new RegExp(`^--${name}=(.*)$`, "m").exec(section("arguments"))?.[1];
  const host = flag("proxy-server-host");
  return {
    where,
    now,
    runs: section("container").startsWith("running") || section("container").startsWith("CONTAINER_RUNNING"),
    readyz: codeOf(section("readyz")),
    dials: host === undefined ? undefined : `${host}:${flag("proxy-server-port") ?? ""}`,
    dialling: linesOf(section("dialling")).length > 0,
    reason: lastReason(section("log")),
    proxy: proxyFor(host ?? "", section("proxies")),
    certificates: certificatesOf(section("certificates")),
  };
}

const linesOf = (text: string) => text.split("\n").filter((line) => line.trim() !== "");
const codeOf = (text: string) => Number(linesOf(text).at(-1) ?? 0);

/** Whether an egress selector sends nothing through a tunnel. A selector that is missing says nothing. */
const isDirect = (selector: string) => /\bDirect\b/.test(selector) && !/\b(GRPC|HTTPConnect)\b/.test(selector);

/** The stage that ended last, if it is one of the tunnel's and failed. */
function failedStage(text: string): string | undefined {
  const last = linesOf(text)
    .map(stageOf)
    .filter((stage) => stage?.phase === "stage end")
    .at(-1);
  if (last?.result !== "failure" || typeof last.stage !== "string") return undefined;
  return last.stage.startsWith("konnectivity-") ? last.stage : undefined;
}

/** @returns undefined if the line is no stage, as on a machine that lost power while it wrote */
function stageOf(line: string): Record<string, unknown> | undefined {
  try {
    const stage: unknown = JSON.parse(line);
    return isObject(stage) ? stage : undefined;
  } catch {
    return undefined;
  }
}

type Metrics = readonly { readonly name: string; readonly labels: string; readonly value: number }[];

function metricsOf(text: string, prefix: string): Metrics {
  return linesOf(text).flatMap((line) => {
    const [, name = "", labels = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    return name.startsWith(prefix) ? [{ name: name.slice(prefix.length), labels, value: Number(value) }] : [];
  });
}

const sum = (metrics: Metrics, name: string, labels = "") =>
  metrics.filter((one) => one.name === name && one.labels.includes(labels)).reduce((all, { value }) => all + value, 0);

function byReason(metrics: Metrics): Record<string, number> {
  const errors = metrics.filter(({ name, value }) => name === "dial_failure_count" && value > 0);
  return Object.fromEntries(errors.map(({ labels, value }) => [/reason="([^"]*)"/.exec(labels)?.[1] ?? labels, value]));
}

function certificatesOf(text: string): Certificate[] {
  return text
    .split(/^file=/m)
    .slice(1)
    .flatMap((block) => {
      const value = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(block)?.[1] ?? "";
      const [file = ""] = block.split("\n");
      const until = new Date(value("notAfter"));
      if (Number.isNaN(until.getTime())) return [];
      const names = value("name").split(", ").filter(Boolean);
      return [
        {
          file,
          from: new Date(value("notBefore")),
          until,
          sha256: value("(?:sha256|SHA256) Fingerprint").replaceAll(":", "").toLowerCase(),
          names: names.map((name) => name.replace(/^(IP Address|DNS):/, "")),
        },
      ];
    });
}

/** Follows grpc-go: HTTPS_PROXY, unless NO_PROXY lists the host. */
function proxyFor(host: string, environment: string): string | undefined {
  const value = (name: string) => new RegExp(`^${name}=(.+)$`, "im").exec(environment)?.[1];
  const excepted = (value("no_proxy") ?? "").split(",").map((one) => one.trim());
  return excepted.includes(host) || excepted.includes("*") ? undefined : value("https_proxy");
}
