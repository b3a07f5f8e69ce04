/**
 * Fakes what `openshift-install create cluster` does once the bootstrap machine runs: waits until the bootstrap is complete
 * and the etcd operator reports that the machine is no longer a member, then removes the machine within seconds. It runs on this
 * machine, in the network of node-0. What it does to bootstrap.ign is in lab/installer-rewrite. Left out: the cloud and its
 * firewalls (lab/network.ts closes what they would close), every time limit, the API's load balancer (it queries the permanent
 * kube-apiserver, which has the same etcd), and what comes after the removal. Up to 4.14 openshift-install does not wait for
 * etcd; this fake always does, by either spelling of the condition.
 *
 *   installer LAB FOLDER
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiClient, connect } from "../api-client.ts";
import { LabMachine, removeMachine } from "../machine.ts";

const removedConditions = ["EtcdBootstrapMemberRemoved", "EtcdBoostrapMemberRemoved"];

export async function main([lab = "", folder = ""]: readonly string[]): Promise<number> {
  const whereIs = (name: string) => ({ lab, name, folder: join(folder, name) });
  const cluster = connect(join(folder, "node-0/root/opt/lab/kubeconfig"));
  for (const [what, holds] of [
    ["the bootstrap is complete", bootstrapComplete],
    ["the bootstrap machine's etcd member is removed", etcdMemberRemoved],
  ] as const) {
    console.log(`waiting until ${what}`);
    while (!(await holds(cluster).catch(() => false))) {
      // The lab was killed, and nothing else would end this process.
      if (LabMachine.ifRunning(whereIs("node-0")) === undefined) return 1;
      await sleep(1000);
    }
  }
  // The real one starts Cluster API's controllers first, or Terraform, which takes longer than this.
  await sleep(3000);
  await removeMachine(whereIs("bootstrap"));
  console.log("removed the bootstrap machine");
  return 0;
}

async function bootstrapComplete(cluster: ApiClient): Promise<boolean> {
  const path = "/api/v1/namespaces/kube-system/configmaps/bootstrap";
  const { data } = ((await cluster.get(path)) ?? {}) as { data?: { status?: string } };
  return data?.status === "complete";
}

async function etcdMemberRemoved(cluster: ApiClient): Promise<boolean> {
  const path = "/apis/operator.openshift.io/v1/etcds/cluster";
  const { status } = ((await cluster.get(path)) ?? {}) as { status?: { conditions?: Condition[] } };
  return (status?.conditions ?? []).some((one) => removedConditions.includes(one.type) && one.status === "True");
}

interface Condition {
  readonly type: string;
  readonly status: string;
}
