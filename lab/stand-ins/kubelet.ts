/**
 * Stands in for the kubelet, and on a node for the controllers of DaemonSets and Deployments too: plays every manifest in
 * /etc/kubernetes/manifests as long as it lies there, and with --kubeconfig every pod template of a workload in the
 * cluster, by real podman. Left out: probes (podman restarts what ends, and nothing else), grace periods other than
 * podman's, status of pods and workloads, scheduling, volumes other than those that our manifests have.
 *
 *   kubelet [--kubeconfig=FILE] --address=IP
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pod, PodSpec } from "kubernetes-types/core/v1.js";
import { parse, stringify } from "yaml";
import { addresses } from "../addresses.ts";
import { type FileContent, podForPodman } from "../pod-for-podman.ts";
import { type Cluster, connect } from "../cluster-api.ts";

const manifests = "/etc/kubernetes/manifests";
const workFolder = "/run/lab-kubelet";
/** The pods' network on a node; the kubelet's own interface to it would be a CNI plugin. */
const podNetwork = "podnet";
/** A pod's address, where one must be known beforehand. */
const addressAnnotation = "lab/pod-ip";

interface Wanted {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly spec: PodSpec;
}

export async function main(args: readonly string[]): Promise<number> {
  const option = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const address = option("address") ?? "";
  const kubeconfig = option("kubeconfig");
  mkdirSync(workFolder, { recursive: true, mode: 0o700 });
  /** What runs, by name, with the digest of what it was played from. */
  const playing = new Map<string, string>();
  for (;;) {
    const wanted = new Map<string, Wanted>();
    for (const pod of staticPods()) wanted.set(pod.name, pod);
    let cluster: Cluster | undefined;
    try {
      cluster = kubeconfig === undefined || !existsSync(kubeconfig) ? undefined : connect(kubeconfig);
      for (const pod of cluster === undefined ? [] : await workloadPods(cluster)) wanted.set(pod.name, pod);
    } catch (error) {
      // No API yet, or no more: what runs goes on running, as on any node.
      for (const [name] of playing) if (!wanted.has(name)) wanted.set(name, { name } as Wanted);
      if (!(error instanceof Error)) throw error;
    }
    for (const [name] of [...playing]) {
      if (wanted.has(name)) continue;
      stop(name);
      playing.delete(name);
    }
    for (const pod of wanted.values()) {
      if (!("spec" in pod)) continue;
      const digest = createHash("sha256").update(JSON.stringify(pod)).digest("hex");
      if (playing.get(pod.name) === digest) continue;
      if (playing.has(pod.name)) stop(pod.name);
      try {
        await play(pod, address, cluster);
        playing.set(pod.name, digest);
      } catch (error) {
        console.error(`${pod.name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    await sleep(200);
  }
}

function staticPods(): Wanted[] {
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

/** One pod of every DaemonSet, and all replicas of every Deployment: this is the only node that plays them. */
async function workloadPods(cluster: Cluster): Promise<Wanted[]> {
  const workloads = [
    ...(await cluster.list("apps/v1", "DaemonSet")).map((object) => ({ object, replicas: 1 })),
    ...(await cluster.list("apps/v1", "Deployment")).map((object) => ({ object, replicas: object.spec.replicas ?? 1 })),
  ];
  return workloads.flatMap(({ object, replicas }) =>
    Array.from({ length: replicas }, (_, index) => ({
      name: `${object.metadata.name}-${index}`,
      namespace: object.metadata.namespace ?? "default",
      labels: object.spec.template.metadata?.labels ?? {},
      annotations: object.spec.template.metadata?.annotations ?? {},
      spec: object.spec.template.spec,
    })),
  );
}

async function play(pod: Wanted, hostIp: string, cluster: Cluster | undefined): Promise<void> {
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
  podman("play", "kube", ...network, file);
  console.error(`${name}: started`);
}

/** Readable for the pod's user, as the kubelet would make it by the group. */
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

function stop(name: string): void {
  podman("pod", "rm", "--force", "--time=1", name);
  console.error(`${name}: stopped`);
}

function podman(...args: readonly string[]): void {
  const { status, stderr } = spawnSync("/usr/bin/podman", args, { encoding: "utf8", cwd: "/" });
  if (status !== 0) throw new Error(`podman ${args.slice(0, 2).join(" ")} failed: ${stderr.trim()}`);
}

export const podNetworkOptions = ["network", "create", `--subnet=${addresses.podNetwork}`, podNetwork];
