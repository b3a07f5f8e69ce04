import { ApiException, type V1Pod, type V1PodSpec } from "@kubernetes/client-node";
import { defaultAgentPort } from "../core/konnectivity/agent-port.ts";
import { agentName, namespace } from "../core/konnectivity/names.ts";
import { type TunnelKind, tunnelNames } from "../core/konnectivity/tunnel-names.ts";
import { type ClusterApi, requestOptions, describeApiError } from "./api.ts";
import { lastReason, type Reason } from "./reasons.ts";

/** An agent's pod as the cluster's API reports it. */
export interface AgentPod {
  readonly name: string;
  readonly node: string;
  /** The pod's phase, or the reason why its container waits, such as ImagePullBackOff. */
  readonly state: string;
  readonly ready: boolean;
  /** Whether its readiness does not depend on a connection: the agents of the installer's own tunnel have no such probe. */
  readonly unprobed?: true;
  readonly restarts: number;
  /** The security context constraint that admitted it. @default - the API says none */
  readonly scc?: string;
  /** The address and port that it dials. @default - not in its arguments */
  readonly dials?: string;
  /** @default - the API did not return it */
  readonly log?: string;
  /** Why there is no log. Through the bootstrap kube-apiserver a log needs the tunnel. */
  readonly noLog?: string;
  readonly reason: Reason | undefined;
  /** The digest of the CA that it was created with. @default - it has none, like the installer's own agents */
  readonly pki?: string;
}

/** What the API reports about the agents, or why the request failed. */
export type AgentPods =
  | {
      /** Whether the bootstrap has ended, by the condition that openshift-install waits for. */
      readonly ended: boolean;
      readonly pods: readonly AgentPod[];
      /** How many nodes the cluster has. @default - they could not be listed */
      readonly nodes?: number;
      /** Warning events in the tunnel's namespace, which say why something did not start. */
      readonly events: readonly string[];
    }
  | { readonly unreachable: string };

/** Reads the agents' pods, their logs and the warnings about them. Read-only. */
export async function collectAgentPods(api: ClusterApi, logLines: number): Promise<AgentPods> {
  try {
    const [bootstrap, nodes, pods, { items: events }] = await Promise.all([
      api.bootstrapStatus(),
      countNodes(api),
      listAgentPods(api),
      api.core.listNamespacedEvent({ namespace, fieldSelector: "type=Warning" }, requestOptions()),
    ]);
    const sentences = events.map(({ involvedObject: { kind, name }, message }) => `${kind}/${name}: ${message ?? ""}`);
    return {
      ended: bootstrap === "complete",
      ...(nodes !== undefined && { nodes }),
      pods: await Promise.all(pods.map((pod) => describePod(api, pod, logLines))),
      events: [...new Set(sentences)],
    };
  } catch (error) {
    return { unreachable: `the request to ${api.server} failed: ${describeApiError(error)}` };
  }
}

/** A user who may read the tunnel's namespace need not be allowed to list nodes. */
async function countNodes({ core }: ClusterApi): Promise<number | undefined> {
  try {
    return (await core.listNode({}, requestOptions())).items.length;
  } catch {
    return undefined;
  }
}

export async function listAgentPods({ core }: ClusterApi): Promise<V1Pod[]> {
  return (await core.listNamespacedPod({ namespace, labelSelector: `app=${agentName}` }, requestOptions())).items;
}

export function isReady({ status }: V1Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;
}

const hasReadinessProbe = (spec: V1PodSpec | undefined) =>
  (spec?.containers ?? []).some(({ readinessProbe }) => readinessProbe !== undefined);

async function describePod(api: ClusterApi, pod: V1Pod, tailLines: number): Promise<AgentPod> {
  const { metadata, spec, status } = pod;
  const name = metadata?.name ?? "";
  const dials = dialledBy(spec);
  const pki = metadata?.annotations?.["konnectivity-bootstrap/pki"];
  const [container] = status?.containerStatuses ?? [];
  const scc = metadata?.annotations?.["openshift.io/scc"];
  let log: string | undefined;
  let noLog: string | undefined;
  try {
    log = await api.core.readNamespacedPodLog({ namespace, name, container: agentName, tailLines }, requestOptions());
  } catch (error) {
    noLog = error instanceof ApiException ? messageOf(error) : describeApiError(error);
  }
  return {
    name,
    node: spec?.nodeName ?? "no node",
    state: container?.state?.waiting?.reason ?? status?.phase ?? "unknown",
    ready: isReady(pod),
    ...(!hasReadinessProbe(spec) && { unprobed: true as const }),
    restarts: container?.restartCount ?? 0,
    ...(pki !== undefined && { pki }),
    ...(scc !== undefined && { scc }),
    ...(dials !== undefined && { dials }),
    ...(log !== undefined && { log }),
    ...(noLog !== undefined && { noLog }),
    reason: lastReason(log ?? ""),
  };
}

/** Address and port that agents of this pod dial, by their arguments: safe in a command line, whatever those are. */
export function dialledBy(spec: V1PodSpec | undefined): string | undefined {
  const value = (pattern: RegExp) => wordsOf(spec).flatMap((word) => pattern.exec(word)?.[1] ?? [])[0];
  const host = value(/^--proxy-server-host=([\w.:[\]-]+)$/);
  return host && `${host}:${value(/^--proxy-server-port=(\d{1,5})$/) ?? defaultAgentPort}`;
}

/** Whose tunnel this agent is of: the two mount its certificates in different folders. */
export function tunnelOf(spec: V1PodSpec | undefined): TunnelKind {
  return wordsOf(spec).includes(`--ca-cert=${tunnelNames.installer.agentCertificates}/ca.crt`) ? "installer" : "ours";
}

/** The command lines of a pod's containers. */
const wordsOf = (spec: V1PodSpec | undefined) =>
  (spec?.containers ?? []).flatMap(({ command = [], args = [] }) => [...command, ...args]);

/** The message in an API error's body, or its code. */
function messageOf({ code, body }: ApiException<unknown>): string {
  try {
    const { message } = JSON.parse(String(body)) as { message?: unknown };
    if (typeof message === "string") return message;
  } catch {
    // Not every body is a Status object.
  }
  return `the API returned ${code}`;
}
