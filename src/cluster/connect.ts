import { UserError, problem } from "../core/errors.ts";
import { ClusterApi, readKubeconfig } from "./api.ts";

export const connect = (kubeconfig: string) => new ClusterApi(readKubeconfig(kubeconfig));

export interface Infrastructure {
  readonly status?: { readonly controlPlaneTopology?: string; readonly infrastructureName?: string };
}

/** @returns undefined if the cluster does not have the object yet */
export const readInfrastructure = (api: ClusterApi) =>
  api.openshift<Infrastructure>("config.openshift.io", "infrastructures");

/**
 * Throws if the API belongs to another cluster: people who work with several clusters have the wrong kubeconfig in their
 * environment sooner or later.
 * @param infraId the expected cluster's; undefined if it is not known
 */
export async function requireCluster(api: ClusterApi, infraId: string | undefined): Promise<void> {
  if (infraId === undefined) return;
  const found = (await readInfrastructure(api))?.status?.infrastructureName;
  if (found !== undefined && found !== infraId)
    throw new UserError(problem("cluster-another", { server: api.server, found, wanted: infraId }));
}
