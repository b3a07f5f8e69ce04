import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectFile, readProjectText } from "../src/runtime/project-files.js";
import { addressesOf } from "./addresses.ts";
import type { LabLayout } from "../src/core/lab-layout.ts";
import { layoutFile } from "./layout.ts";

/** The files of a lab's machine that lie over this machine's own. Do not write there while the machine runs. */
export const rootOf = (folder: string, machine: string) => join(folder, machine, "root");

/** Writes what every machine of the lab has: podman's settings, and the fakes, which come first in the search path. */
export function prepareRoot(root: string, images: readonly string[], layout: LabLayout): void {
  const program = (name: string, text: string) => {
    mkdirSync(join(root, "opt/lab/bin"), { recursive: true });
    writeFileSync(join(root, "opt/lab/bin", name), text);
    chmodSync(join(root, "opt/lab/bin", name), 0o755);
  };
  mkdirSync(join(root, "etc/containers"), { recursive: true });
  // With networks of its own: this machine may have one of the same name or addresses.
  const networks = '\n[network]\nnetwork_config_dir = "/opt/lab/networks"\n';
  mkdirSync(join(root, "opt/lab/networks"), { recursive: true });
  writeFileSync(join(root, "etc/containers/containers.conf"), readProjectText("lab/containers.conf") + networks);
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
  program("podman", readProjectText("lab/fakes/podman.sh"));
  program(
    "lab-fake",
    `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(projectFile("lab/fakes/main.js"))} "$@"\n`,
  );
  program("oc", '#!/bin/sh\nexec lab-fake oc "$@"\n');
  // Without the options: a process of its own, which writes into the caller's log.
  program("systemd-run", '#!/bin/bash\nwhile [[ $1 == --* ]]; do shift; done\nsetsid "$@" </dev/null &\n');
  writeFileSync(join(root, layoutFile), JSON.stringify(layout));
  // In a container, the machine's own file may have localhost only for IPv4.
  writeFileSync(join(root, "etc/hosts"), "127.0.0.1 localhost\n::1 localhost\n");
}

/** The cluster's keys, each where its machine looks for it. */
export function makeKeys(folder: string, { nodes, ipFamily }: LabLayout): void {
  const { apiService, bootstrap, nodeAddress } = addressesOf(ipFamily);
  const openshift = join(rootOf(folder, "bootstrap"), "opt/openshift");
  const tls = join(openshift, "tls");
  const all = [apiService, bootstrap, ...Array.from({ length: nodes }, (_, index) => nodeAddress(index))];
  const made = spawnSync("bash", [projectFile("lab/cluster-pki.sh"), tls, ...all], { encoding: "utf8" });
  if (made.status !== 0) throw new Error(`the cluster's keys could not be created: ${made.stderr}`);
  const copy = (to: string, ...names: readonly string[]) => {
    mkdirSync(to, { recursive: true, mode: 0o700 });
    for (const name of names) writeFileSync(join(to, name), readFileSync(join(tls, name)), { mode: 0o600 });
  };
  copy(join(openshift, "auth"), "kubeconfig", "kubeconfig-loopback");
  for (let index = 0; index < nodes; index++) {
    const lab = join(rootOf(folder, `node-${index}`), "opt/lab");
    copy(lab, "kubeconfig", "kubeconfig-bootstrap");
    copy(
      join(lab, "tls"),
      ...["ca.crt", "client-ca.crt", "kube-apiserver.crt", "kube-apiserver.key", "aggregator.crt", "aggregator.key"],
      ...["kubelet-client.crt", "kubelet-client.key", "service-account.key", "service-account.pub"],
      ...["webhook.crt", "webhook.key"],
    );
  }
}
