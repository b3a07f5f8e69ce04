import { ApiException } from "@kubernetes/client-node";
import { type ClusterApi, describeApiError } from "./api.ts";
import { tunnelObjects } from "./objects.ts";

export interface Swept {
  readonly deleted: readonly string[];
  /** What could not be deleted, why, and the one command that removes it. */
  readonly left: readonly { readonly name: string; readonly reason: string; readonly command: string }[];
}

/** Deletes what the tunnel put into the cluster, without waiting until it is gone. The bootstrap has usually done it. */
export async function sweep(api: ClusterApi): Promise<Swept> {
  const deleted: string[] = [];
  const left: Swept["left"][number][] = [];
  let silent: string | undefined;
  for (const object of tunnelObjects(api)) {
    try {
      // A cluster that did not answer once is not asked again and again.
      if (silent !== undefined) left.push({ ...object, reason: silent });
      else if (await object.delete()) deleted.push(object.name);
    } catch (error) {
      left.push({ ...object, reason: describeApiError(error) });
      if (!(error instanceof ApiException)) silent = describeApiError(error);
    }
  }
  return { deleted, left };
}
