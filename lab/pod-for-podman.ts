import type { Container, EnvVar, PodSpec, Volume } from "kubernetes-types/core/v1.js";

/** What a kubelet knows and podman does not. */
export interface PodContext {
  readonly name: string;
  readonly namespace: string;
  readonly nodeName: string;
  readonly hostIp: string;
  readonly podIp: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Writes files for a volume and says which folder holds them. */
  readonly files: (volume: string, files: Readonly<Record<string, FileContent>>, mode: number) => string;
  readonly secret: (name: string) => Readonly<Record<string, Buffer>>;
  readonly token: (audience: string, expirationSeconds: number) => string;
}

export type FileContent = Buffer | string;

/** The user that a security context constraint of OpenShift would have chosen. */
const unprivilegedUser = 1_000_650_000;

/**
 * A pod as podman 4.3 can play it: secret and token volumes become folders, fieldRefs and $(VAR) values, ports go (podman
 * refuses them on the host network), and containers that must not run as root get a user. Everything else stays as it was rendered:
 * podman runs it, or ignores it (probes, priorities, tolerations).
 */
export function podForPodman(spec: PodSpec, context: PodContext) {
  const { name, namespace, labels } = context;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, labels },
    spec: {
      hostNetwork: spec.hostNetwork,
      restartPolicy: spec.restartPolicy ?? "Always",
      securityContext: spec.securityContext,
      containers: spec.containers.map((container) => containerForPodman(container, spec, context)),
      volumes: (spec.volumes ?? []).map((volume) => volumeForPodman(volume, context)),
    },
  };
}

function containerForPodman(container: Container, spec: PodSpec, context: PodContext) {
  const { ports: _, livenessProbe: _l, readinessProbe: _r, startupProbe: _s, ...rest } = container;
  const env = (container.env ?? []).map((variable) => ({ name: variable.name, value: valueOf(variable, context) }));
  const expand = (text: string) =>
    text.replaceAll(
      /\$\(([A-Za-z_][\w]*)\)/g,
      (whole, name: string) => env.find((one) => one.name === name)?.value ?? whole,
    );
  const notRoot = container.securityContext?.runAsNonRoot ?? spec.securityContext?.runAsNonRoot;
  return {
    ...rest,
    imagePullPolicy: "Never",
    command: container.command?.map(expand),
    args: container.args?.map(expand),
    env,
    securityContext: {
      ...container.securityContext,
      ...(notRoot === true && { runAsUser: container.securityContext?.runAsUser ?? unprivilegedUser }),
    },
  };
}

function valueOf({ name, value, valueFrom }: EnvVar, context: PodContext): string {
  if (valueFrom === undefined) return value ?? "";
  const fields: Record<string, string> = {
    "metadata.name": context.name,
    "metadata.namespace": context.namespace,
    "spec.nodeName": context.nodeName,
    "status.hostIP": context.hostIp,
    "status.podIP": context.podIp,
  };
  const found = fields[valueFrom.fieldRef?.fieldPath ?? ""];
  if (found === undefined) throw new Error(`the variable ${name} has a source that this fake does not support`);
  return found;
}

function volumeForPodman(volume: Volume, context: PodContext): Volume {
  const { name, secret, projected } = volume;
  if (secret !== undefined)
    return folderVolume(name, context, context.secret(secret.secretName ?? ""), secret.defaultMode ?? 0o644);
  if (projected === undefined) return volume;
  const files: Record<string, FileContent> = {};
  for (const source of projected.sources ?? []) {
    const { serviceAccountToken: token, secret: of } = source;
    if (token !== undefined) files[token.path] = context.token(token.audience ?? "", token.expirationSeconds ?? 3600);
    if (of !== undefined) Object.assign(files, context.secret(of.name ?? ""));
  }
  return folderVolume(name, context, files, projected.defaultMode ?? 0o644);
}

function folderVolume(name: string, context: PodContext, files: Record<string, FileContent>, mode: number): Volume {
  return { name, hostPath: { path: context.files(name, files, mode), type: "Directory" } };
}
