import { labFolder } from "../../../lab/folder.ts";
import { ensureImages } from "../../../lab/images.js";
import { Lab } from "../../../lab/lab.ts";
import { waitFor } from "../../../lab/wait.ts";
import type { LabMachine } from "../../../lab/machine.ts";
import { agentName, namespace, ports, staticPodManifest } from "../../../src/core/konnectivity/names.ts";
import { type Crowd, crowd } from "../../e2e/load/load.ts";
import { LoadedLab, newName, type Path, processes } from "../../e2e/load/loaded-lab.ts";
import { payloadOf, type Variant } from "./variant.ts";

/** A lab with one variant of the tunnel, and what the benchmark does to it. */
export class TunnelLab extends LoadedLab {
  readonly variant: Variant;
  readonly #name: string;

  private constructor(variant: Variant, name: string, lab: Lab) {
    super(lab);
    this.variant = variant;
    this.#name = name;
  }

  /** Brings it up until a webhook answers through the tunnel, and the permanent kube-apiserver is ready. */
  static async up(variant: Variant, name: string): Promise<TunnelLab> {
    const lab = await Lab.up({
      name,
      folder: labFolder(name),
      payload: payloadOf(variant),
      images: [ensureImages()],
      dieWithParent: true,
      say: () => undefined,
    });
    for (const machine of [lab.bootstrap, lab.node])
      await waitFor("a kube-apiserver", 180, () => lab.request(machine, "GET", "/readyz").code === 200);
    await lab.installWorkload();
    const tunnel = new TunnelLab(variant, name, lab);
    tunnel.installHookWithoutMemory();
    await tunnel.agentsAre(1);
    // Not by the server's /readyz: with upstream's strategies it is 500 for ever.
    const created = (machine: LabMachine) =>
      lab.createConfigMap(machine, `${newName("up")}0`, { tunnelled: "true", once: "true" }).code;
    for (const machine of [lab.bootstrap, lab.node])
      await waitFor("a webhook's answer", 60, () => created(machine) === 201);
    return tunnel;
  }

  async down(): Promise<void> {
    await Lab.down(this.#name, labFolder(this.#name));
  }

  /** Creates from a crowd of clients. */
  async crowd(path: Path, clients: number, count: number): Promise<Crowd> {
    const [machine, target] = this.target(path);
    return crowd(machine, [...target, `--name=${newName("crowd")}`], { clients, count, seconds: 20 });
  }

  /** The load generator against the plainest server there is, the webhook's own /healthz, without a kube-apiserver. */
  async generatorAlone(clients: number, count: number): Promise<Crowd> {
    const target = [
      `--server=https://${this.lab.addresses.webhookPod}:8443`,
      "--server-name=webhook.lab.svc",
      "--get=/healthz",
    ];
    return crowd(this.lab.node, [...target, "--ca=/opt/lab/tls/ca.crt"], { clients, count, seconds: 20 });
  }

  /** Takes the server away for a while. When it listens again. */
  async serverAway(seconds: number): Promise<number> {
    const { bootstrap } = this.lab;
    bootstrap.must(`mv ${staticPodManifest} /opt/lab/server.yaml`);
    await waitFor("the server's end", 30, () => bootstrap.run("pgrep -x proxy-server").status !== 0);
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    bootstrap.must(`mv /opt/lab/server.yaml ${staticPodManifest}`);
    const listens = `until curl --silent --max-time 1 http://127.0.0.1:${ports.health}/healthz >/dev/null; do :; done`;
    return Number(bootstrap.must(`${listens}; date +%s%3N`));
  }

  /** One agent hears and says nothing any more, as if its node had lost its network. Gives it its network back. */
  cutAgent(): { readonly at: number; readonly restore: () => Promise<void> } {
    const { node } = this.lab;
    const agents = this.#agents;
    const pid = processes(node, "proxy-agent")[0] ?? "";
    const address = node.must(`nsenter -t ${pid} -n ip -4 -o address show scope global`).split(/[ /]+/)[3] ?? "";
    const rules = (verb: string) =>
      ["-s", "-d"].map((side) => `iptables ${verb} FORWARD ${side} ${address} -j DROP`).join(" && ");
    return {
      at: Number(node.must(`date +%s%3N; ${rules("-I")}`)),
      restore: async () => {
        node.must(`${rules("-D")}; kill -9 ${pid}`);
        await this.agentsAre(agents);
      },
    };
  }

  #agents = 1;

  /** Gives the Deployment this many replicas and waits until so many agents are connected. */
  async scale(agents: number): Promise<void> {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${agentName}/scale`;
    const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: agentName, namespace } };
    const { code, body } = this.lab.request(this.lab.bootstrap, "PUT", path, { ...scale, spec: { replicas: agents } });
    if (code !== 200) throw new Error(`the agents cannot be scaled: ${body.message ?? String(code)}`);
    this.#agents = agents;
    await this.agentsAre(agents, 300);
  }

  /** What the kube-apiserver itself says of its calls of the webhook so far: how many, and how many seconds in all. */
  admission(path: Path): { readonly count: number; readonly seconds: number } {
    const machine = path.startsWith("tunnel") ? this.lab.bootstrap : this.lab.node;
    const hook = path.endsWith("new connections") ? "once" : "by-service";
    const metric = "apiserver_admission_webhook_admission_duration_seconds_";
    const text = this.lab.request(machine, "GET", "/metrics").body.message ?? "";
    const sum = (suffix: string) =>
      text
        .split("\n")
        .filter((line) => line.startsWith(metric + suffix) && line.includes(`name="${hook}.`))
        .reduce((total, line) => total + Number(line.split(" ").at(-1)), 0);
    return { count: sum("count"), seconds: sum("sum") };
  }
}
