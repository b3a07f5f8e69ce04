import {
  ApiException,
  AppsV1Api,
  type ConfigurationOptions,
  CoreV1Api,
  KubeConfig,
  type ObservableMiddleware,
  setHeaderMiddleware,
  type V1Pod,
  type V1PodTemplateSpec,
  VersionApi,
} from "@kubernetes/client-node";
import { readUserFile } from "../constructs/config/user-file.ts";
import {
  agentName,
  namespace,
  ports,
  serverKubeconfig,
  serverName,
  staticPodManifest,
  tls,
} from "../constructs/konnectivity/names.ts";
import { version as packageVersion } from "../constructs/package.ts";
import { InputError, problem } from "../constructs/problems.ts";
import { type Check, failed, type Finding, notLookedAt, passed, toChecks } from "./verify.ts";

const seconds = 20;

/** A kubeconfig of the user's, or one sentence why it is none. */
export function readKubeconfig(file: string): KubeConfig {
  const text = readUserFile(file, "give the kubeconfig of a cluster");
  const config = new KubeConfig();
  try {
    config.loadFromString(text);
  } catch {
    throw new InputError(problem("kubeconfig-invalid", { file, detail: "it is not the YAML of one" }));
  }
  if (config.getCurrentCluster()?.server === undefined)
    throw new InputError(problem("kubeconfig-invalid", { file, detail: "its current context names no cluster" }));
  return config;
}

/** What the API of a real cluster shows. Nothing is changed there; what needs the machine says what to run on it. */
export async function clusterChecks(file: string): Promise<Check[]> {
  const config = readKubeconfig(file);
  const server = config.getCurrentCluster()?.server ?? "";
  const api = new Api(config);
  let version: string;
  let state: State;
  try {
    version = await api.version();
    state = await api.state();
  } catch (error) {
    throw new InputError(problem("cluster-unreachable", { server, reason: reasonOf(error) }));
  }

  const during = (why: string) => () =>
    notLookedAt(state.ended ? "the bootstrap has ended, and the tunnel with it" : why);
  const onMachine = (command: string) => during(`on the bootstrap machine: ${command}`);
  const { workload, pods } = state;
  const template = JSON.stringify(workload?.template ?? {});
  const host = /--proxy-server-host=([\w.:[\]-]+)/.exec(template)?.[1] ?? "<address>";
  const byToken = template.includes("--service-account-token-path=");
  /** What the agents' own arguments say of it already. */
  const byCertificate = (look: Check["look"]) => () => {
    if (state.ended || workload === undefined || template.includes("--agent-cert=")) return look();
    return byToken
      ? notLookedAt("agents have tokens instead of certificates")
      : failed("agents are given neither a certificate nor a token (authentication: none)");
  };
  const dial = `openssl s_client -connect ${host}:${ports.agent} -alpn h2 -ign_eof`;
  const webhook = "create an object that a webhook of yours must allow, while the bootstrap runs";

  return toChecks({
    "step-1": () =>
      passed(
        `${server} answers, Kubernetes ${version}` +
          (state.ended
            ? ""
            : "; the selector, on the bootstrap machine: grep egress-selector /etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml"),
      ),
    "step-2": onMachine(`crictl ps --name ${serverName}`),
    "step-3": () => (state.ended ? during("")() : agentsRun(state)),
    "step-4": () => notLookedAt("no webhook is put into a real cluster"),
    "step-5": during(webhook),
    "step-6": () => agentsAreRemoved(state),
    "step-7": () => notLookedAt("create an object that a webhook of yours must allow, after the bootstrap's end"),
    "security-1": byToken
      ? onMachine(`grep authentication-audience ${staticPodManifest}`)
      : byCertificate(onMachine(`grep cluster-ca-cert ${staticPodManifest}`)),
    "security-2": onMachine(`ls ${byToken ? serverKubeconfig : `${tls}/serving/ca.crt`}`),
    "security-3": onMachine(`openssl verify -CAfile ${tls}/serving/ca.crt ${tls}/serving/tls.crt`),
    "security-4": onMachine(`curl 127.0.0.1:${ports.health}/readyz`),
    "security-5": () => (state.ended ? during("")() : agentsAreReady(pods)),
    "security-6": during(webhook),
    "security-7": byCertificate(during(`on a node, must end with "alert certificate required": ${dial} </dev/null`)),
    "security-8": byCertificate(
      during(`on a node, must end with "alert unknown ca": ${dial} -cert <any> -key <any> </dev/null`),
    ),
    "security-9": onMachine(`crictl logs $(crictl ps --name ${serverName} -q) 2>&1 | grep -E 'x509|tls: '`),
  });
}

interface State {
  /** What openshift-install waits for too. */
  readonly ended: boolean;
  readonly workload: { readonly kind: string; readonly template: V1PodTemplateSpec } | undefined;
  readonly pods: readonly V1Pod[];
}

function agentsRun({ workload, pods }: State): Finding {
  if (workload === undefined) return failed(`no ${agentName} in ${namespace}: not applied yet, or not this tunnel`);
  const running = pods.filter(({ status }) => status?.phase === "Running").map(({ spec }) => spec?.nodeName ?? "?");
  const where = `${workload.kind} ${agentName}`;
  return running.length > 0
    ? passed(`${where}; a pod runs on ${running.join(", ")}`)
    : failed(`${where} is there, but none of its ${pods.length} pods runs`);
}

function agentsAreReady(pods: readonly V1Pod[]): Finding {
  const isReady = ({ status }: V1Pod) =>
    status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") === true;
  const others = pods.filter((pod) => !isReady(pod)).map(({ metadata }) => metadata?.name ?? "?");
  const text = `${pods.length - others.length} of ${pods.length} pods are ready`;
  return others.length === 0 && pods.length > 0
    ? passed(text)
    : failed(`${text}${others.length > 0 ? `; not ready: ${others.join(", ")}` : ""}`);
}

function agentsAreRemoved({ ended, workload, pods }: State): Finding {
  if (!ended) return notLookedAt("the bootstrap has not ended: openshift-install wait-for bootstrap-complete");
  const left = [
    ...(workload === undefined ? [] : [workload.kind]),
    ...(pods.length > 0 ? [`${pods.length} pods`] : []),
  ];
  return left.length === 0
    ? passed(`no workload and no pod of it in ${namespace}`)
    : failed(`left in ${namespace}: ${left.join(", ")}; oc delete namespace ${namespace}`);
}

/** The few questions that are asked, each with an end. */
class Api {
  readonly #version: VersionApi;
  readonly #core: CoreV1Api;
  readonly #apps: AppsV1Api;

  constructor(config: KubeConfig) {
    this.#version = config.makeApiClient(VersionApi);
    this.#core = config.makeApiClient(CoreV1Api);
    this.#apps = config.makeApiClient(AppsV1Api);
  }

  async version(): Promise<string> {
    return (await this.#version.getCode(limited())).gitVersion;
  }

  async state(): Promise<State> {
    const name = agentName;
    const bootstrap = { namespace: "kube-system", name: "bootstrap" };
    const [report, daemonSet, deployment, pods] = await Promise.all([
      ifThere(this.#core.readNamespacedConfigMap(bootstrap, limited())),
      ifThere(this.#apps.readNamespacedDaemonSet({ namespace, name }, limited())),
      ifThere(this.#apps.readNamespacedDeployment({ namespace, name }, limited())),
      this.#core.listNamespacedPod({ namespace, labelSelector: `app=${agentName}` }, limited()),
    ]);
    const template = daemonSet?.spec?.template ?? deployment?.spec?.template;
    return {
      ended: report?.data?.status === "complete",
      workload: template && { kind: daemonSet === undefined ? "Deployment" : "DaemonSet", template },
      pods: pods.items,
    };
  }
}

/** Options of one question: who asks, and for how long. */
function limited(): ConfigurationOptions {
  const named = setHeaderMiddleware("User-Agent", `konnectivity-bootstrap/${packageVersion}`);
  const middleware: ObservableMiddleware = {
    pre: (context) => {
      context.setSignal(AbortSignal.timeout(1000 * seconds));
      return named.pre(context);
    },
    post: (context) => named.post(context),
  };
  return { middleware: [middleware], middlewareMergeStrategy: "append" };
}

async function ifThere<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiException && error.code === 404) return undefined;
    throw error;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ApiException) {
    if (error.code === 401) return "it does not know the kubeconfig's user (401)";
    if (error.code === 403) return "the kubeconfig's user may not read workloads and pods (403)";
    return `it says ${String(error.code)}`;
  }
  if (!(error instanceof Error)) return String(error);
  if (error.name === "AbortError" || error.name === "TimeoutError") return `nothing came within ${seconds} s`;
  return error.message.replace(/^.*reason: /s, "").split("\n")[0] ?? "";
}
