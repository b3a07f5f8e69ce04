import { type ClusterApi, ifThere, limited } from "./api.ts";

/** Something that must be so before the bootstrap machine may go. */
export interface Condition {
  readonly name: string;
  readonly met: boolean;
  readonly seen: string;
}

interface Conditions {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}
interface NodeStatuses {
  readonly status?: { readonly nodeStatuses?: readonly { readonly currentRevision?: number }[] };
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
    ifThere(api.core.readNamespacedConfigMap({ namespace: "kube-system", name: "bootstrap" }, limited())),
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

/** Removed before that, the machine can take etcd's quorum with it. */
function etcdMemberRemoved(etcd: Conditions | undefined): Condition {
  const name = "the bootstrap machine's etcd member is removed";
  const type = "EtcdBootstrapMemberRemoved";
  if (etcd === undefined) return { name, met: false, seen: "etcds/cluster is not there" };
  const condition = etcd.status?.conditions?.find((one) => one.type === type);
  return condition === undefined
    ? { name, met: true, seen: `etcds/cluster has no condition ${type}: an old release, which does not say it` }
    : { name, met: condition.status === "True", seen: `etcds/cluster says ${type}=${condition.status}` };
}

/** Two kube-apiservers of its own, or the one that it will ever have. */
function controlPlaneServes(kubeApiServer: NodeStatuses | undefined, topology: string | undefined): Condition {
  const needed = topology === "SingleReplica" ? 1 : 2;
  const name = `the API is served by ${needed === 1 ? "the node" : "two nodes"} of the control plane`;
  if (kubeApiServer === undefined) return { name, met: false, seen: "kubeapiservers/cluster is not there" };
  const nodes = kubeApiServer.status?.nodeStatuses ?? [];
  const serving = nodes.filter(({ currentRevision = 0 }) => currentRevision > 0).length;
  return { name, met: serving >= needed, seen: `${serving} of ${nodes.length} nodes have a revision` };
}
