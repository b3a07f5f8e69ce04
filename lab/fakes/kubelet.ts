/**
 * Fakes the kubelet, and on a node also the controllers of DaemonSets and Deployments: runs every manifest in
 * /etc/kubernetes/manifests while the file exists, and with --kubeconfig the pods of every workload in the cluster, with
 * real podman. With several kubeconfigs it uses the first API that answers, as behind a load balancer. Left out: probes
 * (podman only restarts containers that exit), status of pods and workloads, scheduling
 * (replicas are spread round-robin), and kinds of volumes that our manifests do not use.
 *
 *   kubelet [--kubeconfig=FILE]... --address=IP
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pod, PodSpec } from "kubernetes-types/core/v1.js";
import { parse, stringify } from "yaml";
import { type ApiClient, connect } from "../api-client.ts";
import { readLayout } from "../layout.ts";
import { podNetwork } from "../network.ts";
import { type FileContent, podForPodman } from "../pod-for-podman.ts";
import { PodLog } from "../pod-log.ts";

const manifests = "/etc/kubernetes/manifests";
const workFolder = "/run/lab-kubelet";
/** A pod's address, where it must be known in advance. */
const addressAnnotation = "lab/pod-ip";

/** A pod that should run on this node. */
interface WantedPod {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly spec: PodSpec;
}

export async function main(args: readonly string[]): Promise<never> {
  const options = (name: string) =>
    args.filter((arg) => arg.startsWith(`--${name}=`)).map((arg) => arg.slice(name.length + 3));
  const [address = ""] = options("address");
  const clusters = options("kubeconfig").map((file) => connect(file));
  mkdirSync(workFolder, { recursive: true, mode: 0o700 });
  /** The running pods by name. */
  const playing = new Map<string, PlayedPod>();
  const ending = new Set<string>();
  const log = new PodLog((line) => {
    console.error(line);
  });
  for (;;) {
    try {
      await reconcile({ playing, ending }, clusters, address, log);
    } catch (error) {
      // A manifest that is just being written, or a podman that failed: try again in the next round.
      console.error(error instanceof Error ? error.message : String(error));
    }
    await sleep(500);
  }
}

interface PlayedPod {
  /** Of its spec. */
  readonly digest: string;
  readonly gracePeriod: number;
}

interface Pods {
  readonly playing: Map<string, PlayedPod>;
  /** Pods in their grace periods. */
  readonly ending: Set<string>;
}

async function reconcile(
  { playing, ending }: Pods,
  clusters: readonly ApiClient[],
  address: string,
  log: PodLog,
): Promise<void> {
  const wanted = new Map<string, WantedPod>();
  for (const pod of staticPods()) wanted.set(pod.name, pod);
  const cluster = await firstThatAnswers(clusters, async (one) => {
    for (const pod of await workloadPods(one)) wanted.set(pod.name, pod);
  });
  // While no API answers, running pods stay, as on any node.
  if (cluster === undefined && clusters.length > 0)
    for (const [name] of playing) if (!wanted.has(name)) wanted.set(name, { name } as WantedPod);
  const end = (name: string, { gracePeriod }: PlayedPod) => {
    playing.delete(name);
    ending.add(name);
    const args = ["pod", "rm", "--force", "--ignore", `--time=${gracePeriod}`, name];
    spawn("/usr/bin/podman", args, { cwd: "/", stdio: ["ignore", "ignore", "inherit"] }).on("close", () => {
      ending.delete(name);
      log.stopped(name);
    });
  };
  for (const [name, pod] of [...playing]) if (!wanted.has(name)) end(name, pod);
  for (const pod of wanted.values()) {
    if (!("spec" in pod) || ending.has(pod.name)) continue;
    const digest = createHash("sha256").update(JSON.stringify(pod)).digest("hex");
    const played = playing.get(pod.name);
    if (played?.digest === digest) continue;
    if (played !== undefined) {
      end(pod.name, played);
      continue;
    }
    try {
      await play(pod, address, cluster);
      playing.set(pod.name, { digest, gracePeriod: pod.spec.terminationGracePeriodSeconds ?? 30 });
      log.started(pod.name);
    } catch (error) {
      log.failed(pod.name, error);
    }
  }
}

async function firstThatAnswers(
  clusters: readonly ApiClient[],
  attempt: (cluster: ApiClient) => Promise<void>,
): Promise<ApiClient | undefined> {
  for (const cluster of clusters) {
    try {
      await attempt(cluster);
      return cluster;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
  }
  return undefined;
}

function staticPods(): WantedPod[] {
  if (!existsSync(manifests)) return [];
  return readdirSync(manifests)
    .filter((name) => /^[^.].*\.(yaml|json)$/.test(name))
    .flatMap((name) => {
      const { metadata, spec } = parse(readFileSync(join(manifests, name), "utf8")) as Pod;
      if (spec === undefined) return [];
      return [
        {
          name: metadata?.name ?? name,
          namespace: metadata?.namespace ?? "default",
          labels: metadata?.labels ?? {},
          annotations: metadata?.annotations ?? {},
          spec,
        },
      ];
    });
}

/** This node's pods: one of every DaemonSet, and its share of every Deployment's. */
async function workloadPods(cluster: ApiClient): Promise<WantedPod[]> {
  const { nodes } = readLayout();
  const node = Number(hostname().replace("node-", ""));
  const daemonSets = (await cluster.list("apps/v1", "DaemonSet")).map((object) => ({ object, indexes: [node] }));
  const deployments = (await cluster.list("apps/v1", "Deployment")).map((object) => ({
    object,
    indexes: [...Array(object.spec.replicas ?? 1).keys()].filter((index) => index % nodes === node),
  }));
  return [...daemonSets, ...deployments].flatMap(({ object, indexes }) =>
    indexes.map((index) => ({
      name: `${object.metadata.name}-${index}`,
      namespace: object.metadata.namespace ?? "default",
      labels: object.spec.template.metadata?.labels ?? {},
      annotations: object.spec.template.metadata?.annotations ?? {},
      spec: object.spec.template.spec,
    })),
  );
}

async function play(pod: WantedPod, hostIp: string, cluster: ApiClient | undefined): Promise<void> {
  const { name, namespace, labels, spec } = pod;
  const secrets = new Map<string, Record<string, Buffer>>();
  for (const volume of spec.volumes ?? []) {
    const names = [
      volume.secret?.secretName,
      ...(volume.projected?.sources ?? []).map((source) => source.secret?.name),
    ];
    for (const secret of names.filter((one) => one !== undefined))
      secrets.set(secret, (await cluster?.secret(namespace, secret)) ?? {});
  }
  const tokens = new Map<string, string>();
  for (const { projected } of spec.volumes ?? [])
    for (const { serviceAccountToken: token } of projected?.sources ?? [])
      if (token !== undefined)
        tokens.set(
          token.audience ?? "",
          (await cluster?.token(
            namespace,
            spec.serviceAccountName ?? "default",
            token.audience ?? "",
            token.expirationSeconds ?? 3600,
          )) ?? "",
        );
  const podIp = pod.annotations[addressAnnotation];
  const rendered = podForPodman(spec, {
    name,
    namespace,
    nodeName: hostname(),
    hostIp,
    podIp: podIp ?? hostIp,
    labels,
    files: (volume, files, mode) => writeFiles(join(workFolder, name, volume), files, mode),
    secret: (secret) => secrets.get(secret) ?? {},
    token: (audience) => tokens.get(audience) ?? "",
  });
  const file = join(workFolder, `${name}.yaml`);
  writeFileSync(file, stringify(rendered), { mode: 0o600 });
  const network =
    spec.hostNetwork === true
      ? ["--network=host"]
      : [`--network=${podNetwork}`, ...(podIp === undefined ? [] : [`--ip=${podIp}`])];
  try {
    start(name, [...network, file]);
  } catch (error) {
    // Remove what was created, or podman would refuse the next try because the name is in use.
    try {
      remove(name);
    } catch {
      // The first error is the one to report.
    }
    throw error;
  }
}

/**
 * With control groups v2 only, podman 4.3 attaches a filter to a pod's group that denies every device, so no container
 * starts there. The group that the runtime creates in its place has no filter.
 */
function start(name: string, options: readonly string[]): void {
  if (!existsSync("/sys/fs/cgroup/cgroup.controllers")) {
    podman("play", "kube", ...options);
    return;
  }
  podman("play", "kube", "--start=false", ...options);
  const group = podman("pod", "inspect", "--format={{.CgroupPath}}", name).trim();
  if (group !== "" && existsSync(join("/sys/fs/cgroup", group))) rmdirSync(join("/sys/fs/cgroup", group));
  podman("pod", "start", name);
}

/** Readable for the pod's user; the kubelet does this with the group. */
function writeFiles(folder: string, files: Readonly<Record<string, FileContent>>, mode: number): string {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), content);
    chmodSync(join(folder, name), mode | 0o044);
    chownSync(join(folder, name), 0, 0);
  }
  chmodSync(folder, 0o755);
  return folder;
}

function remove(name: string): void {
  podman("pod", "rm", "--force", "--ignore", "--time=1", name);
}

function podman(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("/usr/bin/podman", args, { encoding: "utf8", cwd: "/" });
  if (status !== 0) throw new Error(`podman ${args.slice(0, 2).join(" ")} failed: ${stderr.trim()}`);
  return stdout;
}
