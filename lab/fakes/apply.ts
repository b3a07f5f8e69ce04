/**
 * Fakes `kubectl apply --server-side` for a file with a JSON list of objects: `apply KUBECONFIG FILE`. Each object is tried
 * for 20 s. Left out: everything else of kubectl.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubernetesObject } from "@kubernetes/client-node";
import { type ApiClient, connect } from "../api-client.ts";
import { timeLimit } from "../../src/core/time-limits.ts";

export async function main([kubeconfig = "", file = ""]: readonly string[]): Promise<number> {
  const cluster = connect(kubeconfig);
  for (const object of JSON.parse(readFileSync(file, "utf8")) as KubernetesObject[]) {
    // A kind is served a moment after its definition is created.
    const end = Date.now() + timeLimit(20_000);
    while (!(await applied(cluster, object, Date.now() > end))) await sleep(200);
  }
  return 0;
}

async function applied(cluster: ApiClient, object: KubernetesObject, last: boolean): Promise<boolean> {
  try {
    await cluster.apply(object);
    return true;
  } catch (error) {
    if (last) throw error;
    return false;
  }
}
