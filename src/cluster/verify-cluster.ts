import { type V1Pod, type V1PodTemplateSpec, VersionApi } from "@kubernetes/client-node";
import { dialledBy, isReady, listAgentPods, tunnelOf } from "./agent-pods.ts";
import { ClusterApi, ignoreNotFound, requestOptions, readKubeconfig, describeApiError } from "./api.ts";
import { agentName, namespace, ports, serverKubeconfig, serverName } from "../core/konnectivity/names.ts";
import { type TunnelNames, tunnelNames } from "../core/konnectivity/tunnel-names.ts";
import { UserError, problem } from "../core/errors.ts";
import { type Check, failed, type CheckResult, notLookedAt, passed, toChecks } from "./verify.ts";

/**
 * The checks that are possible through the API of a real cluster, without changing anything there. A check that needs the
 * machine prints the command to run on it.
 */
export async function clusterChecks(file: string): Promise<Check[]> {
  const config = readKubeconfig(file);
  const api = new ClusterApi(config);
  const { server } = api;
  let version: string;
  let state: AgentWorkload;
  try {
    version = (await config.makeApiClient(VersionApi).getCode(requestOptions())).gitVersion;
    state = await readAgentWorkload(api);
  } catch (error) {
    throw new UserError(problem("cluster-unreachable", { server, reason: describeApiError(error) }));
  }

  const during = (why: string) => () =>
    notLookedAt(state.ended ? "the bootstrap has ended, and the tunnel with it" : why);
  const onMachine = (command: string) => during(`on the bootstrap machine: ${command}`);
  const { workload, pods } = state;
  const template = JSON.stringify(workload?.template ?? {});
  const dials = dialledBy(workload?.template.spec) ?? "<address>:<port>";
  const names = tunnelNames[tunnelOf(workload?.template.spec)];
  const certificate = (which: keyof TunnelNames["certificates"]) => `${names.tls}/${names.certificates[which]}`;
  const byToken = template.includes("--service-account-token-path=");
  /** The agents' own arguments can be sufficient. */
  const byCertificate = (run: Check["run"]) => () => {
    if (state.ended || workload === undefined || template.includes("--agent-cert=")) return run();
    return byToken
      ? notLookedAt("agents use tokens instead of certificates")
      : failed("agents have neither a certificate nor a token (authentication: none)");
  };
  const dial = `openssl s_client -connect ${dials} -alpn h2 -ign_eof`;
  const webhook = "create an object that one of your webhooks must allow, while the bootstrap runs";

  return toChecks({
    "step-1": () =>
      passed(
        `${server} responds, Kubernetes ${version}` +
          (state.ended
            ? ""
            : "; to see the egress selector, run on the bootstrap machine: grep egress-selector /etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml"),
      ),
    "step-2": onMachine(`crictl ps --name ${serverName}`),
    "step-3": () => (state.ended ? during("")() : agentsRun(state)),
    "step-4": () => notLookedAt("verify installs no webhook in a real cluster"),
    "step-5": during(webhook),
    "step-6": () => agentsAreRemoved(state),
    "step-7": () => notLookedAt("create an object that one of your webhooks must allow, after the bootstrap's end"),
    "security-1": byToken
      ? onMachine(`grep authentication-audience ${names.staticPodManifest}`)
      : byCertificate(onMachine(`grep cluster-ca-cert ${names.staticPodManifest}`)),
    "security-2": onMachine(`ls ${byToken ? serverKubeconfig : certificate("ca")}`),
    "security-3": onMachine(`openssl verify -CAfile ${certificate("ca")} ${certificate("server")}`),
    "security-4": onMachine(`curl 127.0.0.1:${ports.health}/${names.readyzTells ? "readyz" : "healthz"}`),
    "security-5": names.readyzTells
      ? () => (state.ended ? during("")() : agentsAreReady(pods))
      : during(
          `agents of the installer's own tunnel have no readiness probe; on a node, this must print 200: nsenter -t $(pgrep -xo proxy-agent) -n curl -o /dev/null -w '%{http_code}' 127.0.0.1:${ports.health}/readyz`,
        ),
    "security-6": during(webhook),
    "security-7": byCertificate(
      during(`on a node, this must end with "alert certificate required": ${dial} </dev/null`),
    ),
    "security-8": byCertificate(
      during(`on a node, this must end with "alert unknown ca": ${dial} -cert <any> -key <any> </dev/null`),
    ),
    "security-9": onMachine(`crictl logs $(crictl ps --name ${serverName} -q) 2>&1 | grep -E 'x509|tls: '`),
  });
}

interface AgentWorkload {
  /** The condition that openshift-install waits for. */
  readonly ended: boolean;
  readonly workload: { readonly kind: string; readonly template: V1PodTemplateSpec } | undefined;
  readonly pods: readonly V1Pod[];
}

function agentsRun({ workload, pods }: AgentWorkload): CheckResult {
  if (workload === undefined)
    return failed(`there is no ${agentName} in ${namespace}: it is not applied yet, or this is another tunnel`);
  const running = pods.filter(({ status }) => status?.phase === "Running").map(({ spec }) => spec?.nodeName ?? "?");
  const where = `${workload.kind} ${agentName}`;
  return running.length > 0
    ? passed(`${where}; pods run on ${running.join(", ")}`)
    : failed(`${where} exists, but none of its ${pods.length} pods is running`);
}

function agentsAreReady(pods: readonly V1Pod[]): CheckResult {
  const others = pods.filter((pod) => !isReady(pod)).map(({ metadata }) => metadata?.name ?? "?");
  const text = `${pods.length - others.length} of ${pods.length} pods are ready`;
  return others.length === 0 && pods.length > 0
    ? passed(text)
    : failed(`${text}${others.length > 0 ? `; not ready: ${others.join(", ")}` : ""}`);
}

function agentsAreRemoved({ ended, workload, pods }: AgentWorkload): CheckResult {
  if (!ended) return notLookedAt("the bootstrap has not ended yet: run openshift-install wait-for bootstrap-complete");
  const left = [
    ...(workload === undefined ? [] : [workload.kind]),
    ...(pods.length > 0 ? [`${pods.length} pods`] : []),
  ];
  return left.length === 0
    ? passed(`no agent workload and no agent pod in ${namespace}`)
    : failed(`left in ${namespace}: ${left.join(", ")}; run oc delete namespace ${namespace}`);
}

async function readAgentWorkload(api: ClusterApi): Promise<AgentWorkload> {
  const agent = { namespace, name: agentName };
  const [bootstrap, daemonSet, deployment, pods] = await Promise.all([
    api.bootstrapStatus(),
    ignoreNotFound(api.apps.readNamespacedDaemonSet(agent, requestOptions())),
    ignoreNotFound(api.apps.readNamespacedDeployment(agent, requestOptions())),
    listAgentPods(api),
  ]);
  const template = daemonSet?.spec?.template ?? deployment?.spec?.template;
  return {
    ended: bootstrap === "complete",
    workload: template && { kind: daemonSet === undefined ? "Deployment" : "DaemonSet", template },
    pods,
  };
}
