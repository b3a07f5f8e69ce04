/**
 * Fakes `cluster-bootstrap start`: starts the bootstrap control plane by copying its static pods, creates what each
 * manifest says until all exist (it never updates an object), waits until the lab lets the bootstrap end, and removes the copied pods, even after an error.
 * Left out: copying tls/ to bootstrap-secrets, and waiting for the status of the required pods.
 */
import { constants, copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubernetesObject } from "@kubernetes/client-node";
import { parseAllDocuments } from "yaml";
import { connect } from "../api-client.ts";
import { finishFile } from "../layout.ts";

const staticPods = "/etc/kubernetes/manifests";

export async function main(): Promise<number> {
  const copied: string[] = [];
  try {
    for (const name of readdirSync("bootstrap-manifests")) {
      const target = join(staticPods, name);
      copyFileSync(join("bootstrap-manifests", name), target, constants.COPYFILE_EXCL);
      copied.push(target);
    }
    await applyAll();
    while (!existsSync(finishFile)) await sleep(100);
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 1;
  } finally {
    for (const target of copied) rmSync(target, { force: true });
  }
}

async function applyAll(): Promise<void> {
  const cluster = connect("auth/kubeconfig-loopback");
  let waiting: KubernetesObject[] = readdirSync("manifests")
    .sort()
    .flatMap((name) =>
      parseAllDocuments(readFileSync(join("manifests", name), "utf8")).map(
        (document) => document.toJS() as KubernetesObject,
      ),
    )
    .filter((object) => (object as KubernetesObject | null)?.kind !== undefined);
  const end = Date.now() + 20 * 60_000;
  while (waiting.length > 0) {
    const left: KubernetesObject[] = [];
    let reason = "";
    for (const object of waiting) {
      try {
        await cluster.create(object);
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error);
        left.push(object);
      }
    }
    waiting = left;
    if (waiting.length === 0) return;
    if (Date.now() > end)
      throw new Error(`these objects were never accepted: ${waiting.map(({ kind }) => kind).join(", ")}: ${reason}`);
    await sleep(300);
  }
}
