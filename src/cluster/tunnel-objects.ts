import { agentName, agentSecretName, namespace, tokenReviewRole } from "../core/konnectivity/names.ts";
import { type ClusterApi, ignoreNotFound, requestOptions } from "./api.ts";

/** An object that the tunnel may have created in the cluster; everything else is removed with the namespace. */
export interface TunnelObject {
  /** In the form that oc and kubectl accept. */
  readonly name: string;
  /** The one command that removes it. */
  readonly command: string;
  /** terminating: its deletion has begun */
  state(): Promise<"gone" | "terminating" | "left">;
  /** Does not wait for the end of the deletion. @returns whether it existed */
  delete(): Promise<boolean>;
}

/** In the order of deletion: agents stop before the keys that they use are deleted. */
export function tunnelObjects({ apps, core, rbac }: ClusterApi): TunnelObject[] {
  const agent = { namespace, name: agentName };
  const secret = { namespace, name: agentSecretName };
  const tokenReview = { name: tokenReviewRole };
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
    object(`clusterrolebinding/${tokenReviewRole}`, "", {
      read: () => rbac.readClusterRoleBinding(tokenReview, requestOptions()),
      remove: () => rbac.deleteClusterRoleBinding(tokenReview, requestOptions()),
    }),
    object(`clusterrole/${tokenReviewRole}`, "", {
      read: () => rbac.readClusterRole(tokenReview, requestOptions()),
      remove: () => rbac.deleteClusterRole(tokenReview, requestOptions()),
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
