import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  agentName,
  agentSecretName,
  home,
  namespace,
  ports,
  serverKubeconfig,
  serverName,
  tls,
  tokenReviewBinding,
} from "../constructs/konnectivity/names.ts";
import { addresses } from "./addresses.ts";
import { type Lab, until } from "./lab.ts";
import type { Machine } from "./machine.ts";

export type Result = "passed" | "failed" | "not looked at";

/** What was seen of one thing; with "not looked at", why. */
export interface Finding {
  readonly result: Result;
  readonly seen: string;
}

export interface Check {
  readonly id: CheckId;
  readonly title: string;
  readonly look: () => Finding | Promise<Finding>;
}

export interface Row extends Finding {
  readonly id: CheckId;
  readonly title: string;
}

/** The seven steps of a validation and nine security scenarios, as they stand in the table. */
export const titles = {
  "step-1": "the cluster answers",
  "step-2": "the server runs on the bootstrap machine",
  "step-3": "agents run on the nodes",
  "step-4": "a webhook runs in the pod network",
  "step-5": "the bootstrap kube-apiserver reaches the webhook",
  "step-6": "after the bootstrap's end the agents are removed",
  "step-7": "a kube-apiserver without the tunnel reaches the webhook",
  "security-1": "the server has the flag that makes agents prove themselves",
  "security-2": "the flag's path is right",
  "security-3": "the CA and its certificates are valid",
  "security-4": "the server is ready",
  "security-5": "the agents are ready",
  "security-6": "the tunnel works",
  "security-7": "an agent without a certificate is refused",
  "security-8": "an agent with a foreign certificate is refused",
  "security-9": "no TLS errors in the logs",
} as const;
export type CheckId = keyof typeof titles;
export const checkIds = Object.keys(titles) as readonly CheckId[];

export const passed = (seen: string): Finding => ({ result: "passed", seen });
export const failed = (seen: string): Finding => ({ result: "failed", seen });
export const notLookedAt = (why: string): Finding => ({ result: "not looked at", seen: why });
const judged = (right: boolean, seen: string): Finding => (right ? passed(seen) : failed(seen));

export const toChecks = (looks: Readonly<Record<CheckId, Check["look"]>>): Check[] =>
  checkIds.map((id) => ({ id, title: titles[id], look: looks[id] }));

/** These come after everything else: the bootstrap's end takes the tunnel away. */
const last: readonly CheckId[] = ["step-6", "step-7"];

/** Looks at everything, one after the other. What cannot be looked at because something broke has failed. */
export async function lookAt(checks: readonly Check[]): Promise<Row[]> {
  const rows = new Map<CheckId, Row>();
  const ordered = [...checks.filter(({ id }) => !last.includes(id)), ...checks.filter(({ id }) => last.includes(id))];
  for (const { id, title, look } of ordered) {
    let finding: Finding;
    try {
      finding = await look();
    } catch (error) {
      finding = failed(error instanceof Error ? error.message : String(error));
    }
    rows.set(id, { id, title, result: finding.result, seen: short(finding.seen) });
  }
  return checks.flatMap(({ id }) => rows.get(id) ?? []);
}

/** One line, not endless. */
function short(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}

/** How each kind of agents' authentication is switched on, and what is a key there. */
const authentications = {
  mtls: { flag: "cluster-ca-cert", path: "cluster-ca-cert", file: `${tls}/serving/ca.crt`, proof: "certificate" },
  "service-account-token": {
    flag: "authentication-audience",
    path: "kubeconfig",
    file: serverKubeconfig,
    proof: "token",
  },
} as const;

export interface LabChecksProps {
  /** Whether the bootstrap may be ended, so that what comes after it can be looked at. */
  readonly finish: boolean;
}

export function labChecks(lab: Lab, { finish }: LabChecksProps): Check[] {
  return toChecks(new LabLooks(lab, finish).all());
}

interface Server {
  readonly pid: string;
  /** Its arguments, by name. */
  readonly flags: ReadonlyMap<string, string>;
}

/** Looks at a lab from inside its machines. */
class LabLooks {
  readonly #lab: Lab;
  readonly #finish: boolean;
  #made = 0;
  /** Two runs beside each other do not take each other's names. */
  readonly #run = randomBytes(4).toString("hex");

  constructor(lab: Lab, finish: boolean) {
    this.#lab = lab;
    this.#finish = finish;
  }

  all(): Record<CheckId, Check["look"]> {
    const during = (look: Check["look"]) => () =>
      this.#ended() ? notLookedAt("the bootstrap has ended, and the tunnel with it") : look();
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

  #apiServers(): Finding {
    const { bootstrap, node } = this.#lab;
    const permanent = this.#lab.ask(node, "GET", "/readyz").code;
    if (this.#ended())
      return judged(
        permanent === 200,
        `the bootstrap has ended; the permanent kube-apiserver's /readyz says ${permanent}`,
      );
    const temporary = this.#lab.ask(bootstrap, "GET", "/readyz").code;
    const selector = bootstrap
      .run(`tr '\\0' '\\n' </proc/$(pgrep -xo kube-apiserver)/cmdline`)
      .stdout.split("\n")
      .find((word) => word.startsWith("--egress-selector-config-file="));
    return judged(
      temporary === 200 && permanent === 200 && selector !== undefined,
      `/readyz of the bootstrap kube-apiserver says ${temporary}, of the permanent one ${permanent}; ${selector ?? "no --egress-selector-config-file"}`,
    );
  }

  #serverRuns(): Finding {
    const { bootstrap } = this.#lab;
    const server = this.#server();
    if (server === undefined) return failed(noServer);
    const container = containersOf(bootstrap, serverName).join(", ");
    const listens = bootstrap.run(`ss -Hltn 'sport = ${ports.agent}' | awk '{ print $4 }'`).stdout.trim();
    return judged(
      container !== "" && listens !== "",
      `container ${container || "missing"}, listens for agents on ${listens || "nothing"}`,
    );
  }

  #agentsRun(): Finding {
    const workloads = this.#workloads(this.#lab.bootstrap);
    const running = containersOf(this.#lab.node, agentName);
    return judged(
      workloads.length > 0 && running.length > 0 && this.#agents().length === running.length,
      `${workloads.join(", ") || "no workload"} in ${namespace}; on node-0: ${running.join(", ") || "no agent"}`,
    );
  }

  async #webhookRuns(): Promise<Finding> {
    if (!this.#ended()) await this.#lab.installWorkload();
    if (this.#calls() === undefined) return failed(`${addresses.webhookPod}:8443 does not answer on node-0`);
    const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/by-service";
    const { webhooks = [] } = this.#lab.ask(this.#lab.node, "GET", path).body as { webhooks?: WebhookEntry[] };
    const [{ failurePolicy, clientConfig } = {}] = webhooks;
    return judged(
      failurePolicy === "Fail" && clientConfig?.service !== undefined,
      `${addresses.webhookPod}:8443 answers on node-0; the cluster asks it by ${clientConfig?.service === undefined ? "nothing" : "service"}, failurePolicy: ${failurePolicy ?? "unknown"}`,
    );
  }

  #webhookIsReached(): Finding {
    const allowed = this.#create(this.#lab.bootstrap, {});
    const first = `a ConfigMap that it allows: ${said(allowed)}`;
    if (allowed.code !== 201 || allowed.calls !== 1) return failed(first);
    const denied = this.#create(this.#lab.bootstrap, { deny: "true" });
    return judged(denied.code === 403, `${first}; one that it denies: ${said(denied)}`);
  }

  async #agentsAreRemoved(): Promise<Finding> {
    const { bootstrap, node } = this.#lab;
    if (!this.#ended()) {
      if (!this.#finish) return notLookedAt("--finish ends the bootstrap");
      this.#lab.finish();
      await until("the bootstrap's end", 120, () => this.#ended());
    }
    // The kubelet ends it a moment after its manifest is gone.
    await until("the server's end", 30, () => this.#server() === undefined);
    const left = [
      ...this.#workloads(node),
      ...(this.#isThere(node, `/api/v1/namespaces/${namespace}/secrets/${agentSecretName}`) ? ["Secret"] : []),
      ...(this.#isThere(node, `/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${tokenReviewBinding}`)
        ? ["ClusterRoleBinding"]
        : []),
      ...(bootstrap.run(`test -e ${tls}`).status === 0 ? [`${tls} on the bootstrap machine`] : []),
    ];
    if (left.length > 0) return failed(`left: ${left.join(", ")}`);
    for (let tries = 0; tries < 4 && this.#agents().length > 0; tries++) await sleep(500);
    return passed(
      "workload, Secret, server and keys are gone" +
        (this.#agents().length === 0
          ? "; no agent runs on node-0"
          : "; an agent still runs on node-0, because the lab's kubelet asks the bootstrap's API only"),
    );
  }

  #webhookIsReachedWithoutTunnel(): Finding {
    if (this.#calls() === undefined) return notLookedAt("the webhook does not run");
    const when = this.#ended() ? "after" : "before";
    const made = this.#create(this.#lab.node, {});
    return judged(made.code === 201 && made.calls === 1, `${when} the bootstrap's end, a ConfigMap: ${said(made)}`);
  }

  #flagIsThere(): Finding {
    const server = this.#server();
    const wanted = this.#authentication();
    if (server === undefined) return failed(noServer);
    if (wanted === undefined)
      return failed("the tunnel was made with authentication: none, so whoever reaches port 8091 is taken as an agent");
    const value = server.flags.get(wanted.flag);
    return judged(
      value !== undefined,
      value === undefined ? `--${wanted.flag} is missing` : `--${wanted.flag}=${value}`,
    );
  }

  #flagLeadsToTheFile(): Finding {
    const server = this.#server();
    const wanted = this.#authentication();
    if (server === undefined) return notLookedAt(noServer);
    if (wanted === undefined) return notLookedAt("with authentication: none there is no such flag");
    const path = server.flags.get(wanted.path);
    if (path === undefined) return failed(`--${wanted.path} is missing`);
    // As the running server sees it, and as it was made.
    const same = this.#lab.bootstrap.run(`cmp --silent /proc/${server.pid}/root${path} ${wanted.file}`).status === 0;
    return judged(same, `${path} in the server's container is ${same ? "" : "not "}${wanted.file}`);
  }

  #certificatesAreValid(): Finding {
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
      `chain, purpose and dates of ${what} hold, the server's is for ${name}; until ${end.replace("notAfter=", "")}`,
    );
  }

  #serverIsReady(): Finding {
    const code = (path: string) => statusOf(this.#lab.bootstrap, `http://127.0.0.1:${ports.health}${path}`);
    const [healthz, readyz] = [code("/healthz"), code("/readyz")];
    const text = `/healthz says ${healthz}, /readyz ${readyz}`;
    return judged(healthz === "200" && readyz === "200", healthz === "000" ? "no answer on 127.0.0.1:2041" : text);
  }

  #agentsAreReady(): Finding {
    const agents = this.#agents();
    const codes = agents.map((pid) =>
      statusOf(this.#lab.node, `http://127.0.0.1:${ports.health}/readyz`, `nsenter -t ${pid} -n`),
    );
    const connected = this.#metric("ready_backend_connections");
    return judged(
      agents.length > 0 && codes.every((code) => code === "200") && (connected ?? agents.length) >= agents.length,
      `agents: ${agents.length}, /readyz says ${codes.join(", ") || "nothing"}; connections that the server counts: ${connected ?? "unknown"}`,
    );
  }

  #tunnelWorks(): Finding {
    const { bootstrap } = this.#lab;
    if (bootstrap.run(`ip route get ${addresses.webhookPod}`).status === 0)
      return failed("the bootstrap machine has a route to the pod network, so a call proves nothing");
    const packets = () => this.#metric("stream_packets_total", 'packet_type="DATA",segment="to_agent"');
    const before = packets();
    const made = this.#create(bootstrap, {});
    const after = packets();
    const carried = before === undefined || after === undefined ? undefined : after - before;
    return judged(
      made.code === 201 && made.calls === 1 && carried !== 0,
      `no route to the pod network, and yet a ConfigMap: ${said(made)}` +
        (carried === undefined ? "" : `; packets to agents meanwhile: ${carried}`),
    );
  }

  /** Dials as an agent that proves nothing, or something foreign. */
  #refuses(which: "no" | "foreign"): Finding {
    if (this.#server() === undefined) return notLookedAt(noServer);
    return this.#authentication()?.proof === "token" ? this.#refusesToken(which) : this.#refusesCertificate(which);
  }

  #refusesCertificate(which: "no" | "foreign"): Finding {
    const { node } = this.#lab;
    // A key that is in the shell's memory only. With TLS 1.3 the handshake is done before the server has judged the
    // certificate: its alert must be waited for.
    const key =
      "openssl req -x509 -newkey EC -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout - -days 1 -subj /CN=konnectivity-agent";
    const dial = (version: string) =>
      node.run(
        [
          which === "foreign" ? `pem=$(${key} 2>/dev/null) &&` : "",
          `timeout 5 openssl s_client -connect ${addresses.bootstrap}:${ports.agent} -alpn h2 ${version} -ign_eof`,
          which === "foreign" ? `-cert <(echo "$pem") -key <(echo "$pem")` : "",
          "</dev/null",
        ].join(" "),
      );
    const heard: string[] = [];
    for (const [version, option] of [
      ["TLS 1.3", "-tls1_3"],
      ["TLS 1.2", "-tls1_2"],
    ] as const) {
      const { stdout, stderr } = dial(option);
      if (!stdout.includes("CONNECTED")) return failed(`${version}: no connection: ${reasonOf(stderr)}`);
      const alert = /alert ([a-z ]+):/.exec(stderr)?.[1];
      if (alert === undefined) return failed(`${version}: the server took it`);
      if (which === "foreign" && alert === "certificate required") return failed(`${version}: no certificate was sent`);
      if (!refusals.includes(alert)) return failed(`${version}: another alert, ${alert}`);
      heard.push(`${version}: ${alert}`);
    }
    return passed(`alert, ${heard.join(", ")}`);
  }

  /** Agents have tokens instead: TLS holds, and the server refuses the call. */
  #refusesToken(which: "no" | "foreign"): Finding {
    const { stdout } = this.#lab.node.run(
      [
        "curl --silent --insecure --http2 --max-time 10 --output /dev/null --dump-header - --request POST",
        `--header 'content-type: application/grpc' --header 'te: trailers' --header 'agentid: ${verifierId}'`,
        which === "foreign" ? "--header 'authorization: Bearer foreign'" : "",
        `https://${addresses.bootstrap}:${ports.agent}/AgentService/Connect`,
      ].join(" "),
    );
    const header = (name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(stdout)?.[1]?.trim();
    if (header("serverid") !== undefined) return failed(`an agent with ${which} token was taken`);
    const status = header("grpc-status");
    if (status === undefined || status === "0")
      return failed("the server gave no answer to a call without a right token");
    return passed(`agents have tokens: with ${which} token, "${header("grpc-message") ?? ""}"`);
  }

  #logsAreClean(): Finding {
    const logs = (machine: Machine, app: string) =>
      containersOf(machine, app).flatMap((name) => {
        const { stdout, stderr } = machine.run(`/usr/bin/podman logs ${name}`);
        return `${stdout}\n${stderr}`.split("\n").filter(Boolean);
      });
    const lines = [...logs(this.#lab.bootstrap, serverName), ...logs(this.#lab.node, agentName)];
    if (lines.length === 0) return notLookedAt("neither the server nor an agent has a log");
    const errors = lines.filter((line) =>
      /x509|\btls: |TLS handshake error|authentication handshake failed|authentication failed/.test(line),
    );
    // Dialled here, a moment or a run ago.
    const others = errors.filter((line) => !line.includes(verifierId));
    return judged(
      others.length === 0,
      `${others.length} in ${lines.length} lines of server and agents${others.length === 0 ? "" : `: ${others.at(-1) ?? ""}`}`,
    );
  }

  #ended(): boolean {
    return this.#lab.bootstrap.run("test -e /opt/openshift/.bootkube.done").status === 0;
  }

  #server(): Server | undefined {
    const line = `pid=$(pgrep -xo proxy-server) && echo "$pid" && tr '\\0' '\\n' <"/proc/$pid/cmdline"`;
    const { status, stdout } = this.#lab.bootstrap.run(line);
    if (status !== 0) return undefined;
    const [pid = "", , ...words] = stdout.split("\n");
    const flags = words.flatMap((word): [string, string][] => {
      const [, name, value] = /^--([^=]+)=(.*)$/.exec(word) ?? [];
      return name === undefined ? [] : [[name, value ?? ""]];
    });
    return { pid, flags: new Map(flags) };
  }

  /** What the payload was made with; nothing if agents need not prove anything. */
  #authentication() {
    const settings = this.#lab.bootstrap.run(`. ${home}/settings.sh && echo "$TUNNEL_AUTHENTICATION"`).stdout.trim();
    return settings in authentications ? authentications[settings as keyof typeof authentications] : undefined;
  }

  #agents(): string[] {
    return this.#lab.node.run("pgrep -x proxy-agent").stdout.split("\n").filter(Boolean);
  }

  #workloads(machine: Machine): string[] {
    return ["DaemonSet", "Deployment"].filter((kind) =>
      this.#isThere(machine, `/apis/apps/v1/namespaces/${namespace}/${kind.toLowerCase()}s/${agentName}`),
    );
  }

  #isThere(machine: Machine, path: string): boolean {
    const { code, body } = this.#lab.ask(machine, "GET", path);
    if (code !== 200 && code !== 404)
      throw new Error(
        `the kube-apiserver on ${machine.name}: ${code === 0 ? "no answer" : code} ${body.message ?? ""}`,
      );
    return code === 200;
  }

  /** How often the webhook was asked; nothing if it does not answer. */
  #calls(): number | undefined {
    const { status, stdout } = this.#lab.node.run(
      `curl --silent --insecure --max-time 5 https://${addresses.webhookPod}:8443/calls`,
    );
    if (status !== 0) return undefined;
    return (JSON.parse(stdout) as Record<string, { count: number } | undefined>)["/validate"]?.count ?? 0;
  }

  /** Creates a ConfigMap that the webhook must allow, and removes it. */
  #create(machine: Machine, labels: Readonly<Record<string, string>>): Made {
    const name = `verify-${this.#run}-${this.#made++}`;
    const before = this.#calls() ?? 0;
    const { code, body } = this.#lab.createConfigMap(machine, name, { tunnelled: "true", ...labels });
    const calls = (this.#calls() ?? 0) - before;
    if (code === 201) this.#lab.ask(machine, "DELETE", `/api/v1/namespaces/lab/configmaps/${name}`);
    return { code, calls, message: body.message ?? "" };
  }

  /** A number that the server counts, if it does: older ones count less. */
  #metric(name: string, labels = ""): number | undefined {
    const metrics = `curl --silent --max-time 5 http://127.0.0.1:8095/metrics`;
    const line = this.#lab.bootstrap
      .run(metrics)
      .stdout.split("\n")
      .find((one) => one.startsWith(`konnectivity_network_proxy_server_${name}`) && one.includes(labels));
    return line === undefined ? undefined : Number(line.split(" ").at(-1));
  }
}

/** As far as it is looked at. */
interface WebhookEntry {
  readonly failurePolicy?: string;
  readonly clientConfig?: { readonly service?: object };
}

interface Made {
  readonly code: number;
  /** How often the webhook was asked. */
  readonly calls: number;
  readonly message: string;
}

const said = ({ code, calls, message }: Made) =>
  code === 201
    ? `created, webhook asked ${calls === 1 ? "once" : `${calls} times`}`
    : `${code === 0 ? "no answer" : code} ${message}`.trim();

/** How servers of all releases say that a certificate is missing or not good; the last in TLS 1.2 only. */
const refusals: readonly string[] = ["certificate required", "bad certificate", "unknown ca", "handshake failure"];

const noServer = "the server does not run";
/** Whom an attempt without a right token says it is: the server logs it. */
const verifierId = "konnectivity-bootstrap-verify";

/** Names of the running containers of an app. */
function containersOf(machine: Machine, app: string): string[] {
  const list = `/usr/bin/podman ps --filter label=app=${app} --filter status=running --format '{{.Names}}'`;
  return machine.run(list).stdout.split("\n").filter(Boolean);
}

/** 000 if nothing answers. */
function statusOf(machine: Machine, url: string, prefix = ""): string {
  return machine.run(`${prefix} curl --silent --max-time 5 --output /dev/null --write-out '%{http_code}' ${url}`)
    .stdout;
}

/** The end of an error of openssl that means something to a person. */
function reasonOf(stderr: string): string {
  const lines = stderr.split("\n").filter(Boolean);
  return (
    lines
      .find((line) => /error \d+ at|Connection refused|timed out/.test(line))
      ?.replace(/^.*?(error \d+ at|Connection refused|timed out)/, "$1") ??
    lines.at(-1) ??
    "no reason given"
  );
}
