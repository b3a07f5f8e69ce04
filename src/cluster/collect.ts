import type { AgentPods } from "./agent-pods.ts";
import type { ClusterApi } from "./api.ts";
import { diagnose, type Status } from "./diagnose.ts";
import { parseProbe } from "./machine-status.ts";
import { type ProbeResult, runProbe, type Transport } from "./probe.ts";

/** Where `status` and `gather` get their data. */
export interface Target {
  /** The bootstrap machine and nodes that can be reached. */
  readonly transports: readonly Transport[];
  /** The cluster's API. @default - not used */
  readonly api?: ClusterApi;
  /** The command that prints this cluster's firewall rule. @default - not known */
  readonly firewallCommand?: string;
  /** Whether the bootstrap machine is known to be removed. @default false */
  readonly machineRemoved?: boolean;
}

export interface Collected {
  readonly probes: readonly ProbeResult[];
  readonly cluster: AgentPods | undefined;
  readonly status: Status;
}

/** Reads from all machines and the API once, in parallel, and diagnoses the tunnel. */
export async function collect(target: Target, logLines: number): Promise<Collected> {
  const { transports, api, firewallCommand, machineRemoved } = target;
  const [probes, cluster] = await Promise.all([
    Promise.all(transports.map((transport) => runProbe(transport, logLines))),
    // Loading the Kubernetes client takes longer than everything else here.
    api === undefined
      ? undefined
      : import("./agent-pods.ts").then(({ collectAgentPods }) => collectAgentPods(api, logLines)),
  ]);
  const machines = probes.flatMap((probe) => ("sections" in probe ? [parseProbe(probe.sections)] : []));
  const unreachable = probes.flatMap((probe) =>
    "unreachable" in probe ? [{ machine: probe.machine, reason: probe.unreachable }] : [],
  );
  return {
    probes,
    cluster,
    status: diagnose({
      machines,
      unreachable,
      firewallCommand,
      machineRemoved,
      ...(cluster !== undefined && { cluster }),
    }),
  };
}
