import { defaultAgentPort } from "../core/konnectivity/agent-port.ts";
import { agentSecretName, namespace } from "../core/konnectivity/names.ts";
import { type TunnelNames, tunnelNames } from "../core/konnectivity/tunnel-names.ts";
import type { AgentPod, AgentPods } from "./agent-pods.ts";
import { expiredAdvice, type Finding } from "./finding.ts";
import type { AgentStatus, Certificate, ServerStatus } from "./machine-status.ts";
import type { Reason, ReasonCode } from "./reasons.ts";

export interface AgentObservations {
  readonly server: ServerStatus | undefined;
  readonly agents: readonly AgentStatus[];
  readonly cluster: AgentPods | undefined;
  readonly firewallCommand: string | undefined;
}

/** Why agents are not connected. */
export function agentFindings({ server, agents, cluster, firewallCommand }: AgentObservations): Finding[] {
  // Without a server no agent can be connected, which another finding reports.
  if (server !== undefined && server.healthz !== 200) return [];
  // Up to 4.13 an agent is ready even if it is not connected, so the server's count decides.
  const disconnected = agents.filter(({ runs, readyz }) => runs && (readyz !== 200 || server?.agents === 0));
  const pods = podsIn(cluster);
  const probed = new Set(agents.map(({ where }) => where));
  const sides: AgentSide[] = [
    ...disconnected,
    ...pods
      .filter(({ ready, node }) => !ready && !probed.has(node))
      .map(({ node, reason, dials }) => ({ where: node, reason, dials, dialling: false, certificates: [] })),
  ];
  const port = agentPort(server, [...agents, ...pods]);
  const findings = sides.flatMap((side) => explain(side, { server, port, firewallCommand }));
  if ((server?.agents ?? 0) > 0 || findings.length > 0) return findings;
  if (server === undefined && (pods.length === 0 || pods.some(({ ready }) => ready))) return [];
  return withoutReason({ server, cluster, port }, disconnected);
}

/** The port for agents, from the arguments of the server or of an agent. */
function agentPort(
  server: ServerStatus | undefined,
  agents: readonly { readonly dials?: string | undefined }[],
): number {
  const dialled = agents.flatMap(({ dials }) => /:(\d+)$/.exec(dials ?? "")?.[1] ?? []);
  return server?.port ?? Number(dialled[0] ?? defaultAgentPort);
}

const podsIn = (cluster: AgentPods | undefined): readonly AgentPod[] =>
  cluster !== undefined && "pods" in cluster ? cluster.pods : [];

/** A disconnected agent, known from its node or from the API. */
interface AgentSide {
  readonly where: string;
  readonly reason: Reason | undefined;
  readonly dials?: string | undefined;
  readonly dialling: boolean;
  readonly proxy?: string | undefined;
  readonly certificates: readonly Certificate[];
}

/** Why one agent is not connected, from its own log and sockets. */
function explain(side: AgentSide, about: Pick<AgentFailure, "server" | "port" | "firewallCommand">): Finding[] {
  const { where, reason, dials, dialling, proxy } = side;
  const { server, port } = about;
  const target = dials ?? `the bootstrap machine's port ${port}`;
  const failure = { ...about, where, target, sameCa: sameCa(side.certificates, server) };
  if (proxy !== undefined)
    return [
      {
        code: "proxy-in-the-way",
        kind: "wrong",
        what: `the agent on ${where} dials through the proxy ${proxy}${reason === undefined ? "" : ` (${reason.words})`}`,
        advice: `add the bootstrap address to noProxy, because something sets HTTPS_PROXY in the agent's pod`,
      },
    ];
  if (reason !== undefined)
    return [{ kind: "wrong", ...explanations[reason.code]({ ...failure, words: reason.words }) }];
  if (dialling)
    return [{ kind: "wrong", ...portBlocked({ ...failure, words: "its connection attempt gets no answer" }) }];
  if ((server?.agents ?? 0) === 0) return [];
  return [
    {
      code: "agent-away",
      kind: "note",
      what: `the agent on ${where} reports neither a connection nor an error: it is starting, or it hangs`,
      advice:
        "check again in 30 s; calls through an agent that hangs fail until the server drops it, which takes up to 25 s",
    },
  ];
}

/** Without a reason from an agent: draws conclusions from the server's sockets and from the API. */
function withoutReason(
  { server, cluster, port }: Pick<AgentObservations, "server" | "cluster"> & { readonly port: number },
  disconnected: readonly AgentStatus[],
): Finding[] {
  const pods = podsIn(cluster);
  const running = pods.filter(({ state }) => state === "Running").map(({ node }) => node);
  const stuck = pods.filter(({ state }) => state !== "Running");
  const events = cluster !== undefined && "events" in cluster ? cluster.events : [];
  if (server !== undefined && server.formerPeers.length > 0 && disconnected.length === 0)
    return [
      {
        code: "handshake-fails",
        kind: "wrong",
        what: `connections from ${server.formerPeers.join(", ")} reach port ${port} but end at once: the port is open, but the TLS handshake fails`,
        advice: "check a node too (--node), or read its agent's log with crictl logs",
      },
    ];
  // A closed connection may leave a trace only on the other side, so its absence here proves nothing.
  if (running.length > 0 && disconnected.length === 0)
    return [
      {
        code: "not-connected",
        kind: "wrong",
        what: `agents run on ${running.join(", ")}, but none is connected: port ${port} is blocked, or the TLS handshake fails`,
        advice: "check a node too (--node) to find out which",
      },
    ];
  if (stuck.length > 0 && running.length === 0)
    return [
      {
        code: "agents-do-not-start",
        kind: "waiting",
        what: `no agent pod is running: ${stuck.map(({ node, state }) => `${state} on ${node}`).join(", ")}`,
        advice: events.at(-1) ?? `run oc -n ${namespace} describe pods`,
      },
    ];
  if (disconnected.length > 0)
    return [
      {
        code: "agent-starts",
        kind: "waiting",
        what: `the agent on ${disconnected.map(({ where }) => where).join(", ")} has not logged anything yet`,
        advice: "wait a moment, then check again",
      },
    ];
  return [
    {
      code: "no-agent-yet",
      kind: "waiting",
      what: "no agent is running yet: until the first one connects, webhooks, aggregated APIs, oc logs and oc exec fail with “No agent available”",
      advice:
        events.at(-1) ??
        "wait until the network of the first node is ready (oc get nodes), because agents start then; if a node is ready, check it too (--node)",
    },
  ];
}

interface AgentFailure {
  readonly where: string;
  readonly target: string;
  readonly words: string;
  readonly server: ServerStatus | undefined;
  readonly port: number;
  readonly firewallCommand: string | undefined;
  /** Whether agent and server have the same CA file; undefined if only one of them was examined. */
  readonly sameCa: boolean | undefined;
}

function sameCa(ofAgent: readonly Certificate[], server: ServerStatus | undefined): boolean | undefined {
  const own = ofAgent.find(({ file }) => file === "ca.crt");
  const servers = server?.certificates.find(({ file }) => file === tunnelNames[server.tunnel].certificates.ca);
  return own === undefined || servers === undefined ? undefined : own.sha256 === servers.sha256;
}

/** A certificate's file on the bootstrap machine. */
function certificateOn(server: ServerStatus | undefined, which: keyof TunnelNames["certificates"]): string {
  const { tls, certificates } = tunnelNames[server?.tunnel ?? "ours"];
  return `${tls}/${certificates[which]}`;
}

const portBlocked = ({ where, target, words, port, firewallCommand }: AgentFailure) => ({
  code: "port-blocked",
  what: `${where} cannot reach ${target}: ${words}; the port is blocked between them`,
  advice:
    `open TCP ${port} from the nodes to the bootstrap machine` +
    (firewallCommand === undefined ? "" : `; \`${firewallCommand}\` prints the rule`),
});

/** What each reason in an agent's log means, and what to do. */
const explanations: Record<ReasonCode, (failure: AgentFailure) => Omit<Finding, "kind">> = {
  "no-answer": portBlocked,
  "no-route": portBlocked,
  refused: ({ where, target, words, port, server }) => ({
    code: "port-refused",
    what: `${target} refuses the connection from ${where} (${words}): a firewall rejects it, or the server listens on another address${server === undefined ? "" : ` (it listens on ${server.listens.join(", ") || "nothing"})`}`,
    advice:
      `open TCP ${port} from the nodes to the bootstrap machine` +
      (server?.tunnel === "installer" ? "" : "; check tunnel.address and tunnel.listenAddress"),
  }),
  "not-resolved": ({ where, words }) => ({
    code: "name-not-resolved",
    what: `${where} cannot resolve the server's name (${words})`,
    advice: "add tunnel.address to the nodes' DNS, because agents use the DNS of their node, not the cluster's",
  }),
  expired: ({ where, words, server }) => ({
    code: "certificate-expired",
    what: `the server's certificate has expired for the agent on ${where} (${words})`,
    advice: expiredAdvice(server?.tunnel ?? "ours"),
  }),
  "not-yet-valid": ({ where, words }) => ({
    code: "clock-behind",
    what: `the clock of ${where} is behind the bootstrap machine's (${words})`,
    advice: "correct the node's time (chronyc sources)",
  }),
  "unknown-ca": ({ where, words, server, sameCa }) => ({
    code: "tls-other-ca",
    what: `the agent on ${where} does not trust the server's certificate (${words}): ${
      sameCa === false
        ? "its Secret belongs to other keys"
        : sameCa === true
          ? "their files are the same, but keys are read only at the start, so one of them uses older keys; or something between them terminates TLS"
          : "its Secret belongs to other keys, or something between them terminates TLS"
    }`,
    advice:
      sameCa === true
        ? `restart the agents: oc -n ${namespace} delete pods --all`
        : `copy ${certificateOn(server, "ca")} from the bootstrap machine to secret/${agentSecretName}, then run oc -n ${namespace} delete pods --all`,
  }),
  "other-name": ({ where, words }) => ({
    code: "tls-other-name",
    what: `the agent on ${where} dials a server whose certificate is for another address (${words}): the bootstrap machine's address has changed`,
    advice:
      "start the installation again with a fixed address, because etcd on the bootstrap machine uses the old address too",
  }),
  "certificate-refused": ({ where, words, server }) => ({
    code: "tls-agent-refused",
    what: `the server refuses the certificate of the agent on ${where} (${words}): it has expired, or another CA issued it`,
    advice: `compare tls.crt of secret/${agentSecretName} with ${certificateOn(server, "agent")} on the bootstrap machine, then run oc -n ${namespace} delete pods --all`,
  }),
  "token-refused": ({ where, words }) => ({
    code: "token-refused",
    what: `the server refuses the token of the agent on ${where} (${words})`,
    advice:
      "check that the bootstrap kube-apiserver, which reviews the tokens, is running, and that the ClusterRoleBinding exists",
  }),
};
