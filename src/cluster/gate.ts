import { type ClusterApi, ignoreNotFound, requestOptions } from "./api.ts";

/** Something that must be so before the bootstrap machine may go. */
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
interface Infrastructure {
  readonly status?: { readonly controlPlaneTopology?: string; readonly infrastructureName?: string };
}

/** The infra ID of the cluster behind an API. @returns undefined if it does not say it yet */
export async function infraIdOf(api: ClusterApi): Promise<string | undefined> {
  const found = await api.openshift<Infrastructure>("config.openshift.io", "infrastructures");
  return found?.status?.infrastructureName;
}

/** What the cluster itself says about whether it still needs its bootstrap machine. */
export async function conditionsOf(api: ClusterApi): Promise<Condition[]> {
  const operator = "operator.openshift.io";
  const [bootstrap, etcd, kubeApiServer, infrastructure] = await Promise.all([
    ignoreNotFound(api.core.readNamespacedConfigMap({ namespace: "kube-system", name: "bootstrap" }, requestOptions())),
    api.openshift<Conditions>(operator, "etcds"),
    api.openshift<NodeStatuses>(operator, "kubeapiservers"),
    api.openshift<Infrastructure>("config.openshift.io", "infrastructures"),
  ]);
  return [
    bootstrapComplete(bootstrap?.data?.status),
    etcdMemberRemoved(etcd),
    controlPlaneServes(kubeApiServer, infrastructure?.status?.controlPlaneTopology),
  ];
}

/** openshift-install waits for the same. */
function bootstrapComplete(status: string | undefined): Condition {
  return {
    name: "the bootstrap is complete",
    met: status === "complete",
    seen: `ConfigMap kube-system/bootstrap ${status === undefined ? "is not there" : `says ${status}`}`,
  };
}

/** The condition with which the etcd operator says that it removed the member; up to 4.14 the name is misspelt. */
const removedTypes: readonly string[] = ["EtcdBootstrapMemberRemoved", "EtcdBoostrapMemberRemoved"];

/**
 * Deleted before that, the machine can take etcd's quorum with it, for good where the control plane is a single node. On
 * every release the operator writes the condition after it removed the member, and never before: absent means not yet.
 */
function etcdMemberRemoved(etcd: Conditions | undefined): Condition {
  const name = "the bootstrap machine's etcd member is removed";
  if (etcd === undefined) return { name, met: false, seen: "etcds/cluster is not there" };
  const conditions = objectsIn(etcd.status?.conditions);
  const removed = conditions.filter(({ type }) => removedTypes.includes(String(type)));
  const done = removed.find(({ status }) => status === "True");
  if (done !== undefined) return { name, met: true, seen: `etcds/cluster says ${String(done.type)}=True` };
  const reason = "BootstrapAlreadyRemoved";
  if (conditions.some((one) => one.type === "EtcdRunningInCluster" && one.status === "True" && one.reason === reason))
    return { name, met: true, seen: `etcds/cluster says EtcdRunningInCluster=True, reason ${reason}` };
  const [other] = removed;
  const seen =
    other === undefined
      ? `etcds/cluster does not have the condition ${String(removedTypes[0])} yet, so the machine is still a member of etcd`
      : `etcds/cluster says ${String(other.type)}=${String(other.status)}`;
  return { name, met: false, seen };
}

/** Two kube-apiservers of its own, or the one that it will ever have. */
function controlPlaneServes(kubeApiServer: NodeStatuses | undefined, topology: string | undefined): Condition {
  const needed = topology === "SingleReplica" ? 1 : 2;
  const name = `the API is served by ${needed === 1 ? "the node" : "two nodes"} of the control plane`;
  if (kubeApiServer === undefined) return { name, met: false, seen: "kubeapiservers/cluster is not there" };
  const nodes = objectsIn(kubeApiServer.status?.nodeStatuses);
  const serving = nodes.filter(({ currentRevision: one }) => typeof one === "number" && one > 0).length;
  return { name, met: serving >= needed, seen: `${serving} of ${nodes.length} nodes have a revision` };
}

/** The objects in a list of an API's answer, whatever it holds. */
function objectsIn(list: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(list)
    ? list.filter((one): one is Record<string, unknown> => typeof one === "object" && one !== null)
    : [];
}
