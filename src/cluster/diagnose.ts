import { agentSecretName, namespace, ports } from "../core/konnectivity/names.ts";
import type { PodsSeen } from "./agent-pods.ts";
import type { AgentSeen, Certificate, MachineSeen, ServerStatus } from "./probe.ts";
import type { Reason, ReasonCode } from "./reasons.ts";

/** Everything that was looked at. */
export interface Seen {
  readonly machines: readonly MachineSeen[];
  /** Machines that did not answer, with the reason. */
  readonly silent: readonly { readonly machine: string; readonly reason: string }[];
  /** The cluster's side. @default - not looked at */
  readonly cluster?: PodsSeen;
  /** The command line that prints the firewall rule of this cluster, ready to run. @default - not known */
  readonly firewallCommand?: string;
}

/** Something to say about the tunnel. */
export interface Finding {
  readonly code: string;
  /** wrong: somebody must do something. unknown: it could not be looked at. waiting: time does it. note: good to know. */
  readonly kind: "wrong" | "unknown" | "waiting" | "note";
  readonly what: string;
  readonly advice: string;
}

export interface Status {
  /** unknown: nothing that was looked at tells. */
  readonly state: "carries" | "waiting" | "broken" | "ended" | "unknown";
  readonly server: ServerStatus | undefined;
  readonly agents: readonly AgentSeen[];
  readonly cluster: PodsSeen | undefined;
  readonly findings: readonly Finding[];
}

/** A bootstrap that takes longer than that loses agents that have to connect again. */
const soon = 2 * 3600_000;

/** What all of it means, in words. Pure. */
export function diagnose(seen: Seen): Status {
  const server = seen.machines.find((machine) => machine.server !== undefined)?.server;
  const agents = seen.machines.flatMap((machine) => machine.agents);
  const { cluster } = seen;
  const base = { server, agents, cluster };
  if (server?.ended === true || (cluster !== undefined && "pods" in cluster && cluster.ended)) {
    const advice = "npx cdktf destroy removes the machine, when the cluster says that it may go";
    const what = "the bootstrap has ended, and the tunnel with it";
    return { ...base, state: "ended", findings: [{ code: "ended", kind: "note", what, advice }] };
  }
  const findings = [
    ...silence(seen),
    ...ofServer(server),
    ...ofCertificates(server, agents),
    ...ofAgents(server, agents, cluster, seen.firewallCommand),
    ...ofDials(server),
  ];
  // A date that is over explains a handshake that failed.
  const known = new Set<string>();
  const once = findings.filter(({ code, what }) => {
    const key = code === "certificate-expired" ? code : `${code} ${what}`;
    return known.has(key) ? false : known.add(key);
  });
  return { ...base, state: stateOf(server, cluster, once), findings: once };
}

function stateOf(server: ServerStatus | undefined, cluster: PodsSeen | undefined, findings: readonly Finding[]) {
  const connected = server?.healthz === 200 && (server.agents ?? 0) > 0;
  const ready = cluster !== undefined && "pods" in cluster && cluster.pods.some((pod) => pod.ready);
  if (connected || (server === undefined && ready)) return "carries";
  if (findings.some(({ kind }) => kind === "wrong")) return "broken";
  return findings.some(({ kind }) => kind === "waiting") ? "waiting" : "unknown";
}

function silence({ silent, cluster, machines }: Seen): Finding[] {
  return [
    ...silent.map(({ machine, reason }): Finding => ({
      code: "machine-silent",
      kind: "unknown",
      what: `${machine} cannot be looked at: ${reason}`,
      advice: "check that ssh leads there without a password, as a user who may run sudo",
    })),
    ...(cluster !== undefined && "silent" in cluster
      ? [
          {
            code: "api-silent",
            kind: "unknown" as const,
            what: cluster.silent,
            advice: "check the kubeconfig, and whether the API's load balancer has the bootstrap machine",
          },
        ]
      : []),
    // A machine that did not answer may be the one with the tunnel.
    ...(silent.length === 0 &&
    machines.length > 0 &&
    machines.every(({ server, agents }) => server === undefined && agents.length === 0)
      ? [
          {
            code: "no-tunnel",
            kind: "wrong" as const,
            what: `there is nothing of a tunnel on ${machines.map(({ machine }) => machine).join(", ")}`,
            advice: "give the bootstrap machine (--ssh); with tunnel: off there is none",
          },
        ]
      : []),
  ];
}

function ofServer(server: ServerStatus | undefined): Finding[] {
  if (server === undefined || server.healthz === 200) return [];
  const { failedStage, said, wanted, lastLogLine } = server;
  if (failedStage !== undefined)
    return [
      {
        code: "set-up-failed",
        kind: "wrong",
        what: `bootkube.sh fails in its stage ${failedStage}${said === undefined ? "" : `: ${said}`}`,
        advice: "journalctl -u bootkube on the bootstrap machine; it is tried again and again",
      },
    ];
  if (!wanted)
    return [
      {
        code: "not-set-up",
        kind: "waiting",
        what: "bootkube.sh has not come to the tunnel yet",
        advice: "wait; journalctl -u bootkube on the bootstrap machine says where it is",
      },
    ];
  return [
    {
      code: "server-down",
      kind: "wrong",
      what:
        "the server does not run, so every call into the cluster waits for its time-out" +
        (lastLogLine === undefined ? "" : `; its last words: ${lastLogLine}`),
      advice: "on the bootstrap machine: crictl ps --all --name konnectivity-server, and journalctl -u kubelet",
    },
  ];
}

function ofCertificates(server: ServerStatus | undefined, agents: readonly AgentSeen[]): Finding[] {
  const all = [...(server === undefined ? [] : [server]), ...agents].flatMap((side) =>
    side.certificates.map((certificate) => ({ ...certificate, now: side.now, where: whereOf(side) })),
  );
  const list = (some: readonly (Certificate & { where: string })[]) =>
    some.map(({ file, until, where }) => `${file} on ${where} (${utc(until)})`).join(", ");
  const over = all.filter(({ until, now }) => until <= now);
  const ending = all.filter(({ until, now }) => until > now && until.getTime() - now.getTime() < soon);
  return [
    ...(over.length > 0
      ? [
          {
            code: "certificate-expired",
            kind: "wrong" as const,
            what: `certificates have expired: ${list(over)}; agents that are connected stay so, but none can connect again`,
            advice: expiredAdvice,
          },
        ]
      : []),
    ...(ending.length > 0
      ? [
          {
            code: "certificate-ends-soon",
            kind: "note" as const,
            what: `certificates end within two hours: ${list(ending)}`,
            advice: "agents that are connected stay so, but after that none can connect again",
          },
        ]
      : []),
  ];
}

const expiredAdvice =
  "start the installation again, with more certificates.days; a bootstrap that is nearly done may get to its end with the agents it has";

function ofAgents(
  server: ServerStatus | undefined,
  agents: readonly AgentSeen[],
  cluster: PodsSeen | undefined,
  firewallCommand: string | undefined,
): Finding[] {
  // Without a server no agent can be connected: that is said already.
  if (server !== undefined && server.healthz !== 200) return [];
  // Up to 4.13 an agent is ready whatever its connection does; the server knows better.
  const away = agents.filter(({ runs, readyz }) => runs && (readyz !== 200 || server?.agents === 0));
  const pods = cluster !== undefined && "pods" in cluster ? cluster.pods : [];
  const seenOnNode = new Set(agents.map(({ where }) => where));
  const sides = [
    ...away,
    ...pods
      .filter(({ ready, node }) => !ready && !seenOnNode.has(node))
      .map(({ node, reason }) => ({ where: node, reason, dialling: false, certificates: [] })),
  ];
  const findings = sides.flatMap((side) => whyAway(side, server, firewallCommand));
  if ((server?.agents ?? 0) > 0 || findings.length > 0) return findings;
  if (server === undefined && (pods.length === 0 || pods.some(({ ready }) => ready))) return [];
  return withoutReason(pods, server, cluster, away);
}

interface Side {
  readonly where: string;
  readonly reason: Reason | undefined;
  readonly dials?: string | undefined;
  readonly dialling: boolean;
  readonly proxy?: string | undefined;
  readonly certificates: readonly Certificate[];
}

/** Why one agent is not connected, as it says itself. */
function whyAway(side: Side, server: ServerStatus | undefined, firewallCommand: string | undefined): Finding[] {
  const { where, reason, dials, dialling, proxy } = side;
  const target = dials ?? `the bootstrap machine's port ${ports.agent}`;
  if (proxy !== undefined)
    return [
      {
        code: "proxy-in-the-way",
        kind: "wrong",
        what: `the agent on ${where} dials through the proxy ${proxy}${reason === undefined ? "" : ` (${reason.words})`}`,
        advice: `something puts HTTPS_PROXY into its pod: add the bootstrap address to noProxy`,
      },
    ];
  if (reason !== undefined) {
    const { kind = "wrong", ...said } = meanings[reason.code]({
      ...{ where, target, words: reason.words, server, firewallCommand },
      sameCa: sameCa(side.certificates, server),
    });
    return [{ kind, ...said }];
  }
  if (dialling) return [blocked({ where, target, words: "its dial has no answer", firewallCommand })];
  if ((server?.agents ?? 0) === 0) return [];
  return [
    {
      code: "agent-away",
      kind: "note",
      what: `the agent on ${where} does not say that it is connected, nor why not: it starts, or hangs`,
      advice: "look again; until the server drops an agent that hangs (25 s), calls that are given to it fail",
    },
  ];
}

/** Nobody says why: what can be concluded from the server's own sockets, and from the API. */
function withoutReason(
  pods: readonly { node: string; state: string; noLog?: string }[],
  server: ServerStatus | undefined,
  cluster: PodsSeen | undefined,
  away: readonly AgentSeen[] = [],
): Finding[] {
  const running = pods.filter(({ state }) => state === "Running").map(({ node }) => node);
  const stuck = pods.filter(({ state }) => state !== "Running");
  const events = cluster !== undefined && "events" in cluster ? cluster.events : [];
  if (server !== undefined && server.formerPeers.length > 0 && away.length === 0)
    return [
      {
        code: "handshake-fails",
        kind: "wrong",
        what: `${server.formerPeers.join(", ")} come to port ${ports.agent} but do not stay: the port is open, the TLS handshake fails`,
        advice: "look at a node too (--node), or at its agent's log: crictl logs there",
      },
    ];
  // A closed connection may leave its trace on the other side only, so none here proves nothing.
  if (running.length > 0 && away.length === 0)
    return [
      {
        code: "not-connected",
        kind: "wrong",
        what: `agents run on ${running.join(", ")}, but none is connected: port ${ports.agent} is blocked, or the TLS handshake fails`,
        advice: "a node knows which: look at one too (--node)",
      },
    ];
  if (stuck.length > 0 && running.length === 0)
    return [
      {
        code: "agents-do-not-start",
        kind: "waiting",
        what: `no agent's pod runs: ${stuck.map(({ node, state }) => `${state} on ${node}`).join(", ")}`,
        advice: events.at(-1) ?? `oc -n ${namespace} describe pods`,
      },
    ];
  if (away.length > 0)
    return [
      {
        code: "agent-starts",
        kind: "waiting",
        what: `the agent on ${away.map(({ where }) => where).join(", ")} has not said anything yet`,
        advice: "wait a moment",
      },
    ];
  return [
    {
      code: "no-agent-yet",
      kind: "waiting",
      what: "no agent is there yet: until the first one, webhooks, aggregated APIs, oc logs and oc exec fail with “No agent available”",
      advice:
        events.at(-1) ??
        "wait: agents start with the network of the first node (oc get nodes); where nodes are there already, look at one too (--node)",
    },
  ];
}

const blocked = ({ where, target, words, firewallCommand }: Omit<Meaning, "server" | "sameCa">): Finding => ({
  code: "port-blocked",
  kind: "wrong",
  what: `${where} does not reach ${target}: ${words}; the port is blocked between them`,
  advice:
    `open TCP ${ports.agent} from the nodes to the bootstrap machine` +
    (firewallCommand === undefined ? "" : `; \`${firewallCommand}\` prints the rule`),
});

interface Meaning {
  readonly where: string;
  readonly target: string;
  readonly words: string;
  readonly server: ServerStatus | undefined;
  readonly firewallCommand: string | undefined;
  /** Whether both have the same file; unknown if only one was looked at. */
  readonly sameCa: boolean | undefined;
}

function sameCa(ofAgent: readonly Certificate[], server: ServerStatus | undefined): boolean | undefined {
  const own = ofAgent.find(({ file }) => file === "ca.crt");
  const servers = server?.certificates.find(({ file }) => file === "serving/ca.crt");
  return own === undefined || servers === undefined ? undefined : own.sha256 === servers.sha256;
}

/** What each reason means, and what to do. */
const meanings: Record<ReasonCode, (meaning: Meaning) => Omit<Finding, "kind"> & { kind?: Finding["kind"] }> = {
  "no-answer": blocked,
  "no-route": blocked,
  refused: ({ where, target, words, server }) => ({
    code: "port-refused",
    what: `${where} is refused at ${target} (${words}): a firewall rejects it, or the server listens elsewhere${server === undefined ? "" : ` (it listens on ${server.listens.join(", ") || "nothing"})`}`,
    advice: `open TCP ${ports.agent} from the nodes to the bootstrap machine; check tunnel.address and tunnel.listenAddress`,
  }),
  "not-resolved": ({ where, words }) => ({
    code: "name-not-resolved",
    what: `${where} does not find the server's name (${words})`,
    advice: "put tunnel.address into the nodes' DNS: agents ask their node's, not the cluster's",
  }),
  expired: ({ where, words }) => ({
    code: "certificate-expired",
    what: `the agent on ${where} finds the server's certificate expired (${words})`,
    advice: expiredAdvice,
  }),
  "not-yet-valid": ({ where, words }) => ({
    code: "clock-behind",
    what: `the clock of ${where} is behind the bootstrap machine's (${words})`,
    advice: "mend the node's time (chronyc sources)",
  }),
  "unknown-ca": ({ where, words, sameCa }) => ({
    code: "tls-other-ca",
    what: `the agent on ${where} does not know the server's CA (${words}): ${
      sameCa === false
        ? "its Secret is of another set of keys"
        : sameCa === true
          ? "their files agree, but keys are read once, at start, so one of them runs with older ones; or something between them answers TLS itself"
          : "its Secret is of another set of keys, or something between them answers TLS itself"
    }`,
    advice:
      sameCa === true
        ? `start the agents again: oc -n ${namespace} delete pods --all`
        : `put tls/serving/ca.crt of the bootstrap machine into secret/${agentSecretName}, then oc -n ${namespace} delete pods --all`,
  }),
  "other-name": ({ where, words }) => ({
    code: "tls-other-name",
    what: `the agent on ${where} dials a server whose certificate is for another address (${words}): the bootstrap machine's changed`,
    advice: "the bootstrap's etcd has the old address too: start the installation again, with a fixed address",
  }),
  "certificate-refused": ({ where, words }) => ({
    code: "tls-agent-refused",
    what: `the server refuses the certificate of the agent on ${where} (${words}): it is expired, or of another CA`,
    advice: `compare tls.crt of secret/${agentSecretName} with tls/agent/tls.crt on the machine; then oc -n ${namespace} delete pods --all`,
  }),
  "token-refused": ({ where, words }) => ({
    code: "token-refused",
    what: `the server refuses the token of the agent on ${where} (${words})`,
    advice:
      "the server has tokens reviewed by the bootstrap kube-apiserver: is that up, and is the ClusterRoleBinding there?",
  }),
};

const dialReasons: Readonly<Record<string, string>> = {
  no_agent: "while no agent was connected",
  error_response: "an agent could not reach the address; the server's log has it",
  backend_close: "the agent's connection broke",
  backend_dial_timeout: "an agent did not answer",
  frontend_close: "the kube-apiserver gave up first",
};

function ofDials(server: ServerStatus | undefined): Finding[] {
  if (server === undefined) return [];
  const errors = Object.entries(server.dialErrors).map(
    ([reason, count]) => `${count} ${reason}${reason in dialReasons ? ` (${dialReasons[reason] ?? ""})` : ""}`,
  );
  return errors.length === 0
    ? []
    : [
        {
          code: "dial-errors",
          kind: "note",
          what: `calls that failed since the server started: ${errors.join(", ")}`,
          advice: "only numbers that grow are of interest (--watch)",
        },
      ];
}

const whereOf = (side: ServerStatus | AgentSeen) => ("where" in side ? side.where : side.machine);
const utc = (date: Date) => date.toISOString().replace(".000", "");
