/** `apply KUBECONFIG FILE`: what `kubectl apply --server-side` would do with a file of objects (JSON list), tried for 20 s. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubernetesObject } from "@kubernetes/client-node";
import { type ApiClient, connect } from "../api-client.ts";
import { timeLimit } from "../../src/core/time-limits.ts";

export async function main([kubeconfig = "", file = ""]: readonly string[]): Promise<number> {
  const cluster = connect(kubeconfig);
  for (const object of JSON.parse(readFileSync(file, "utf8")) as KubernetesObject[]) {
    // A kind is served a moment after its definition is taken.
    const end = Date.now() + timeLimit(20_000);
    while (!(await taken(cluster, object, Date.now() > end))) await sleep(200);
  }
  return 0;
}

async function taken(cluster: ApiClient, object: KubernetesObject, last: boolean): Promise<boolean> {
  try {
    await cluster.apply(object);
    return true;
  } catch (error) {
    if (last) throw error;
    return false;
  }
}
