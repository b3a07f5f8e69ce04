import { clusterManifests, loopbackKubeconfig } from "../core/konnectivity/names.ts";
import { agentFindings } from "./agent-findings.ts";
import type { AgentPods } from "./agent-pods.ts";
import { expiredAdvice, type Finding } from "./finding.ts";
import type { AgentStatus, Certificate, MachineStatus, ServerStatus } from "./machine-status.ts";

/** Everything that was collected. */
export interface Observations {
  readonly machines: readonly MachineStatus[];
  readonly unreachable: readonly { readonly machine: string; readonly reason: string }[];
  /** What the cluster's API reports. @default - not asked */
  readonly cluster?: AgentPods;
  /** The command that prints this cluster's firewall rule, ready to run. @default - not known */
  readonly firewallCommand?: string;
  /** Whether the bootstrap machine is known to be removed. @default false */
  readonly machineRemoved?: boolean;
}

export interface Status {
  /** unknown: the observations do not tell. */
  readonly state: "carries" | "waiting" | "broken" | "ended" | "unknown";
  readonly server: ServerStatus | undefined;
  readonly agents: readonly AgentStatus[];
  readonly cluster: AgentPods | undefined;
  readonly findings: readonly Finding[];
}

/** If a certificate ends sooner than this, a long bootstrap may lose agents that have to reconnect. */
const endsSoon = 2 * 3600_000;

/** Explains what the observations mean. Pure. */
export function diagnose(observations: Observations): Status {
  const { machines, cluster, firewallCommand, machineRemoved = false } = observations;
  const server = machines.find((machine) => machine.server !== undefined)?.server;
  const agents = machines.flatMap((machine) => machine.agents);
  const base = { server, agents, cluster };
  if (machineRemoved || server?.ended === true || (cluster !== undefined && "pods" in cluster && cluster.ended)) {
    const advice = machineRemoved
      ? "the bootstrap machine is removed too: there is nothing left to do"
      : "npx cdktf destroy removes the machine, when the cluster says that it may go";
    const what = "the bootstrap has ended, and the tunnel with it";
    return { ...base, state: "ended", findings: [{ code: "ended", kind: "note", what, advice }] };
  }
  const findings = withoutRepeats([
    ...unreachableFindings(observations),
    ...noTunnelFindings(observations),
    ...serverFindings(server),
    ...certificateFindings(server, agents),
    ...(server?.givenUp === undefined ? agentFindings({ server, agents, cluster, firewallCommand }) : []),
    ...reissueFindings(server, cluster),
    ...surplusFindings(server, cluster),
    ...dialFindings(server),
  ]);
  return { ...base, state: stateOf(server, cluster, findings), findings };
}

/** Expired certificates are reported once: their dates also explain the handshakes that failed. */
function withoutRepeats(findings: readonly Finding[]): Finding[] {
  const known = new Set<string>();
  return findings.filter(({ code, what }) => {
    const key = code === "certificate-expired" ? code : `${code} ${what}`;
    return known.has(key) ? false : known.add(key);
  });
}

function stateOf(
  server: ServerStatus | undefined,
  cluster: AgentPods | undefined,
  findings: readonly Finding[],
): Status["state"] {
  const connected = server?.healthz === 200 && (server.agents ?? 0) > 0;
  const ready = cluster !== undefined && "pods" in cluster && cluster.pods.some((pod) => pod.ready && !pod.unprobed);
  if (connected || (server === undefined && ready)) return "carries";
  if (findings.some(({ kind }) => kind === "wrong")) return "broken";
  return findings.some(({ kind }) => kind === "waiting") ? "waiting" : "unknown";
}

function unreachableFindings({ unreachable, cluster }: Observations): Finding[] {
  const findings = unreachable.map(({ machine, reason }): Finding => ({
    code: "machine-silent",
    kind: "unknown",
    what: `${machine} cannot be looked at: ${reason}`,
    advice: "check that ssh leads there without a password, as a user who may run sudo",
  }));
  if (cluster !== undefined && "unreachable" in cluster)
    findings.push({
      code: "api-silent",
      kind: "unknown",
      what: cluster.unreachable,
      advice: "check the kubeconfig, and whether the API's load balancer has the bootstrap machine",
    });
  return findings;
}

function noTunnelFindings({ unreachable, machines }: Observations): Finding[] {
  const found = machines.some(({ server, agents }) => server !== undefined || agents.length > 0);
  // The tunnel may be on a machine that could not be reached.
  if (found || machines.length === 0 || unreachable.length > 0) return [];
  return [
    {
      code: "no-tunnel",
      kind: "wrong",
      what: `there is nothing of a tunnel on ${machines.map(({ machine }) => machine).join(", ")}`,
      advice: "give the bootstrap machine (--ssh); with tunnel: off there is none",
    },
  ];
}

function serverFindings(server: ServerStatus | undefined): Finding[] {
  if (server?.givenUp !== undefined)
    return [
      {
        code: "given-up",
        kind: "wrong",
        what: server.givenUp,
        advice: "read why in journalctl -u bootkube on the bootstrap machine; only a new machine tries again",
      },
    ];
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

function certificateFindings(server: ServerStatus | undefined, agents: readonly AgentStatus[]): Finding[] {
  const all = [...(server === undefined ? [] : [server]), ...agents].flatMap((side) =>
    side.certificates.map((certificate) => ({ ...certificate, now: side.now, where: locationOf(side) })),
  );
  const list = (some: readonly (Certificate & { where: string })[]) =>
    some.map(({ file, until, where }) => `${file} on ${where} (${utc(until)})`).join(", ");
  const expired = all.filter(({ until, now }) => until <= now);
  const ending = all.filter(({ until, now }) => until > now && until.getTime() - now.getTime() < endsSoon);
  const findings: Finding[] = [];
  if (expired.length > 0)
    findings.push({
      code: "certificate-expired",
      kind: "wrong",
      what: `certificates have expired: ${list(expired)}; agents that are connected stay so, but none can connect again`,
      advice: expiredAdvice(server?.tunnel ?? "ours"),
    });
  if (ending.length > 0)
    findings.push({
      code: "certificate-ends-soon",
      kind: "note",
      what: `certificates end within two hours: ${list(ending)}`,
      advice: "agents that are connected stay so, but after that none can connect again",
    });
  return findings;
}

/** cluster-bootstrap creates the agents' Secret once, and never updates it. */
function reissueFindings(server: ServerStatus | undefined, cluster: AgentPods | undefined): Finding[] {
  if (server?.pki === undefined || cluster === undefined || !("pods" in cluster)) return [];
  const old = cluster.pods.filter(({ pki }) => pki !== undefined && pki !== server.pki);
  if (old.length === 0) return [];
  const manifest = (name: string) => `-f ${clusterManifests}/bootstrap-konnectivity-${name}.yaml`;
  return [
    {
      code: "keys-reissued",
      kind: "wrong",
      what: `the server's keys were issued again, and ${old.map(({ name, node }) => `${name} on ${node}`).join(", ")} still ${old.length === 1 ? "has" : "have"} the old ones: cluster-bootstrap never updates an object`,
      advice: `on the bootstrap machine: oc --kubeconfig=${loopbackKubeconfig} replace ${manifest("secret")} ${manifest("agents")}`,
    },
  ];
}

/** An agent that is not the cluster's needs the agents' key, which every node has: docs/security.md. */
function surplusFindings(server: ServerStatus | undefined, cluster: AgentPods | undefined): Finding[] {
  const connected = server?.agents ?? 0;
  if (cluster === undefined || !("pods" in cluster) || cluster.nodes === undefined) return [];
  // A Deployment may have several agents on a node.
  if (connected <= Math.max(cluster.nodes, cluster.pods.length)) return [];
  return [
    {
      code: "more-agents-than-nodes",
      kind: "note",
      what: `${count(connected, "connected agent")}, but the cluster has ${count(cluster.nodes, "node")}`,
      advice: `compare the agents' addresses (${(server?.peers ?? []).join(", ")}) with those of the nodes (oc get nodes -o wide); an agent at another address uses a stolen key: see docs/security.md`,
    },
  ];
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;

const dialReasons: Readonly<Record<string, string>> = {
  no_agent: "while no agent was connected",
  error_response: "an agent could not reach the address; the server's log has it",
  backend_close: "the agent's connection broke",
  backend_dial_timeout: "an agent did not answer",
  frontend_close: "the kube-apiserver gave up first",
};

function dialFindings(server: ServerStatus | undefined): Finding[] {
  const errors = Object.entries(server?.dialErrors ?? {}).map(
    ([reason, count]) => `${count} ${reason}${reason in dialReasons ? ` (${dialReasons[reason] ?? ""})` : ""}`,
  );
  if (errors.length === 0) return [];
  return [
    {
      code: "dial-errors",
      kind: "note",
      what: `calls that failed since the server started: ${errors.join(", ")}`,
      advice: "only numbers that grow are of interest (--watch)",
    },
  ];
}

const locationOf = (side: ServerStatus | AgentStatus) => ("where" in side ? side.where : side.machine);
const utc = (date: Date) => date.toISOString().replace(".000", "");
