import { ApiException } from "@kubernetes/client-node";
import { UserError } from "../core/errors.ts";
import { type ClusterApi, describeApiError } from "./api.ts";
import { connect, requireCluster } from "./connect.ts";
import { tunnelObjects } from "./tunnel-objects.ts";

export interface Swept {
  readonly deleted: readonly string[];
  /** What could not be deleted, why, and the one command that removes it. */
  readonly left: readonly { readonly name: string; readonly reason: string; readonly command: string }[];
}

/**
 * Sweeps the cluster of a kubeconfig. Never fails: only the gate can stop the teardown, and leftovers in the cluster are
 * harmless.
 * @param infraId the expected cluster's; undefined if it is not known
 */
export async function sweepCluster(
  kubeconfig: string,
  infraId: string | undefined,
): Promise<Swept | { readonly unreachable: string }> {
  let api: ClusterApi;
  try {
    api = connect(kubeconfig);
    await requireCluster(api, infraId);
  } catch (error) {
    if (error instanceof UserError) return { unreachable: error.message };
    return { unreachable: `The request to the cluster failed: ${describeApiError(error)}.` };
  }
  return sweep(api);
}

/** Deletes what the tunnel created in the cluster, without waiting. Usually the bootstrap itself has already done so. */
export async function sweep(api: ClusterApi): Promise<Swept> {
  const deleted: string[] = [];
  const left: Swept["left"][number][] = [];
  let unreachable: string | undefined;
  for (const object of tunnelObjects(api)) {
    try {
      // Once the cluster has not answered, every further request would only wait for its time limit.
      if (unreachable !== undefined) left.push({ ...object, reason: unreachable });
      else if (await object.delete()) deleted.push(object.name);
    } catch (error) {
      left.push({ ...object, reason: describeApiError(error) });
      if (!(error instanceof ApiException)) unreachable = describeApiError(error);
    }
  }
  return { deleted, left };
}
