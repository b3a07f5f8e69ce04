import { ports } from "../../../src/core/konnectivity/names.ts";
import { type Lab } from "../../../lab/lab.ts";
import { waitFor } from "../../../lab/wait.ts";
import type { LabMachine } from "../../../lab/machine.ts";
import { Pulse, type Target } from "./load.ts";

/** What a create goes through. */
export type Path =
  | "no hook"
  | "no hook, permanent kube-apiserver"
  | "direct"
  | "direct, new connections"
  | "tunnel"
  | "tunnel, new connections";

const webhooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

let made = 0;

/** Another name each time. */
export const newName = (what: string) => `${what}-${made++}-`;

/** A lab with calls through its tunnel, and what is done to it meanwhile. */
export class LoadedLab {
  readonly lab: Lab;

  constructor(lab: Lab) {
    this.lab = lab;
  }

  /** The lab's webhook once more, for the label `once`: it closes the connection after each call, so each is a new one. */
  installHookWithoutMemory(): void {
    const { body } = this.lab.request(this.lab.bootstrap, "GET", `${webhooks}/by-service`);
    const text = JSON.stringify({ apiVersion: body.apiVersion, kind: body.kind, webhooks: body.webhooks })
      .replaceAll("by-service", "once")
      .replaceAll("/validate", "/validate-once")
      .replaceAll('"tunnelled"', '"once"');
    const hook = { ...(JSON.parse(text) as object), metadata: { name: "once" } };
    const { code } = this.lab.request(this.lab.bootstrap, "POST", webhooks, hook);
    if (code !== 201) throw new Error(`the webhook "once" was not taken: ${code}`);
  }

  /** One call through the tunnel every 50 ms; nothing of it is stored. */
  pulse(path: "tunnel" | "tunnel, new connections"): Pulse {
    const [machine, target] = this.target(path);
    return new Pulse(machine, [...target, "--every=50ms", "--dry-run", `--name=${newName("pulse")}`]);
  }

  protected target(path: Path): [LabMachine, Target] {
    const bootstrap = path === "no hook" || path.startsWith("tunnel");
    const [machine, server, tls] = bootstrap
      ? [this.lab.bootstrap, "https://localhost:6443", "/opt/openshift/tls"]
      : [this.lab.node, `https://${this.lab.addresses.node}:6443`, "/opt/lab/tls"];
    const label = path.endsWith("new connections") ? "once" : path.startsWith("no hook") ? "none" : "tunnelled";
    return [machine, [`--server=${server}`, ...keys(tls), `--label=${label}`]];
  }

  /** The server's process ends at once, without a word; podman starts another. When. */
  killServer(): number {
    return kill(this.lab.bootstrap, "proxy-server");
  }

  /** The same with the bootstrap's kube-apiserver. */
  killKubeApiServer(): number {
    return kill(this.lab.bootstrap, "kube-apiserver");
  }

  /** The same with an agent, one of those that are connected. */
  killAgent(node: LabMachine = this.lab.node): number {
    return kill(node, "proxy-agent");
  }

  /** Waits until the server has so many agents. */
  async agentsAre(agents: number, seconds = 120): Promise<void> {
    await waitFor(`${agents} agents`, seconds, () => this.agents() === agents);
  }

  /** How many agents the server has; nothing if it does not answer. */
  agents(): number | undefined {
    const metric = 'konnectivity_network_proxy_server_grpc_connections{service_method="Connect"}';
    const { stdout } = this.lab.bootstrap.run(`curl --silent --max-time 2 http://127.0.0.1:${ports.health}/metrics`);
    const line = stdout.split("\n").find((one) => one.startsWith(metric));
    return line === undefined ? undefined : Number(line.split(" ").at(-1));
  }

  /** Resident memory of the server, and of each agent, in MB. */
  memory(): { readonly server: number; readonly agents: readonly number[] } {
    const resident = (machine: LabMachine, program: string) =>
      machine
        .must(`for pid in $(pgrep -x ${program}); do awk '/^VmRSS/ { print $2 }' /proc/$pid/status; done`)
        .split("\n")
        .filter(Boolean)
        .map((kilobytes) => Number(kilobytes) / 1024);
    const [server = Number.NaN] = resident(this.lab.bootstrap, "proxy-server");
    return { server, agents: this.lab.nodes.flatMap((node) => resident(node, "proxy-agent")) };
  }
}

const keys = (folder: string) => [
  `--ca=${folder}/ca.crt`,
  `--cert=${folder}/kubelet-client.crt`,
  `--key=${folder}/kubelet-client.key`,
];

/** Process ids of a program in a machine. */
export function processes(machine: LabMachine, program: string): string[] {
  return machine.run(`pgrep -x ${program}`).stdout.split("\n").filter(Boolean);
}

function kill(machine: LabMachine, program: string): number {
  const [pid] = processes(machine, program);
  if (pid === undefined) throw new Error(`no ${program} runs on ${machine.name}`);
  return Number(machine.must(`date +%s%3N; kill -9 ${pid}`));
}
