/** `apply KUBECONFIG FILE`: what `kubectl apply --server-side` would do with a file of objects (JSON list). */
import { readFileSync } from "node:fs";
import type { KubernetesObject } from "@kubernetes/client-node";
import { connect } from "../cluster-api.ts";

export async function main([kubeconfig = "", file = ""]: readonly string[]): Promise<number> {
  const cluster = connect(kubeconfig);
  for (const object of JSON.parse(readFileSync(file, "utf8")) as KubernetesObject[]) await cluster.apply(object);
  return 0;
}
