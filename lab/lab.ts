import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { addresses } from "./addresses.ts";
import { applyIgnition } from "./ignition.ts";
import { Machine, removeMachines } from "./machine.ts";
import { finishFile } from "./stand-ins/cluster-bootstrap.ts";
import { podNetworkOptions } from "./stand-ins/kubelet.ts";
import { clusterObjects, webhookPod } from "./workload.ts";
import { kubeApiServerArguments, kubeApiServerPod } from "./stand-ins/render.ts";

const own = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export interface LabProps {
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
  readonly say: (line: string) => void;
}

/** What a kube-apiserver answered; code 0 if it did not. */
export interface Answer {
  readonly code: number;
  readonly body: { readonly message?: string; readonly [key: string]: unknown };
}

/** A cluster being born, on this machine: a bootstrap machine and a node, with real programs. */
export class Lab {
  readonly bootstrap: Machine;
  readonly node: Machine;

  private constructor(bootstrap: Machine, node: Machine) {
    this.bootstrap = bootstrap;
    this.node = node;
  }

  /** Brings a lab up; what is left of an earlier one of this name goes first. */
  static async up(props: LabProps): Promise<Lab> {
    const { name, folder, payload, images, dieWithParent, say } = props;
    await Lab.down(name, folder);
    const folders = { bootstrap: join(folder, "bootstrap"), node: join(folder, "node-0") };
    for (const one of Object.values(folders)) prepareRoot(join(one, "root"), images);
    say("Ignition lays the payload down");
    applyIgnition(payload, join(folders.bootstrap, "root"));
    makeKeys(folders);
    writeNodeManifests(join(folders.node, "root"));

    say("the machines start");
    const [bootstrap, node] = await Promise.all([
      Machine.start({ lab: name, name: "bootstrap", folder: folders.bootstrap, dieWithParent }),
      Machine.start({ lab: name, name: "node-0", folder: folders.node, dieWithParent }),
    ]);
    bootstrap.connect("ens3", node);
    for (const [machine, address] of [
      [bootstrap, addresses.bootstrap],
      [node, addresses.node],
    ] as const)
      machine.must(`ip address add ${address}/24 dev ens3 && ip link set ens3 up`);
    // Agents go out through the node, as they would from OVN-Kubernetes: with its address.
    node.must(`sysctl -qw net.ipv4.ip_forward=1; /usr/bin/podman ${podNetworkOptions.join(" ")} >/dev/null`);
    // A default route, which a real machine has, must not lead to the pods.
    bootstrap.must(`ip route add default via ${addresses.node} && ip route add unreachable ${addresses.podNetwork}`);

    const lab = new Lab(bootstrap, node);
    lab.#service(
      node,
      "kubelet",
      `lab-stand-in kubelet --address=${addresses.node} --kubeconfig=/opt/lab/kubeconfig-bootstrap`,
    );
    lab.#service(bootstrap, "kubelet", `lab-stand-in kubelet --address=${addresses.bootstrap}`);
    // As its unit does: again after every failure, until it is done.
    lab.#service(
      bootstrap,
      "bootkube",
      "cd /opt/openshift && until [ -e .bootkube.done ]; do /usr/local/bin/bootkube.sh || sleep 1; done",
      { LAB_ETCD: `http://${addresses.node}:2379` },
    );
    return lab;
  }

  /** Takes a lab away, wherever it stands. */
  static async down(name: string, folder: string): Promise<void> {
    await removeMachines(name);
    rmSync(folder, { recursive: true, force: true });
  }

  /** The lab of this name, if it runs. */
  static ifRunning(name: string, folder: string): Lab | undefined {
    const [bootstrap, node] = ["bootstrap", "node-0"].map((machine) =>
      Machine.ifRunning({ lab: name, name: machine, folder: join(folder, machine) }),
    );
    return bootstrap === undefined || node === undefined ? undefined : new Lab(bootstrap, node);
  }

  /** Puts the webhook into the pod network, and what leads to it into the cluster. */
  async installWorkload(): Promise<void> {
    // Through the machines: what lies below their roots must not be changed from outside while they run.
    const ca = this.node.must("base64 -w0 /opt/lab/tls/ca.crt");
    this.node.must("cat >/etc/kubernetes/manifests/webhook.yaml", {}, stringify(webhookPod));
    const apply = "lab-stand-in apply /opt/openshift/auth/kubeconfig-loopback /opt/lab/objects.json";
    this.bootstrap.must(`cat >/opt/lab/objects.json && ${apply}`, {}, JSON.stringify(clusterObjects(ca)));
    const healthz = `curl --silent --insecure --max-time 2 https://${addresses.webhookPod}:8443/healthz`;
    await until("the webhook", 30, () => this.node.run(healthz).status === 0);
  }

  /** Asks the kube-apiserver of one of the machines, as an admin. */
  ask(machine: Machine, method: string, path: string, body?: object): Answer {
    const [tls, host] =
      machine === this.bootstrap ? ["/opt/openshift/tls", "localhost"] : ["/opt/lab/tls", addresses.node];
    const line = [
      "curl --silent --max-time 20 --header 'Content-Type: application/json' --write-out '\\n%{http_code}'",
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

  /** Starts a line of bash in a machine that goes on until it ends by itself; its log is /var/log/lab-NAME.log there. */
  #service(machine: Machine, name: string, line: string, env: Readonly<Record<string, string>> = {}): void {
    const log = openSync(join(machine.folder, `${name}.log`), "a", 0o600);
    const [program = "", ...args] = machine.enter(["bash", "-c", line]);
    spawn(program, args, {
      stdio: ["ignore", log, log],
      detached: true,
      env: { PATH: `/opt/lab/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`, HOME: "/root", ...env },
    }).unref();
  }
}

/** Waits until the tunnel carries: says each step as it comes. */
export async function labIsUp({ bootstrap }: Lab, say: (line: string) => void): Promise<void> {
  const answers = (url: string) => bootstrap.run(`curl --silent --insecure --fail --max-time 2 ${url}`).status === 0;
  await until("the tunnel's server", 120, () => answers("http://127.0.0.1:2041/healthz"));
  say("the tunnel's server is up");
  await until("the bootstrap kube-apiserver", 120, () => answers("https://127.0.0.1:6443/readyz"));
  say("the bootstrap kube-apiserver is ready");
  await until("an agent", 120, () => answers("http://127.0.0.1:2041/readyz"));
  say("an agent is connected");
}

/** Waits until something is true, and says what it waited for if it never is. */
export async function until(what: string, seconds: number, condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 1000 * seconds;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what} did not come within ${seconds} s`);
    await sleep(100);
  }
}

/** What every machine of the lab has: settings of podman, and the stand-ins in front of all other programs. */
function prepareRoot(root: string, images: readonly string[]): void {
  const program = (name: string, text: string) => {
    mkdirSync(join(root, "opt/lab/bin"), { recursive: true });
    writeFileSync(join(root, "opt/lab/bin", name), text);
    chmodSync(join(root, "opt/lab/bin", name), 0o755);
  };
  mkdirSync(join(root, "etc/containers"), { recursive: true });
  writeFileSync(join(root, "etc/containers/containers.conf"), readFileSync(own("containers.conf"), "utf8"));
  writeFileSync(
    join(root, "etc/containers/storage.conf"),
    `[storage]
driver = "overlay"
graphroot = "/var/lib/containers/storage"
runroot = "/run/containers/storage"
[storage.options]
additionalimagestores = ${JSON.stringify(images)}
`,
  );
  program("podman", readFileSync(own("stand-ins/podman.sh"), "utf8"));
  program(
    "lab-stand-in",
    `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(own("stand-in.js"))} "$@"\n`,
  );
  program("oc", '#!/bin/sh\nexec lab-stand-in oc "$@"\n');
}

function makeKeys(folders: { readonly bootstrap: string; readonly node: string }): void {
  const tls = join(folders.bootstrap, "root/opt/openshift/tls");
  const { bootstrap, node, apiService } = addresses;
  const made = spawnSync("bash", [own("cluster-pki.sh"), tls, bootstrap, node, apiService], { encoding: "utf8" });
  if (made.status !== 0) throw new Error(`the cluster's keys could not be made: ${made.stderr}`);
  const auth = join(folders.bootstrap, "root/opt/openshift/auth");
  mkdirSync(auth, { recursive: true });
  const copy = (from: string, to: string) => {
    writeFileSync(to, readFileSync(from), { mode: 0o600 });
  };
  for (const name of ["kubeconfig", "kubeconfig-loopback"]) copy(join(tls, name), join(auth, name));
  const lab = join(folders.node, "root/opt/lab");
  mkdirSync(join(lab, "tls"), { recursive: true, mode: 0o700 });
  for (const name of ["kubeconfig", "kubeconfig-bootstrap"]) copy(join(tls, name), join(lab, name));
  for (const name of [
    ...["ca.crt", "kube-apiserver.crt", "kube-apiserver.key", "aggregator.crt", "aggregator.key", "kubelet-client.crt"],
    ...["kubelet-client.key", "service-account.key", "service-account.pub", "webhook.crt", "webhook.key"],
  ])
    copy(join(tls, name), join(lab, "tls", name));
}

/** The permanent control plane: etcd, and a kube-apiserver that knows nothing of a tunnel. */
function writeNodeManifests(root: string): void {
  const folder = join(root, "etc/kubernetes/manifests");
  mkdirSync(folder, { recursive: true });
  const etcd = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "etcd", namespace: "kube-system" },
    spec: {
      hostNetwork: true,
      containers: [
        {
          name: "etcd",
          image: "localhost/lab/etcd:latest",
          command: ["/usr/bin/etcd"],
          args: [
            "--data-dir=/tmp/etcd",
            "--unsafe-no-fsync",
            `--listen-client-urls=http://${addresses.node}:2379`,
            `--advertise-client-urls=http://${addresses.node}:2379`,
            "--listen-peer-urls=http://127.0.0.1:2380",
          ],
        },
      ],
    },
  };
  writeFileSync(join(folder, "etcd.yaml"), stringify(etcd));
  const secrets = { "/etc/kubernetes/secrets": "/opt/lab/tls" };
  writeFileSync(
    join(folder, "kube-apiserver.yaml"),
    stringify(kubeApiServerPod(kubeApiServerArguments(addresses.node), secrets)),
  );
}
