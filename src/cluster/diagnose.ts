import { clusterManifests, loopbackKubeconfig } from "../core/konnectivity/names.ts";
import { agentFindings } from "./agent-findings.ts";
import type { AgentPods } from "./agent-pods.ts";
import { expiredAdvice, type Finding } from "./finding.ts";
import type { AgentStatus, Certificate, MachineStatus, ServerStatus } from "./machine-status.ts";

/** Everything that was collected. */
export interface Observations {
  readonly machines: readonly MachineStatus[];
  readonly unreachable: readonly { readonly machine: string; readonly reason: string }[];
  /** What the cluster's API reports. @default - not read */
  readonly cluster?: AgentPods;
  /** The command that prints this cluster's firewall rule, ready to run. @default - not known */
  readonly firewallCommand?: string;
  /** Whether the bootstrap machine is known to be removed. @default false */
  readonly machineRemoved?: boolean;
}

export interface Status {
  /** unknown: the observations are not sufficient. */
  readonly state: "carries" | "waiting" | "broken" | "ended" | "unknown";
  readonly server: ServerStatus | undefined;
  readonly agents: readonly AgentStatus[];
  readonly cluster: AgentPods | undefined;
  readonly findings: readonly Finding[];
}

/** If a certificate expires sooner than this, a long bootstrap can lose agents that have to reconnect. */
const endsSoon = 2 * 3600_000;

/** Explains what the observations mean. Pure. */
export function diagnose(observations: Observations): Status {
  const { machines, cluster, firewallCommand, machineRemoved = false } = observations;
  const server = machines.find((machine) => machine.server !== undefined)?.server;
  const agents = machines.flatMap((machine) => machine.agents);
  const base = { server, agents, cluster };
  if (machineRemoved || server?.ended === true || (cluster !== undefined && "pods" in cluster && cluster.ended)) {
    const advice = machineRemoved
      ? "nothing to do: the bootstrap machine is removed too"
      : "run npx cdktf destroy, which removes the machine as soon as the cluster no longer needs it";
    const what = "the bootstrap has ended, and the tunnel with it";
    return { ...base, state: "ended", findings: [{ code: "ended", kind: "note", what, advice }] };
  }
  const findings = withoutRepeats([
    ...unreachableFindings(observations),
    ...noTunnelFindings(observations),
    ...switchedOffFindings(server),
    ...serverFindings(server),
    ...certificateFindings(server, agents),
    ...(server?.givenUp === undefined ? agentFindings({ server, agents, cluster, firewallCommand }) : []),
    ...reissueFindings(server, cluster),
    ...surplusFindings(server, cluster),
    ...dialFindings(server),
  ]);
  return { ...base, state: server?.switchedOff === true ? "broken" : stateOf(server, cluster, findings), findings };
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
    what: `${machine} cannot be checked: ${reason}`,
    advice: "check that ssh connects to it without a password, as a user who can run sudo",
  }));
  if (cluster !== undefined && "unreachable" in cluster)
    findings.push({
      code: "api-silent",
      kind: "unknown",
      what: cluster.unreachable,
      advice: "check the kubeconfig, and that the API's load balancer includes the bootstrap machine",
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
      what: `no part of a tunnel runs on ${machines.map(({ machine }) => machine).join(", ")}`,
      advice: "name the bootstrap machine (--ssh); with tunnel: off there is no tunnel",
    },
  ];
}

function switchedOffFindings(server: ServerStatus | undefined): Finding[] {
  if (server?.switchedOff !== true) return [];
  return [
    {
      code: "switched-off",
      kind: "wrong",
      what: `the tunnel of ${server.machine} is switched off: its kube-apiserver cannot reach webhooks in the pod network`,
      advice: "`npx konnectivity-bootstrap tunnel on` switches it on again",
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
        what: `bootkube.sh fails in the stage ${failedStage}${said === undefined ? "" : `: ${said}`}`,
        advice: "read journalctl -u bootkube on the bootstrap machine; systemd restarts bootkube.sh until it succeeds",
      },
    ];
  if (!wanted)
    return [
      {
        code: "not-set-up",
        kind: "waiting",
        what: "bootkube.sh has not started the tunnel yet",
        advice: "wait; journalctl -u bootkube on the bootstrap machine shows its progress",
      },
    ];
  return [
    {
      code: "server-down",
      kind: "wrong",
      what:
        "the server is not running, so every call into the cluster waits until it times out" +
        (lastLogLine === undefined ? "" : `; the last line of its log: ${lastLogLine}`),
      advice: "on the bootstrap machine, run crictl ps --all --name konnectivity-server and journalctl -u kubelet",
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
      what: `certificates have expired: ${list(expired)}; agents stay connected, but cannot reconnect`,
      advice: expiredAdvice(server?.tunnel ?? "ours"),
    });
  if (ending.length > 0)
    findings.push({
      code: "certificate-ends-soon",
      kind: "note",
      what: `certificates expire within two hours: ${list(ending)}`,
      advice: "agents stay connected after that, but cannot reconnect",
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
  no_agent: "no agent was connected",
  error_response: "an agent could not reach the address, which is in the server's log",
  backend_close: "the connection to the agent was lost",
  backend_dial_timeout: "an agent did not answer",
  frontend_close: "the kube-apiserver closed the connection first",
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
      advice: "check with --watch whether the numbers increase; if not, they are from the past",
    },
  ];
}

const locationOf = (side: ServerStatus | AgentStatus) => ("where" in side ? side.where : side.machine);
const utc = (date: Date) => date.toISOString().replace(".000", "");
