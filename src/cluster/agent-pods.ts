import { ApiException, type V1Pod } from "@kubernetes/client-node";
import { agentName, namespace } from "../core/konnectivity/names.ts";
import { type ClusterApi, ignoreNotFound, requestOptions, describeApiError } from "./api.ts";
import { lastReason, type Reason } from "./reasons.ts";

/** An agent as the cluster's API knows it. */
export interface PodSeen {
  readonly name: string;
  readonly node: string;
  /** The kubelet's word for it: Running, Pending, or why its container waits. */
  readonly state: string;
  readonly ready: boolean;
  readonly restarts: number;
  /** @default - the API could not get it */
  readonly log?: string;
  /** Why there is no log. Through the bootstrap kube-apiserver a log needs the tunnel. */
  readonly noLog?: string;
  readonly reason: Reason | undefined;
}

/** What the API says of the agents, or why it says nothing. */
export type PodsSeen =
  | {
      /** Whether the bootstrap has, as openshift-install asks for it. */
      readonly ended: boolean;
      readonly pods: readonly PodSeen[];
      /** What kept something from starting. */
      readonly events: readonly string[];
    }
  | { readonly silent: string };

/** Asks a cluster for the agents' pods, their logs and what kept them from starting. Nothing is changed. */
export async function askCluster(api: ClusterApi, logLines: number): Promise<PodsSeen> {
  try {
    const labelSelector = `app=${agentName}`;
    const [bootstrap, { items: pods }, { items: events }] = await Promise.all([
      ignoreNotFound(
        api.core.readNamespacedConfigMap({ namespace: "kube-system", name: "bootstrap" }, requestOptions()),
      ),
      api.core.listNamespacedPod({ namespace, labelSelector }, requestOptions()),
      api.core.listNamespacedEvent({ namespace, fieldSelector: "type=Warning" }, requestOptions()),
    ]);
    const sentences = events.map(({ involvedObject: { kind, name }, message }) => `${kind}/${name}: ${message ?? ""}`);
    return {
      ended: bootstrap?.data?.status === "complete",
      pods: await Promise.all(pods.map((pod) => seen(api, pod, logLines))),
      events: [...new Set(sentences)],
    };
  } catch (error) {
    return { silent: `${api.server} cannot be asked: ${describeApiError(error)}` };
  }
}

async function seen(api: ClusterApi, { metadata, spec, status }: V1Pod, tailLines: number): Promise<PodSeen> {
  const name = metadata?.name ?? "";
  const [container] = status?.containerStatuses ?? [];
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
    ready: status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") === true,
    restarts: container?.restartCount ?? 0,
    ...(log !== undefined && { log }),
    ...(noLog !== undefined && { noLog }),
    reason: lastReason(log ?? ""),
  };
}

/** The API's own sentence. */
function messageOf({ code, body }: ApiException<unknown>): string {
  try {
    const { message } = JSON.parse(String(body)) as { message?: unknown };
    if (typeof message === "string") return message;
  } catch {
    // Then the code says it.
  }
  return `it says ${code}`;
}
