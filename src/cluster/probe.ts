import { spawn } from "node:child_process";
import { readProjectText } from "../runtime/project-files.js";
import { lastReason, type Reason } from "./reasons.ts";

/** What is run on a machine to see its part of the tunnel. */
export const probeScript = readProjectText("src/cluster/probe.sh");

/** The sections that probe.sh prints; a test compares them. An agent's have its number in front. */
export const machineSections = [
  ...["machine", "record", "ended", "server-pod", "stages", "said", "certificates", "egress-selector"],
  ...["kube-apiserver-config", "kube-apiserver", "healthz", "readyz", "metrics", "sockets", "arguments"],
  ...["container", "log", "end"],
];
export const agentSections = [
  "container",
  "arguments",
  "proxies",
  "certificates",
  "readyz",
  "metrics",
  "dialling",
  "log",
];

/** Whether the probe prints a section of this name. The answer comes from a machine, which may have made up others. */
export function isProbeSection(name: string): boolean {
  const [, ofAgent] = /^agent-\d{1,3}\.(.*)$/.exec(name) ?? [];
  return ofAgent === undefined ? machineSections.includes(name) : agentSections.includes(ofAgent);
}

/** A way onto a machine, to run bash there as root. */
export interface Transport {
  /** How the user knows the machine. */
  readonly machine: string;
  /** What runs `bash -s`, and takes the script's own arguments behind it. */
  readonly command: readonly string[];
  /** Sections that the machine itself cannot give. @default - none */
  readonly beside?: () => Readonly<Record<string, string>>;
}

/** By the system's ssh, with whatever its own config says of that destination. It never asks for a password. */
export function waysBySsh(destinations: readonly string[]): Transport[] {
  const limits = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5"];
  return destinations.map((destination) => ({
    machine: destination,
    command: ["ssh", ...limits, "--", destination, "sudo", "-n", "bash", "-s", "--"],
  }));
}

/** What a machine said, or why it did not. */
export type Answer =
  | { readonly machine: string; readonly sections: ReadonlyMap<string, string> }
  | { readonly machine: string; readonly silent: string };

/** Runs the probe on a machine. */
export async function ask({ machine, command, beside }: Transport, logLines: number): Promise<Answer> {
  const [program = "", ...args] = command;
  const { text, complaint } = await output(program, [...args, String(logLines)], probeScript);
  const sections = sectionsOf(text);
  if (!sections.has("end")) return { machine, silent: complaint };
  for (const [name, lines] of Object.entries(beside?.() ?? {})) sections.set(name, lines);
  return { machine, sections };
}

function output(program: string, args: readonly string[], input: string): Promise<{ text: string; complaint: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "pipe" });
    // Not spawn's own: that goes on when the program is not there, and keeps everything waiting.
    const limit = setTimeout(() => child.kill(), 60_000);
    let [text, complaints] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (part: string) => (text += part));
    child.stderr.setEncoding("utf8").on("data", (part: string) => (complaints += part));
    // A program that ends before it has read everything: how it ended says more.
    child.stdin.on("error", () => undefined).end(input);
    child.on("error", (error) => {
      clearTimeout(limit);
      resolve({ text, complaint: `${program} cannot be run: ${error.message}` });
    });
    child.on("close", (code) => {
      clearTimeout(limit);
      const lines = complaints.split(/\r?\n/).filter((line) => line.trim() !== "");
      resolve({ text, complaint: lines.at(-1) ?? `${program} ended with ${String(code)} and no answer` });
    });
  });
}

/** "== NAME" begins a section; its lines stand behind a space. */
function sectionsOf(text: string): Map<string, string> {
  const sections = new Map<string, string>();
  let lines: string[] = [];
  const end = (name: string | undefined) => name !== undefined && sections.set(name, lines.join("\n"));
  let name: string | undefined;
  for (const line of text.split("\n")) {
    if (line.startsWith(" ")) lines.push(line.slice(1));
    else if (line.startsWith("== ")) {
      end(name);
      [name, lines] = [line.slice(3), []];
    }
  }
  end(name);
  return sections;
}

export interface Certificate {
  /** Below its folder, like serving/tls.crt. */
  readonly file: string;
  readonly from: Date;
  readonly until: Date;
  readonly sha256: string;
  /** Whom it is for, if it says so. */
  readonly names: readonly string[];
}

/** The bootstrap machine's side. */
export interface ServerStatus {
  readonly machine: string;
  readonly now: Date;
  /** Whether the bootstrap has ended, and the tunnel with it. */
  readonly ended: boolean;
  /** Whether the server's pod is to run. */
  readonly wanted: boolean;
  /** The stage of ours that failed last, if bootkube.sh has not got past it since. */
  readonly failedStage: string | undefined;
  /** Our last sentence in bootkube's journal. */
  readonly said: string | undefined;
  /** HTTP codes; 0 if nothing answers. */
  readonly healthz: number;
  readonly readyz: number;
  /** How many agents are connected; unknown if the server does not say. */
  readonly agents: number | undefined;
  readonly dialErrors: Readonly<Record<string, number>>;
  readonly pendingDials: number;
  /** Addresses that it listens on for agents. */
  readonly listens: readonly string[];
  /** Who is connected, and who was a moment ago. */
  readonly peers: readonly string[];
  readonly formerPeers: readonly string[];
  readonly certificates: readonly Certificate[];
  readonly lastLogLine: string | undefined;
}

/** A node's side: one agent. */
export interface AgentSeen {
  readonly where: string;
  readonly now: Date;
  readonly runs: boolean;
  /** HTTP code; 0 if nothing answers. */
  readonly readyz: number;
  /** The address that it dials. */
  readonly dials: string | undefined;
  /** Whether a dial of it waits for an answer just now. */
  readonly dialling: boolean;
  /** Why it is not connected, as its log says. */
  readonly reason: Reason | undefined;
  /** The proxy that its dials take. */
  readonly proxy: string | undefined;
  readonly certificates: readonly Certificate[];
}

export interface MachineSeen {
  readonly machine: string;
  /** Nothing if it is not a bootstrap machine with a tunnel of ours. */
  readonly server: ServerStatus | undefined;
  readonly agents: readonly AgentSeen[];
}

/** What an answer means. */
export function readAnswer(sections: ReadonlyMap<string, string>): MachineSeen {
  const section = (name: string) => sections.get(name) ?? "";
  // Its own name, which is the node's name in the cluster too.
  const machine = /^name=(.*)$/m.exec(section("machine"))?.[1] ?? "";
  const now = new Date(1000 * Number(/^now=(\d+)$/m.exec(section("machine"))?.[1] ?? 0));
  const numbers = [...sections.keys()].flatMap((name) => /^agent-(\d+)\.container$/.exec(name)?.[1] ?? []);
  return {
    machine,
    server: sections.has("record") ? readServer(machine, now, sections, section) : undefined,
    agents: numbers.map((number) => readAgent(machine, now, (name) => section(`agent-${number}.${name}`))),
  };
}

function readServer(
  machine: string,
  now: Date,
  sections: ReadonlyMap<string, string>,
  section: (name: string) => string,
): ServerStatus {
  const metrics = metricsOf(section("metrics"), "konnectivity_network_proxy_server_");
  const sockets = linesOf(section("sockets")).map((line) => line.split(/\s+/));
  const connected = sockets.filter(([state]) => state === "ESTAB");
  const former = sockets.filter(([state]) => state !== "ESTAB" && state !== "LISTEN");
  const hostOf = (address = "") => address.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
  const peers = (some: readonly string[][]) => [...new Set(some.map((socket) => hostOf(socket[4])))].sort();
  const answers = codeOf(section("healthz")) === 200;
  return {
    machine,
    now,
    ended: sections.has("ended"),
    wanted: sections.has("server-pod"),
    failedStage: failedStage(section("stages")),
    said: linesOf(section("said"))
      .at(-1)
      ?.replace(/^konnectivity-bootstrap: /, ""),
    healthz: codeOf(section("healthz")),
    readyz: codeOf(section("readyz")),
    // Every release counts the agents' streams, from the first one on.
    agents: answers ? sum(metrics, "grpc_connections", 'service_method="Connect"') : undefined,
    dialErrors: byReason(metrics),
    pendingDials: sum(metrics, "pending_backend_dials"),
    listens: sockets.filter(([state]) => state === "LISTEN").map((socket) => socket[3] ?? ""),
    peers: peers(connected),
    formerPeers: peers(former),
    certificates: certificatesOf(section("certificates")),
    lastLogLine: linesOf(section("log")).at(-1),
  };
}

function readAgent(where: string, now: Date, section: (name: string) => string): AgentSeen {
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

/** The last of our stages, if it failed and none of bootkube's came after it. */
function failedStage(text: string): string | undefined {
  const stages = linesOf(text)
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { phase: string; stage: string | null; result: string | null })
    .filter(({ phase }) => phase === "stage end");
  const last = stages.at(-1);
  return last?.result === "failure" && last.stage?.startsWith("konnectivity-") === true ? last.stage : undefined;
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

/** As grpc-go reads the environment: the proxy for TLS, unless the host is excepted. */
function proxyFor(host: string, environment: string): string | undefined {
  const value = (name: string) => new RegExp(`^${name}=(.+)$`, "im").exec(environment)?.[1];
  const excepted = (value("no_proxy") ?? "").split(",").map((one) => one.trim());
  return excepted.includes(host) || excepted.includes("*") ? undefined : value("https_proxy");
}
