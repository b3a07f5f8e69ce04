import type { ClusterApi } from "./api.ts";
import { readInfrastructure } from "./connect.ts";

/** A condition that must hold before the bootstrap machine may be removed. */
export interface Condition {
  readonly name: string;
  readonly met: boolean;
  readonly seen: string;
}

interface Conditions {
  readonly status?: { readonly conditions?: unknown };
}
interface NodeStatuses {
  readonly status?: { readonly nodeStatuses?: unknown };
}

/** Reads whether the cluster still needs its bootstrap machine. It does not if all three conditions hold. */
export async function readConditions(api: ClusterApi): Promise<Condition[]> {
  const operator = "operator.openshift.io";
  const [bootstrap, etcd, kubeApiServer, infrastructure] = await Promise.all([
    api.bootstrapStatus(),
    api.openshift<Conditions>(operator, "etcds"),
    api.openshift<NodeStatuses>(operator, "kubeapiservers"),
    readInfrastructure(api),
  ]);
  return [
    bootstrapComplete(bootstrap),
    etcdMemberRemoved(etcd),
    controlPlaneServes(kubeApiServer, infrastructure?.status?.controlPlaneTopology),
  ];
}

/** The condition that openshift-install waits for. */
function bootstrapComplete(status: string | undefined): Condition {
  return {
    name: "the bootstrap is complete",
    met: status === "complete",
    seen: `ConfigMap kube-system/bootstrap ${status === undefined ? "does not exist" : `has status ${status}`}`,
  };
}

/** The etcd operator sets this condition when it has removed the member; up to 4.14 its name is misspelt. */
const removedTypes: readonly string[] = ["EtcdBootstrapMemberRemoved", "EtcdBoostrapMemberRemoved"];

/**
 * If the machine is deleted before that, etcd can lose its quorum, and a single-node control plane loses it for good. On
 * every release the operator sets the condition after it has removed the member, never before: absent means not yet.
 */
function etcdMemberRemoved(etcd: Conditions | undefined): Condition {
  const name = "the bootstrap machine's etcd member is removed";
  if (etcd === undefined) return { name, met: false, seen: "etcds/cluster does not exist" };
  const conditions = objectsIn(etcd.status?.conditions);
  const removed = conditions.filter(({ type }) => removedTypes.includes(String(type)));
  const done = removed.find(({ status }) => status === "True");
  if (done !== undefined) return { name, met: true, seen: `etcds/cluster has ${String(done.type)}=True` };
  const reason = "BootstrapAlreadyRemoved";
  if (conditions.some((one) => one.type === "EtcdRunningInCluster" && one.status === "True" && one.reason === reason))
    return { name, met: true, seen: `etcds/cluster has EtcdRunningInCluster=True, reason ${reason}` };
  const [other] = removed;
  const seen =
    other === undefined
      ? `etcds/cluster does not have the condition ${String(removedTypes[0])} yet, so the machine is still a member of etcd`
      : `etcds/cluster has ${String(other.type)}=${String(other.status)}`;
  return { name, met: false, seen };
}

/** Two nodes must serve the API, or the only one of a single-node control plane. */
function controlPlaneServes(kubeApiServer: NodeStatuses | undefined, topology: string | undefined): Condition {
  const needed = topology === "SingleReplica" ? 1 : 2;
  const name = `the API is served by ${needed === 1 ? "the node" : "two nodes"} of the control plane`;
  if (kubeApiServer === undefined) return { name, met: false, seen: "kubeapiservers/cluster does not exist" };
  const nodes = objectsIn(kubeApiServer.status?.nodeStatuses);
  const serving = nodes.filter(({ currentRevision: one }) => typeof one === "number" && one > 0).length;
  return { name, met: serving >= needed, seen: `${serving} of ${nodes.length} nodes run a kube-apiserver revision` };
}

/** The objects in a list that an API returned, whatever else it contains. */
function objectsIn(list: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(list)
    ? list.filter((one): one is Record<string, unknown> => typeof one === "object" && one !== null)
    : [];
}
