import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import { UserError, problem } from "../src/core/errors.ts";
import { type Addresses, addressesOf, hostOf } from "./addresses.ts";
import { makeLabFolder, removeLabFolder } from "./folder.ts";
import { applyIgnition, IgnitionRefused } from "./ignition.ts";
import { type Layout, layoutFile, readLayout } from "./layout.ts";
import { checkControllers, groupsOf, Machine, MachineFailed, removeMachines, shellFor } from "./machine.ts";
import { bootstrapSays, operatorObjects, type Progress } from "./fakes/operators.ts";
import { failedPods } from "./pod-log.ts";
import { makeKeys, prepareRoot, rootOf, writeControlPlane } from "./roots.ts";
import { finishFile } from "./fakes/cluster-bootstrap.ts";
import { podNetworkOptions } from "./fakes/kubelet.ts";
import { timeLimit, timeoutEnvironment, timeoutFactor } from "../src/core/time-limits.ts";
import { clusterObjects, kubeletPod, webhookPod } from "./workload.ts";

export interface LabProps extends Partial<Layout> {
  /** Lower case letters, digits and -: two labs have two names. */
  readonly name: string;
  /** For everything that is the lab's. */
  readonly folder: string;
  /** What Ignition lays down on the bootstrap machine. */
  readonly payload: string;
  /** Folders of image stores; all labs share them. */
  readonly images: readonly string[];
  /** Whether the lab dies with this process. */
  readonly dieWithParent: boolean;
  /** When this says so, no further step is begun, and what was begun can be taken down. */
  readonly signal?: AbortSignal;
  readonly say: (line: string) => void;
}

/** What a kube-apiserver answered; code 0 if it did not. */
export interface Answer {
  readonly code: number;
  readonly body: { readonly message?: string; readonly [key: string]: unknown };
}

/** A cluster being born, on this machine: a bootstrap machine and nodes, with real programs. */
export class Lab {
  readonly bootstrap: Machine;
  readonly nodes: readonly Machine[];
  readonly addresses: Addresses;
  readonly #layout: Layout;

  private constructor(bootstrap: Machine, nodes: readonly Machine[], layout: Layout) {
    this.bootstrap = bootstrap;
    this.nodes = nodes;
    this.addresses = addressesOf(layout.ipFamily);
    this.#layout = layout;
  }

  /** The first node, which has the permanent control plane too. */
  get node(): Machine {
    const [node] = this.nodes;
    if (node === undefined) throw new Error("a lab has at least one node");
    return node;
  }

  /** Brings a lab up; what is left of an earlier one of this name goes first. */
  static async up(props: LabProps): Promise<Lab> {
    const { name, folder, payload, images, dieWithParent, say, signal } = props;
    const layout: Layout = { nodes: props.nodes ?? 1, ipFamily: props.ipFamily ?? "IPv4" };
    const addresses = addressesOf(layout.ipFamily);
    // Before anything is changed.
    timeoutFactor();
    checkControllers();
    await Lab.down(name, folder);
    signal?.throwIfAborted();
    makeLabFolder(folder);
    const names = machineNames(layout.nodes);
    for (const machine of names) prepareRoot(rootOf(folder, machine), images, layout);
    say("Ignition lays the payload down");
    try {
      applyIgnition(payload, rootOf(folder, "bootstrap"));
    } catch (error) {
      if (!(error instanceof IgnitionRefused)) throw error;
      await Lab.down(name, folder);
      throw new UserError(problem("ignition-refuses", { detail: error.reason }));
    }
    makeKeys(folder, layout);
    writeControlPlane(rootOf(folder, "node-0"), addresses);

    say("the machines start");
    // All of them, even if one fails: none may come up behind the back of whoever takes the lab down.
    const started = await Promise.allSettled(
      names.map((machine) => Machine.start({ lab: name, name: machine, folder: join(folder, machine), dieWithParent })),
    );
    signal?.throwIfAborted();
    const machines = started.map((one) => {
      if (one.status === "rejected") throw one.reason;
      return one.value;
    });
    const [bootstrap, ...nodes] = machines as [Machine, ...Machine[]];
    const lab = new Lab(bootstrap, nodes, layout);
    lab.#connect();

    for (const [index, node] of nodes.entries())
      lab.#service(
        node,
        "kubelet",
        // What api-int would be: the bootstrap's API, and after its end the permanent one.
        `lab-fake kubelet --address=${addresses.nodeAddress(index)} --kubeconfig=/opt/lab/kubeconfig-bootstrap --kubeconfig=/opt/lab/kubeconfig`,
      );
    lab.#service(bootstrap, "kubelet", `lab-fake kubelet --address=${addresses.bootstrap}`);
    // As its unit does, only sooner: again after every failure, until it is done.
    lab.#service(
      bootstrap,
      "bootkube",
      "cd /opt/openshift && until [ -e .bootkube.done ]; do /usr/local/bin/bootkube.sh || sleep 0.2; done",
      { LAB_ETCD: `http://${hostOf(addresses.node)}:2379` },
    );
    // What report-progress.sh does at the end; openshift-install and the gate wait for it.
    lab.#service(
      bootstrap,
      "progress",
      `until [ -e /opt/openshift/.bootkube.done ]; do sleep 0.2; done
       echo '${JSON.stringify([bootstrapSays("complete")])}' >/opt/lab/progress.json
       until lab-fake apply /opt/openshift/auth/kubeconfig /opt/lab/progress.json; do sleep 1; done`,
    );
    return lab;
  }

  /** The machine network, a pod network on each node, and the ways between them. */
  #connect(): void {
    const { bootstrap, node, nodes, addresses } = this;
    const ip = this.#layout.ipFamily === "IPv6" ? "ip -6" : "ip";
    // The first node is the switch that the others are plugged into.
    node.must("ip link add ens3 type bridge");
    for (const machine of [bootstrap, ...nodes.slice(1)]) {
      machine.connect("ens3", node, `to-${machine.name}`);
      node.must(`ip link set to-${machine.name} master ens3 up`);
    }
    const prefix = addresses.machineNetwork.replace(/.*\//, "");
    for (const [machine, address] of [
      [bootstrap, addresses.bootstrap] as const,
      ...nodes.map((one, index) => [one, addresses.nodeAddress(index)] as const),
    ])
      // Nobody else can have the address: IPv6 need not look for a second.
      machine.must(
        `ip link set ens3 up && ip address add ${address}/${prefix} dev ens3 ${address.includes(":") ? "nodad" : ""}`,
      );
    for (const [index, one] of nodes.entries()) {
      const others = [...nodes.keys()].filter((other) => other !== index);
      const { clusterNetwork } = addresses;
      one.must(
        [
          "sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1",
          `/usr/bin/podman ${podNetworkOptions(addresses.podNetwork(index)).join(" ")} >/dev/null`,
          // Pods go out with their node's address, as they would from OVN-Kubernetes, but to each other with their own.
          `${clusterNetwork.includes(":") ? "ip6tables" : "iptables"} -t nat -I POSTROUTING -d ${clusterNetwork} -j ACCEPT`,
          ...others.map(
            (other) => `${ip} route add ${addresses.podNetwork(other)} via ${addresses.nodeAddress(other)}`,
          ),
        ].join(" && "),
      );
    }
    // A default route, which a real machine has, must not lead to the pods.
    bootstrap.must(
      `${ip} route add default via ${addresses.node} && ${ip} route add unreachable ${addresses.clusterNetwork}`,
    );
  }

  /** Takes a lab away, wherever it stands. */
  static async down(name: string, folder: string): Promise<void> {
    await removeMachines(name);
    removeLabFolder(folder);
  }

  /** What there is of a lab, running or not. */
  static remains(name: string, folder: string): string[] {
    return [...groupsOf(name), ...(existsSync(folder) ? [folder] : [])];
  }

  /** The lab of this name, if it runs. */
  static ifRunning(name: string, folder: string): Lab | undefined {
    const bootstrapRoot = rootOf(folder, "bootstrap");
    if (!existsSync(join(bootstrapRoot, layoutFile))) return undefined;
    const layout = readLayout(bootstrapRoot);
    const [bootstrap, ...nodes] = machineNames(layout.nodes).map((machine) =>
      Machine.ifRunning({ lab: name, name: machine, folder: join(folder, machine) }),
    );
    if (bootstrap === undefined || !nodes.every((node) => node !== undefined)) return undefined;
    return new Lab(bootstrap, nodes, layout);
  }

  /** Puts the webhook into the pod network, and what leads to it into the cluster. */
  async installWorkload(): Promise<void> {
    // Through the machines: what lies below their roots must not be changed from outside while they run.
    const ca = this.node.must("base64 -w0 /opt/lab/tls/ca.crt");
    const manifest = (name: string) =>
      `mkdir -p /etc/kubernetes/manifests && cat >/etc/kubernetes/manifests/${name}.yaml`;
    this.node.must(manifest("webhook"), {}, stringify(webhookPod(this.#layout)));
    for (const [index, node] of this.nodes.entries())
      node.must(manifest("kubelet"), {}, stringify(kubeletPod(this.#layout, index)));
    const apply = "lab-fake apply /opt/openshift/auth/kubeconfig-loopback /opt/lab/objects.json";
    const objects = JSON.stringify(clusterObjects(this.#layout, ca));
    this.bootstrap.must(`cat >/opt/lab/objects.json && ${apply}`, {}, objects);
    const healthz = `curl --silent --insecure --max-time ${timeLimit(2)} https://${hostOf(this.addresses.webhookPod)}:8443/healthz`;
    await waitFor("the webhook", 30, () => this.node.run(healthz).status === 0);
  }

  /** Asks the kube-apiserver of one of the machines, as an admin. */
  ask(machine: Machine, method: string, path: string, body?: object, seconds = 20): Answer {
    const [tls, host] =
      machine === this.bootstrap ? ["/opt/openshift/tls", "localhost"] : ["/opt/lab/tls", hostOf(this.addresses.node)];
    const line = [
      `curl --silent --max-time ${timeLimit(seconds)} --header 'Content-Type: application/json' --write-out '\\n%{http_code}'`,
      `--cacert ${tls}/ca.crt --cert ${tls}/kubelet-client.crt --key ${tls}/kubelet-client.key`,
      `--request ${method} ${body === undefined ? "" : "--data @-"} https://${host}:6443${path}`,
    ].join(" ");
    const { stdout } = machine.run(line, {}, body === undefined ? undefined : JSON.stringify(body));
    const end = stdout.lastIndexOf("\n");
    const text = stdout.slice(0, end);
    const answer = (text.startsWith("{") ? JSON.parse(text) : { message: text }) as Answer["body"];
    return { code: Number(stdout.slice(end)), body: answer };
  }

  /** Creates a ConfigMap. With the label tunnelled a webhook by service must agree, with by-url one by URL. */
  createConfigMap(machine: Machine, name: string, labels: Readonly<Record<string, string>>): Answer {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels } };
    return this.ask(machine, "POST", "/api/v1/namespaces/lab/configmaps", object);
  }

  /** Lets the bootstrap end, as it does when the permanent control plane is there. */
  finish(): void {
    this.bootstrap.must(`touch ${finishFile}`);
  }

  /** Lets the cluster's operators say this. */
  say(progress: Progress): void {
    const apply = "lab-fake apply /opt/lab/kubeconfig /opt/lab/operators.json";
    this.node.must(`cat >/opt/lab/operators.json && ${apply}`, {}, JSON.stringify(operatorObjects(progress)));
  }

  /**
   * Lets the cluster grow up, in the order of a real one: its control plane runs, the bootstrap ends, and only then the etcd
   * operator removes the bootstrap machine's member.
   */
  async growUp(): Promise<void> {
    const control = {
      revisions: this.nodes.map(() => 1),
      topology: this.nodes.length === 1 ? "SingleReplica" : "HighlyAvailable",
    } as const;
    const says = "/api/v1/namespaces/kube-system/configmaps/bootstrap";
    const complete = () => {
      const { data } = this.ask(this.node, "GET", says).body as { data?: { status?: string } };
      return data?.status === "complete";
    };
    await orStuck(this, async () => {
      if (!complete()) this.say({ ...control, etcd: "enough members" });
      this.finish();
      await waitFor("the bootstrap's end", 60, complete);
      this.say({ ...control, etcd: "member removed" });
      this.say({ ...control, etcd: "member known to be removed" });
    });
  }

  /** Starts a line of bash in a machine that goes on until it ends by itself; its log is NAME.log beside its root. */
  #service(machine: Machine, name: string, line: string, env: Readonly<Record<string, string>> = {}): void {
    const log = openSync(join(machine.folder, `${name}.log`), "a", 0o600);
    const [program = "", ...args] = machine.enter(shellFor(line));
    spawn(program, args, {
      stdio: ["ignore", log, log],
      detached: true,
      env: {
        PATH: `/opt/lab/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
        HOME: "/root",
        ...timeoutEnvironment(),
        ...env,
      },
    }).unref();
    closeSync(log);
  }
}

export interface WaitOptions {
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
  /** For each step. @default 120 */
  readonly seconds?: number;
}

/** Waits until the tunnel carries: says each step as it comes. */
export async function labIsUp(lab: Lab, say: (line: string) => void, patience: WaitOptions = {}): Promise<void> {
  await bootstrapIsUp(lab, say, patience);
  await step(lab, "an agent", "http://127.0.0.1:2041/readyz", patience);
  say("an agent is connected");
}

/** Waits until everything on the bootstrap machine runs, whether an agent is connected or not. */
export async function bootstrapIsUp(lab: Lab, say: (line: string) => void, patience: WaitOptions = {}): Promise<void> {
  await step(lab, "the tunnel's server", "http://127.0.0.1:2041/healthz", patience);
  say("the tunnel's server is up");
  await step(lab, "the bootstrap kube-apiserver", "https://127.0.0.1:6443/readyz", patience);
  say("the bootstrap kube-apiserver is ready");
}

/** Waits until something on the bootstrap machine answers. */
function step(lab: Lab, what: string, url: string, { signal, seconds = 120 }: WaitOptions): Promise<void> {
  return orStuck(lab, () => waitFor(what, seconds, () => answers(lab.bootstrap, url), { signal }));
}

/** Takes a step in a lab's life, and says where to look if it cannot be taken. */
async function orStuck({ bootstrap, nodes }: Lab, take: () => Promise<void>): Promise<void> {
  try {
    await take();
  } catch (error) {
    if (!(error instanceof NotInTime || error instanceof MachineFailed)) throw error;
    const log = join(bootstrap.folder, "bootkube.log");
    const said = readFileSync(log, "utf8").trim().split("\n").at(-1) ?? "";
    const failed = [bootstrap, ...nodes].flatMap((machine) =>
      [...failedPods(readFileSync(join(machine.folder, "kubelet.log"), "utf8"))].map(
        ([pod, why]) => `the pod ${pod} cannot be started on ${machine.name} (${short(why)})`,
      ),
    );
    const reason = [error instanceof NotInTime ? error.message : error.brief, ...failed].join(", ");
    throw new UserError(problem("lab-stuck", { name: basename(dirname(bootstrap.folder)), reason, said, log }));
  }
}

/** podman may say much: both ends of it matter, what it did and why that failed. */
const short = (text: string) => (text.length > 400 ? `${text.slice(0, 199)} … ${text.slice(-199)}` : text);

/** Something that was waited for did not come. */
class NotInTime extends Error {}

const answers = (machine: Machine, url: string) =>
  machine.run(`curl --silent --insecure --fail --max-time ${timeLimit(2)} ${url}`).status === 0;

/** Waits until something is true, looking every so many seconds, and says what it waited for if it never is. */
export async function waitFor(
  what: string,
  seconds: number,
  condition: () => boolean | Promise<boolean>,
  { signal, every = 0.25 }: { readonly signal?: AbortSignal | undefined; readonly every?: number } = {},
): Promise<void> {
  const limit = timeLimit(seconds);
  const end = Date.now() + 1000 * limit;
  while (!(await condition())) {
    signal?.throwIfAborted();
    if (Date.now() > end) throw new NotInTime(`${what} did not come within ${limit} s`);
    await sleep(1000 * every);
  }
}

const machineNames = (nodes: number) => ["bootstrap", ...Array.from({ length: nodes }, (_, index) => `node-${index}`)];
