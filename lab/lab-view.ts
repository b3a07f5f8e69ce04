import { randomBytes } from "node:crypto";
import { defaultAgentPort } from "../src/core/konnectivity/agent-port.ts";
import { agentName, home, namespace, ports, serverKubeconfig, tls } from "../src/core/konnectivity/names.ts";
import { hostOf } from "./addresses.ts";
import type { Lab } from "./lab.ts";
import type { LabMachine } from "./machine.ts";
import { timeLimit } from "../src/core/time-limits.ts";

/** For each kind of agent authentication: the server's flag, the flag with its file, that file, and what agents show. */
const authentications = {
  mtls: { flag: "cluster-ca-cert", path: "cluster-ca-cert", file: `${tls}/serving/ca.crt`, proof: "certificate" },
  "service-account-token": {
    flag: "authentication-audience",
    path: "kubeconfig",
    file: serverKubeconfig,
    proof: "token",
  },
} as const;

/** The tunnel's server as it runs. */
export interface Server {
  readonly pid: string;
  /** Where it listens for agents. */
  readonly agentPort: number;
  /** Its arguments, by name. */
  readonly flags: ReadonlyMap<string, string>;
}

export interface Agent {
  readonly node: LabMachine;
  readonly pid: string;
}

/** The result of creating a ConfigMap that the webhook must allow. */
export interface Made {
  readonly code: number;
  /** How often the webhook was called. */
  readonly calls: number;
  readonly message: string;
}

/** What can be seen of a lab from inside its machines. */
export class LabView {
  readonly #lab: Lab;
  #made = 0;
  /** Two runs at the same time use different names. */
  readonly #run = randomBytes(4).toString("hex");

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  /** Whether the bootstrap has ended. */
  ended(): boolean {
    const { bootstrap } = this.#lab;
    return bootstrap.isRemoved || bootstrap.run("test -e /opt/openshift/.bootkube.done").status === 0;
  }

  /** @returns undefined if it is not running */
  server(): Server | undefined {
    const line = `pid=$(pgrep -xo proxy-server) && echo "$pid" && tr '\\0' '\\n' <"/proc/$pid/cmdline"`;
    const { status, stdout } = this.#lab.bootstrap.run(line);
    if (status !== 0) return undefined;
    const [pid = "", , ...words] = stdout.split("\n");
    const flags = words.flatMap((word): [string, string][] => {
      const [, name, value] = /^--([^=]+)=(.*)$/.exec(word) ?? [];
      return name === undefined ? [] : [[name, value ?? ""]];
    });
    const named = new Map(flags);
    return { pid, agentPort: Number(named.get("agent-port") ?? defaultAgentPort), flags: named };
  }

  /** The payload's kind of authentication; undefined if agents need not authenticate. */
  authentication() {
    const settings = this.#lab.bootstrap.run(`. ${home}/settings.sh && echo "$TUNNEL_AUTHENTICATION"`).stdout.trim();
    return settings in authentications ? authentications[settings as keyof typeof authentications] : undefined;
  }

  /** Every agent's process, on whichever node. */
  agents(): Agent[] {
    return this.#lab.nodes.flatMap((node) =>
      node
        .run("pgrep -x proxy-agent")
        .stdout.split("\n")
        .filter(Boolean)
        .map((pid) => ({ node, pid })),
    );
  }

  /** The kinds of the agents' workloads that exist at a kube-apiserver. */
  workloads(machine: LabMachine): string[] {
    return ["DaemonSet", "Deployment"].filter((kind) =>
      this.exists(machine, `/apis/apps/v1/namespaces/${namespace}/${kind.toLowerCase()}s/${agentName}`),
    );
  }

  /** Whether an object exists at a kube-apiserver. */
  exists(machine: LabMachine, path: string): boolean {
    const { code, body } = this.#lab.request(machine, "GET", path);
    if (code !== 200 && code !== 404)
      throw new Error(
        `the request to the kube-apiserver on ${machine.name} failed: ${code === 0 ? "no answer" : code} ${body.message ?? ""}`,
      );
    return code === 200;
  }

  /** How often the webhook was called. @returns undefined if it does not respond */
  calls(): number | undefined {
    const { status, stdout } = this.#lab.node.run(
      `curl --silent --insecure --max-time ${timeLimit(5)} https://${hostOf(this.#lab.addresses.webhookPod)}:8443/calls`,
    );
    if (status !== 0) return undefined;
    return (JSON.parse(stdout) as Record<string, { count: number } | undefined>)["/validate"]?.count ?? 0;
  }

  /** Creates a ConfigMap that the webhook must allow, and removes it. */
  create(machine: LabMachine, labels: Readonly<Record<string, string>>): Made {
    const name = `verify-${this.#run}-${this.#made++}`;
    const before = this.calls() ?? 0;
    const { code, body } = this.#lab.createConfigMap(machine, name, { tunnelled: "true", ...labels });
    const calls = (this.calls() ?? 0) - before;
    if (code === 201) this.#lab.request(machine, "DELETE", `/api/v1/namespaces/lab/configmaps/${name}`);
    return { code, calls, message: body.message ?? "" };
  }

  /** A metric of the server. @returns undefined if this version of the server does not have it */
  metric(name: string, labels = ""): number | undefined {
    const metrics = `curl --silent --max-time ${timeLimit(5)} http://127.0.0.1:${ports.admin}/metrics`;
    const line = this.#lab.bootstrap
      .run(metrics)
      .stdout.split("\n")
      .find((one) => one.startsWith(`konnectivity_network_proxy_server_${name}`) && one.includes(labels));
    return line === undefined ? undefined : Number(line.split(" ").at(-1));
  }
}

/** Where a lab's server listens for agents. */
export function agentPortOf(lab: Lab): number {
  const server = new LabView(lab).server();
  if (server === undefined) throw new Error("the tunnel's server is not running");
  return server.agentPort;
}

/** Names of the running containers of an app. */
export function containersOf(machine: LabMachine, app: string): string[] {
  const list = `/usr/bin/podman ps --filter label=app=${app} --filter status=running --format '{{.Names}}'`;
  return machine.run(list).stdout.split("\n").filter(Boolean);
}

/** 000 if nothing answers. */
export function statusOf(machine: LabMachine, url: string, prefix = ""): string {
  return machine.run(
    `${prefix} curl --silent --max-time ${timeLimit(5)} --output /dev/null --write-out '%{http_code}' ${url}`,
  ).stdout;
}
