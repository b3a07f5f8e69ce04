import { setTimeout as sleep } from "node:timers/promises";
import {
  agentName,
  agentSecretName,
  namespace,
  ports,
  serverName,
  tls,
  tokenReviewRole,
} from "../src/core/konnectivity/names.ts";
import { hostOf } from "./addresses.ts";
import { type Lab } from "./lab.ts";
import { waitFor } from "./wait.ts";
import { containersOf, LabView, type Made, statusOf } from "./lab-view.ts";
import type { LabMachine } from "./machine.ts";
import { timeLimit } from "../src/core/time-limits.ts";
import {
  type Check,
  type CheckId,
  failed,
  type CheckResult,
  passedIf,
  notLookedAt,
  passed,
  toChecks,
} from "../src/cluster/verify.ts";
import { type Proof, reasonOf, refusesCertificate, refusesToken, verifierId } from "./verify-refusals.ts";

export interface LabChecksProps {
  /** Whether the bootstrap may be ended, so that what comes after it can be looked at. */
  readonly finish: boolean;
}

export function labChecks(lab: Lab, { finish }: LabChecksProps): Check[] {
  return toChecks(new LabLooks(lab, finish).all());
}

/** Looks at a lab from inside its machines. */
class LabLooks {
  readonly #lab: Lab;
  readonly #view: LabView;
  readonly #finish: boolean;

  constructor(lab: Lab, finish: boolean) {
    this.#lab = lab;
    this.#view = new LabView(lab);
    this.#finish = finish;
  }

  all(): Record<CheckId, Check["run"]> {
    const during = (run: Check["run"]) => () =>
      this.#view.ended() ? notLookedAt("the bootstrap has ended, and the tunnel with it") : run();
    return {
      "step-1": () => this.#apiServers(),
      "step-2": during(() => this.#serverRuns()),
      "step-3": during(() => this.#agentsRun()),
      "step-4": () => this.#webhookRuns(),
      "step-5": during(() => this.#webhookIsReached()),
      "step-6": () => this.#agentsAreRemoved(),
      "step-7": () => this.#webhookIsReachedWithoutTunnel(),
      "security-1": during(() => this.#flagIsThere()),
      "security-2": during(() => this.#flagLeadsToTheFile()),
      "security-3": during(() => this.#certificatesAreValid()),
      "security-4": during(() => this.#serverIsReady()),
      "security-5": during(() => this.#agentsAreReady()),
      "security-6": during(() => this.#tunnelWorks()),
      "security-7": during(() => this.#refuses("no")),
      "security-8": during(() => this.#refuses("foreign")),
      "security-9": during(() => this.#logsAreClean()),
    };
  }

  #apiServers(): CheckResult {
    const { bootstrap, node } = this.#lab;
    const permanent = this.#lab.request(node, "GET", "/readyz").code;
    if (this.#view.ended())
      return passedIf(
        permanent === 200,
        `the bootstrap has ended; the permanent kube-apiserver's /readyz returns ${permanent}`,
      );
    const temporary = this.#lab.request(bootstrap, "GET", "/readyz").code;
    const selector = bootstrap
      .run(`tr '\\0' '\\n' </proc/$(pgrep -xo kube-apiserver)/cmdline`)
      .stdout.split("\n")
      .find((word) => word.startsWith("--egress-selector-config-file="));
    return passedIf(
      temporary === 200 && permanent === 200 && selector !== undefined,
      `/readyz of the bootstrap kube-apiserver returns ${temporary}, of the permanent one ${permanent}; ${selector ?? "no --egress-selector-config-file"}`,
    );
  }

  #serverRuns(): CheckResult {
    const { bootstrap } = this.#lab;
    const server = this.#view.server();
    if (server === undefined) return failed(noServer);
    const container = containersOf(bootstrap, serverName).join(", ");
    const listens = bootstrap.run(`ss -Hltn 'sport = ${server.agentPort}' | awk '{ print $4 }'`).stdout.trim();
    return passedIf(
      container !== "" && listens !== "",
      `container ${container || "missing"}, listens for agents on ${listens || "nothing"}`,
    );
  }

  #agentsRun(): CheckResult {
    const workloads = this.#view.workloads(this.#lab.bootstrap);
    const running = this.#lab.nodes.map((node) => ({ node: node.name, names: containersOf(node, agentName) }));
    const count = running.flatMap(({ names }) => names).length;
    const everywhere = running.every(({ names }) => names.length > 0) || !workloads.includes("DaemonSet");
    const where = running.map(({ node, names }) => `on ${node}: ${names.join(", ") || "no agent"}`);
    return passedIf(
      workloads.length > 0 && count > 0 && everywhere && this.#view.agents().length === count,
      `${workloads.join(", ") || "no workload"} in ${namespace}; ${where.join("; ")}`,
    );
  }

  async #webhookRuns(): Promise<CheckResult> {
    if (!this.#view.ended()) await this.#lab.installWorkload();
    const webhook = `${hostOf(this.#lab.addresses.webhookPod)}:8443`;
    if (this.#view.calls() === undefined) return failed(`${webhook} does not respond on node-0`);
    const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/by-service";
    const { webhooks = [] } = this.#lab.request(this.#lab.node, "GET", path).body as { webhooks?: WebhookEntry[] };
    const [{ failurePolicy, clientConfig } = {}] = webhooks;
    return passedIf(
      failurePolicy === "Fail" && clientConfig?.service !== undefined,
      `${webhook} responds on node-0; the cluster calls it by ${clientConfig?.service === undefined ? "URL" : "service"}, failurePolicy: ${failurePolicy ?? "unknown"}`,
    );
  }

  #webhookIsReached(): CheckResult {
    const allowed = this.#view.create(this.#lab.bootstrap, {});
    const first = `a ConfigMap that it allows: ${said(allowed)}`;
    if (allowed.code !== 201 || allowed.calls !== 1) return failed(first);
    const denied = this.#view.create(this.#lab.bootstrap, { deny: "true" });
    return passedIf(denied.code === 403, `${first}; one that it denies: ${said(denied)}`);
  }

  async #agentsAreRemoved(): Promise<CheckResult> {
    const { bootstrap, node } = this.#lab;
    if (!this.#view.ended()) {
      if (!this.#finish) return notLookedAt("needs --finish, which ends the bootstrap");
      this.#lab.finish();
      await waitFor("the end of the bootstrap", 120, () => this.#view.ended());
    }
    // It stays while the bootstrap kube-apiserver serves, which is 70 s more with several nodes.
    await waitFor("the end of the server", 180, () => this.#view.server() === undefined);
    const left = [
      ...this.#view.workloads(node),
      ...(this.#view.exists(node, `/api/v1/namespaces/${namespace}/secrets/${agentSecretName}`) ? ["Secret"] : []),
      ...["clusterrolebindings", "clusterroles"].filter((kind) =>
        this.#view.exists(node, `/apis/rbac.authorization.k8s.io/v1/${kind}/${tokenReviewRole}`),
      ),
      ...(bootstrap.run(`test -e ${tls}`).status === 0 ? [`${tls} on the bootstrap machine`] : []),
    ];
    // The kubelets stop them shortly after the workload was deleted.
    for (let tries = 0; tries < timeLimit(30) && this.#view.agents().length > 0; tries++) await sleep(500);
    left.push(...this.#view.agents().map(({ node, pid }) => `an agent on ${node.name} (process ${pid})`));
    return left.length > 0
      ? failed(`left: ${left.join(", ")}`)
      : passed("workload, Secret, server and keys are deleted, and no agent runs on a node");
  }

  #webhookIsReachedWithoutTunnel(): CheckResult {
    if (this.#view.calls() === undefined) return notLookedAt("the webhook is not running");
    const when = this.#view.ended() ? "after" : "before";
    const made = this.#view.create(this.#lab.node, {});
    return passedIf(
      made.code === 201 && made.calls === 1,
      `${when} the end of the bootstrap, a ConfigMap: ${said(made)}`,
    );
  }

  #flagIsThere(): CheckResult {
    const server = this.#view.server();
    const wanted = this.#view.authentication();
    if (server === undefined) return failed(noServer);
    if (wanted === undefined)
      return failed(
        `the tunnel has authentication: none, so anyone who can reach port ${server.agentPort} can register as an agent`,
      );
    const value = server.flags.get(wanted.flag);
    return passedIf(
      value !== undefined,
      value === undefined ? `--${wanted.flag} is missing` : `--${wanted.flag}=${value}`,
    );
  }

  #flagLeadsToTheFile(): CheckResult {
    const server = this.#view.server();
    const wanted = this.#view.authentication();
    if (server === undefined) return notLookedAt(noServer);
    if (wanted === undefined) return notLookedAt("with authentication: none there is no such flag");
    const path = server.flags.get(wanted.path);
    if (path === undefined) return failed(`--${wanted.path} is missing`);
    // Compares the file in the server's mount namespace with the one that the bootstrap created.
    const same = this.#lab.bootstrap.run(`cmp --silent /proc/${server.pid}/root${path} ${wanted.file}`).status === 0;
    return passedIf(same, `${path} in the server's container is ${same ? "" : "not "}${wanted.file}`);
  }

  #certificatesAreValid(): CheckResult {
    const { bootstrap } = this.#lab;
    const purposes = { serving: "sslserver", agent: "sslclient", frontend: "sslserver", "kube-apiserver": "sslclient" };
    const folders = bootstrap.run(`cd ${tls} && ls -d */`).stdout.split("\n").filter(Boolean);
    if (folders.length === 0) return failed(`there is nothing in ${tls}`);
    const [name = ""] = bootstrap.run(`cat ${tls}/issued-for`).stdout.split(" ");
    const wrong = Object.entries(purposes)
      .filter(([folder]) => folders.includes(`${folder}/`))
      .flatMap(([folder, purpose]) => {
        const host =
          folder === "serving" ? (/^[\d.]+$|:/.test(name) ? `-verify_ip ${name}` : `-verify_hostname ${name}`) : "";
        const verify = `cd ${tls}/${folder} && openssl verify -CAfile ca.crt -purpose ${purpose} ${host} tls.crt`;
        const { status, stderr } = bootstrap.run(verify);
        return status === 0 ? [] : [`${folder}: ${reasonOf(stderr)}`];
      });
    if (wrong.length > 0) return failed(wrong.join("; "));
    const end = bootstrap.run(`openssl x509 -in ${tls}/serving/ca.crt -noout -enddate`).stdout.trim();
    const what = folders.map((folder) => folder.slice(0, -1)).join(", ");
    return passed(
      `chain, purpose and dates of ${what} are valid, the server's certificate is for ${name}; until ${end.replace("notAfter=", "")}`,
    );
  }

  #serverIsReady(): CheckResult {
    const code = (path: string) => statusOf(this.#lab.bootstrap, `http://127.0.0.1:${ports.health}${path}`);
    const [healthz, readyz] = [code("/healthz"), code("/readyz")];
    const text = `/healthz returns ${healthz}, /readyz ${readyz}`;
    return passedIf(
      healthz === "200" && readyz === "200",
      healthz === "000" ? `no answer on 127.0.0.1:${ports.health}` : text,
    );
  }

  #agentsAreReady(): CheckResult {
    const agents = this.#view.agents();
    const codes = agents.map(({ node, pid }) =>
      statusOf(node, `http://127.0.0.1:${ports.health}/readyz`, `nsenter -t ${pid} -n`),
    );
    const connected = this.#view.metric("ready_backend_connections");
    return passedIf(
      agents.length > 0 && codes.every((code) => code === "200") && (connected ?? agents.length) >= agents.length,
      `agents: ${agents.length}, /readyz returns ${codes.join(", ") || "nothing"}; connections according to the server: ${connected ?? "unknown"}`,
    );
  }

  #tunnelWorks(): CheckResult {
    const { bootstrap, addresses } = this.#lab;
    if (bootstrap.run(`ip route get ${addresses.webhookPod}`).status === 0)
      return failed("the bootstrap machine has a route to the pod network, so a call proves nothing");
    const packets = () => this.#view.metric("stream_packets_total", 'packet_type="DATA",segment="to_agent"');
    const before = packets();
    const made = this.#view.create(bootstrap, {});
    const after = packets();
    const carried = before === undefined || after === undefined ? undefined : after - before;
    return passedIf(
      made.code === 201 && made.calls === 1 && carried !== 0,
      `a ConfigMap without a route to the pod network: ${said(made)}` +
        (carried === undefined ? "" : `; packets to agents during the call: ${carried}`),
    );
  }

  /** Dials as an agent without credentials, or with foreign ones. */
  #refuses(which: Proof): CheckResult {
    const server = this.#view.server();
    if (server === undefined) return notLookedAt(noServer);
    return this.#view.authentication()?.proof === "token"
      ? refusesToken(this.#lab, server, which)
      : refusesCertificate(this.#lab, server, which);
  }

  #logsAreClean(): CheckResult {
    const logs = (machine: LabMachine, app: string) =>
      containersOf(machine, app).flatMap((name) => {
        const { stdout, stderr } = machine.run(`/usr/bin/podman logs ${name}`);
        return `${stdout}\n${stderr}`.split("\n").filter(Boolean);
      });
    const lines = [
      ...logs(this.#lab.bootstrap, serverName),
      ...this.#lab.nodes.flatMap((node) => logs(node, agentName)),
    ];
    if (lines.length === 0) return notLookedAt("neither the server nor an agent has a log");
    const errors = lines.filter((line) =>
      /x509|\btls: |TLS handshake error|authentication handshake failed|authentication failed/.test(line),
    );
    // Errors that a verify of this lab caused.
    const others = errors.filter((line) => !line.includes(verifierId));
    return passedIf(
      others.length === 0,
      `${others.length} in ${lines.length} log lines of server and agents${others.length === 0 ? "" : `: ${others.at(-1) ?? ""}`}`,
    );
  }
}

/** The fields that are checked. */
interface WebhookEntry {
  readonly failurePolicy?: string;
  readonly clientConfig?: { readonly service?: object };
}

const said = ({ code, calls, message }: Made) =>
  code === 201
    ? `created, webhook called ${calls === 1 ? "once" : `${calls} times`}`
    : `${code === 0 ? "no answer" : code} ${message}`.trim();

const noServer = "the server is not running";
