import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { stringify } from "yaml";
import { UserError, problem } from "../src/core/errors.ts";
import { type Addresses, addressesOf, hostOf } from "./addresses.ts";
import { makeLabFolder, removeLabFolder } from "./folder.ts";
import { applyIgnition, IgnitionRefused } from "./ignition.ts";
import { rewriteAsInstaller } from "./installer-rewrite.ts";
import type { LabLayout } from "../src/core/lab-layout.ts";
import { finishFile, layoutFile, readLayout } from "./layout.ts";
import { writeControlPlane } from "./control-plane.ts";
import { checkControllers, groupsOf, LabMachine, CommandFailed, removeMachines, shellFor } from "./machine.ts";
import { connectMachines } from "./network.ts";
import { bootstrapStatus, operatorObjects, type Progress } from "./operators.ts";
import { failedPods } from "./pod-log.ts";
import { makeKeys, prepareRoot, rootOf } from "./roots.ts";
import { TimedOut, waitFor } from "./wait.ts";
import { timeLimit, timeoutEnvironment, timeoutFactor } from "../src/core/time-limits.ts";
import { projectFile } from "../src/runtime/project-files.js";
import { clusterObjects, kubeletPod, webhookPod } from "./workload.ts";

export interface LabProps extends Partial<LabLayout> {
  /** Lower case letters, digits and -, different for every lab that runs at the same time. */
  readonly name: string;
  /** Contains everything that belongs to the lab. */
  readonly folder: string;
  /** The Ignition config of the bootstrap machine. */
  readonly payload: string;
  /** Folders of image stores; all labs share them. */
  readonly images: readonly string[];
  /** Whether the lab is killed when this process ends. */
  readonly dieWithParent: boolean;
  /** Once aborted, no further step begins, and the lab can be taken down. */
  readonly signal?: AbortSignal;
  /** Receives one line per step. */
  readonly say: (line: string) => void;
}

/** The response of a kube-apiserver; code 0 if there was none. */
export interface ApiResponse {
  readonly code: number;
  readonly body: { readonly message?: string; readonly [key: string]: unknown };
}

/** A cluster that is being bootstrapped on this machine: a bootstrap machine and nodes, with real programs. */
export class Lab {
  readonly bootstrap: LabMachine;
  readonly nodes: readonly LabMachine[];
  readonly addresses: Addresses;
  readonly #layout: LabLayout;

  private constructor(bootstrap: LabMachine, nodes: readonly LabMachine[], layout: LabLayout) {
    this.bootstrap = bootstrap;
    this.nodes = nodes;
    this.addresses = addressesOf(layout.ipFamily);
    this.#layout = layout;
  }

  /** The first node, which has the permanent control plane too. */
  get node(): LabMachine {
    const [node] = this.nodes;
    if (node === undefined) throw new Error("a lab has at least one node");
    return node;
  }

  /** Starts a lab, after removing what is left of an earlier one of this name. */
  static async up(props: LabProps): Promise<Lab> {
    const { name, folder, images, dieWithParent, say, signal } = props;
    const layout: LabLayout = { nodes: props.nodes ?? 1, ipFamily: props.ipFamily ?? "IPv4", ipi: props.ipi ?? false };
    const addresses = addressesOf(layout.ipFamily);
    // These throw, so they come before any change.
    timeoutFactor();
    checkControllers();
    const payload = layout.ipi ? rewriteAsInstaller(props.payload) : props.payload;
    await Lab.down(name, folder);
    signal?.throwIfAborted();
    makeLabFolder(folder);
    const names = machineNames(layout.nodes);
    for (const machine of names) prepareRoot(rootOf(folder, machine), images, layout);
    say(`Ignition applies the payload${layout.ipi ? ", as openshift-install rewrote it" : ""}`);
    try {
      applyIgnition(payload, rootOf(folder, "bootstrap"));
    } catch (error) {
      if (!(error instanceof IgnitionRefused)) throw error;
      await Lab.down(name, folder);
      throw new UserError(problem("ignition-refuses", { detail: error.reason, stack: "local-bootstrap" }));
    }
    makeKeys(folder, layout);
    writeControlPlane(rootOf(folder, "node-0"), addresses);

    say("the machines are starting");
    // Wait for all of them, even if one fails: a machine that starts late would outlive the lab's removal.
    const started = await Promise.allSettled(
      names.map((machine) =>
        LabMachine.start({ lab: name, name: machine, folder: join(folder, machine), dieWithParent }),
      ),
    );
    signal?.throwIfAborted();
    const machines = started.map((one) => {
      if (one.status === "rejected") throw one.reason;
      return one.value;
    });
    const [bootstrap, ...nodes] = machines as [LabMachine, ...LabMachine[]];
    const lab = new Lab(bootstrap, nodes, layout);
    connectMachines(bootstrap, nodes, layout);

    for (const [index, node] of nodes.entries())
      lab.#service(
        node,
        "kubelet",
        // The API that api-int resolves to: the bootstrap's at first, the permanent one after the bootstrap.
        `lab-fake kubelet --address=${addresses.nodeAddress(index)} --kubeconfig=/opt/lab/kubeconfig-bootstrap --kubeconfig=/opt/lab/kubeconfig`,
      );
    lab.#service(bootstrap, "kubelet", `lab-fake kubelet --address=${addresses.bootstrap}`);
    // Restarts after every failure until it succeeds, as the real unit does, but sooner.
    lab.#service(
      bootstrap,
      "bootkube",
      "cd /opt/openshift && until [ -e .bootkube.done ]; do /usr/local/bin/bootkube.sh || sleep 0.2; done",
      { LAB_ETCD: `http://${hostOf(addresses.node)}:2379` },
    );
    // report-progress.sh does this at the end; openshift-install and the gate wait for it.
    lab.#service(
      bootstrap,
      "progress",
      `until [ -e /opt/openshift/.bootkube.done ]; do sleep 0.2; done
       echo '${JSON.stringify([bootstrapStatus("complete")])}' >/opt/lab/progress.json
       until lab-fake apply /opt/openshift/auth/kubeconfig /opt/lab/progress.json; do sleep 1; done`,
    );
    if (layout.ipi) {
      const installer = [process.execPath, projectFile("lab/fakes/main.js"), "installer", name, folder];
      startInBackground(lab.node.enterNetwork(installer), join(lab.node.folder, "installer.log"), process.env);
    }
    return lab;
  }

  /** Removes a lab, whatever state it is in. */
  static async down(name: string, folder: string): Promise<void> {
    await removeMachines(name);
    removeLabFolder(folder);
  }

  /** Control groups and folders of a lab that still exist, whether it runs or not. */
  static remains(name: string, folder: string): string[] {
    return [...groupsOf(name), ...(existsSync(folder) ? [folder] : [])];
  }

  /** The lab of this name, if it runs. */
  static ifRunning(name: string, folder: string): Lab | undefined {
    const nodeRoot = rootOf(folder, "node-0");
    if (!existsSync(join(nodeRoot, layoutFile))) return undefined;
    const layout = readLayout(nodeRoot);
    const [bootstrap, ...nodes] = machineNames(layout.nodes).map((machine) => {
      const where = { lab: name, name: machine, folder: join(folder, machine) };
      const removed = layout.ipi && machine === "bootstrap" && !existsSync(where.folder);
      return removed ? LabMachine.removed(where) : LabMachine.ifRunning(where);
    });
    if (bootstrap === undefined || !nodes.every((node) => node !== undefined)) return undefined;
    return new Lab(bootstrap, nodes, layout);
  }

  /** Runs the webhook in the pod network, and creates the objects that make the cluster call it. */
  async installWorkload(): Promise<void> {
    // Through the machines: their overlays' folders must not be changed from outside while they are mounted.
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

  /** Sends a request to the kube-apiserver on one of the machines, as an admin. */
  request(machine: LabMachine, method: string, path: string, body?: object, seconds = 20, port = 6443): ApiResponse {
    const [tls, host] =
      machine === this.bootstrap ? ["/opt/openshift/tls", "localhost"] : ["/opt/lab/tls", hostOf(this.addresses.node)];
    const line = [
      `curl --silent --max-time ${timeLimit(seconds)} --header 'Content-Type: application/json' --write-out '\\n%{http_code}'`,
      `--cacert ${tls}/ca.crt --cert ${tls}/kubelet-client.crt --key ${tls}/kubelet-client.key`,
      `--request ${method} ${body === undefined ? "" : "--data @-"} https://${host}:${port}${path}`,
    ].join(" ");
    const { stdout } = machine.run(line, {}, body === undefined ? undefined : JSON.stringify(body));
    const end = stdout.lastIndexOf("\n");
    const text = stdout.slice(0, end);
    const response = (text.startsWith("{") ? JSON.parse(text) : { message: text }) as ApiResponse["body"];
    return { code: Number(stdout.slice(end)), body: response };
  }

  /** Creates a ConfigMap. With the label tunnelled a webhook by service must agree, with by-url one by URL. */
  createConfigMap(
    machine: LabMachine,
    name: string,
    labels: Readonly<Record<string, string>>,
    port?: number,
  ): ApiResponse {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels } };
    return this.request(machine, "POST", "/api/v1/namespaces/lab/configmaps", object, undefined, port);
  }

  /** Lets the bootstrap end, as on a real cluster when the permanent control plane runs. */
  finish(): void {
    this.bootstrap.must(`touch ${finishFile}`);
  }

  /** Sets what the cluster's operators report in their status. */
  reportProgress(progress: Progress): void {
    const apply = "lab-fake apply /opt/lab/kubeconfig /opt/lab/operators.json";
    this.node.must(`cat >/opt/lab/operators.json && ${apply}`, {}, JSON.stringify(operatorObjects(progress)));
  }

  /**
   * Completes the bootstrap in the order of a real cluster: the permanent control plane runs, the bootstrap ends, and only
   * then the etcd operator removes the bootstrap machine's member. With `ipi` the installer then removes the machine.
   */
  async completeBootstrap(): Promise<void> {
    const control = {
      revisions: this.nodes.map(() => 1),
      topology: this.nodes.length === 1 ? "SingleReplica" : "HighlyAvailable",
    } as const;
    const status = "/api/v1/namespaces/kube-system/configmaps/bootstrap";
    const complete = () => {
      const { data } = this.request(this.node, "GET", status).body as { data?: { status?: string } };
      return data?.status === "complete";
    };
    await explainIfStuck(this, async () => {
      if (!complete()) this.reportProgress({ ...control, etcd: "enough members" });
      if (!this.bootstrap.isRemoved) this.finish();
      await waitFor("the end of the bootstrap", 60, complete);
      this.reportProgress({ ...control, etcd: "member removed" });
      this.reportProgress({ ...control, etcd: "member known to be removed" });
      if (this.#layout.ipi) await waitFor("the removal of the bootstrap machine", 30, () => this.bootstrap.isRemoved);
    });
  }

  /** Starts a line of bash in a machine, in the background; its log is NAME.log beside the machine's root. */
  #service(machine: LabMachine, name: string, line: string, env: Readonly<Record<string, string>> = {}): void {
    startInBackground(machine.enter(shellFor(line)), join(machine.folder, `${name}.log`), {
      PATH: `/opt/lab/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
      HOME: "/root",
      ...timeoutEnvironment(),
      ...env,
    });
  }
}

/** Starts a command that outlives this process, and appends its output to a log file. */
function startInBackground([program = "", ...args]: readonly string[], logFile: string, env: NodeJS.ProcessEnv): void {
  const log = openSync(logFile, "a", 0o600);
  spawn(program, args, { stdio: ["ignore", log, log], detached: true, env }).unref();
  closeSync(log);
}

export interface WaitOptions {
  /** Stops waiting. */
  readonly signal?: AbortSignal;
  /** Time limit of each step. @default 120 */
  readonly seconds?: number;
}

/** Waits until the tunnel works, and reports each step. */
export async function labIsUp(lab: Lab, say: (line: string) => void, options: WaitOptions = {}): Promise<void> {
  await bootstrapIsUp(lab, say, options);
  await step(lab, "an agent", "http://127.0.0.1:2041/readyz", options);
  say("an agent is connected");
}

/** Waits until everything on the bootstrap machine runs, with or without a connected agent. */
export async function bootstrapIsUp(lab: Lab, say: (line: string) => void, options: WaitOptions = {}): Promise<void> {
  await step(lab, "the tunnel's server", "http://127.0.0.1:2041/healthz", options);
  say("the tunnel's server is running");
  await step(lab, "the bootstrap kube-apiserver", "https://127.0.0.1:6443/readyz", options);
  say("the bootstrap kube-apiserver is ready");
}

/** Waits until something on the bootstrap machine answers. */
function step(lab: Lab, what: string, url: string, { signal, seconds = 120 }: WaitOptions): Promise<void> {
  return explainIfStuck(lab, () => waitFor(what, seconds, () => answers(lab.bootstrap, url), { signal }));
}

/** Runs a step in a lab. If it fails, the error names the log to read. */
async function explainIfStuck({ bootstrap, nodes }: Lab, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof TimedOut || error instanceof CommandFailed)) throw error;
    const machines = [bootstrap, ...nodes].filter(({ isRemoved }) => !isRemoved);
    const log = join(machines[0]?.folder ?? "", bootstrap.isRemoved ? "installer.log" : "bootkube.log");
    const said = readFileSync(log, "utf8").trim().split("\n").at(-1) ?? "";
    const failed = machines.flatMap((machine) =>
      [...failedPods(readFileSync(join(machine.folder, "kubelet.log"), "utf8"))].map(
        ([pod, why]) => `the pod ${pod} cannot be started on ${machine.name} (${short(why)})`,
      ),
    );
    const reason = [error instanceof TimedOut ? error.message : error.brief, ...failed].join(", ");
    throw new UserError(problem("lab-stuck", { name: basename(dirname(bootstrap.folder)), reason, said, log }));
  }
}

/** podman's errors can be long; the beginning names the operation, and the end the reason. */
const short = (text: string) => (text.length > 400 ? `${text.slice(0, 199)} … ${text.slice(-199)}` : text);

const answers = (machine: LabMachine, url: string) =>
  machine.run(`curl --silent --insecure --fail --max-time ${timeLimit(2)} ${url}`).status === 0;

const machineNames = (nodes: number) => ["bootstrap", ...Array.from({ length: nodes }, (_, index) => `node-${index}`)];
