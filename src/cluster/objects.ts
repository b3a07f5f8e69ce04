import { agentName, agentSecretName, namespace, tokenReviewBinding } from "../core/konnectivity/names.ts";
import { type ClusterApi, ignoreNotFound, requestOptions } from "./api.ts";

/** What the tunnel put into the cluster, whatever its options were; the rest goes with the namespace. */
export interface TunnelObject {
  /** As oc and kubectl take it. */
  readonly name: string;
  /** The one command that removes it. */
  readonly command: string;
  /** gone, terminating (on its way out), or left */
  state(): Promise<"gone" | "terminating" | "left">;
  /** Without waiting. @returns whether it was there */
  delete(): Promise<boolean>;
}

/** In the order in which they are deleted: agents stop before the keys that they use go. */
export function tunnelObjects({ apps, core, rbac }: ClusterApi): TunnelObject[] {
  const agent = { namespace, name: agentName };
  const secret = { namespace, name: agentSecretName };
  const binding = { name: tokenReviewBinding };
  const inNamespace = ` -n ${namespace}`;
  const now = { propagationPolicy: "Background" };
  return [
    object(`daemonset/${agentName}`, inNamespace, {
      read: () => apps.readNamespacedDaemonSet(agent, requestOptions()),
      remove: () => apps.deleteNamespacedDaemonSet({ ...agent, ...now }, requestOptions()),
    }),
    object(`deployment/${agentName}`, inNamespace, {
      read: () => apps.readNamespacedDeployment(agent, requestOptions()),
      remove: () => apps.deleteNamespacedDeployment({ ...agent, ...now }, requestOptions()),
    }),
    object(`secret/${agentSecretName}`, inNamespace, {
      read: () => core.readNamespacedSecret(secret, requestOptions()),
      remove: () => core.deleteNamespacedSecret(secret, requestOptions()),
    }),
    object(`clusterrolebinding/${tokenReviewBinding}`, "", {
      read: () => rbac.readClusterRoleBinding(binding, requestOptions()),
      remove: () => rbac.deleteClusterRoleBinding(binding, requestOptions()),
    }),
    object(`namespace/${namespace}`, "", {
      read: () => core.readNamespace({ name: namespace }, requestOptions()),
      remove: () => core.deleteNamespace({ name: namespace, ...now }, requestOptions()),
    }),
  ];
}

interface Calls {
  readonly read: () => Promise<{ metadata?: { deletionTimestamp?: Date } }>;
  readonly remove: () => Promise<unknown>;
}

function object(name: string, where: string, { read, remove }: Calls): TunnelObject {
  return {
    name,
    command: `oc delete ${name}${where} --ignore-not-found --wait=false`,
    state: async () => {
      const found = await ignoreNotFound(read());
      if (found === undefined) return "gone";
      return found.metadata?.deletionTimestamp === undefined ? "left" : "terminating";
    },
    delete: async () => (await ignoreNotFound(remove())) !== undefined,
  };
}
