import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Addresses, hostOf } from "./addresses.ts";

const issuer = "https://kubernetes.default.svc";
/** Where a kube-apiserver's pod has its keys. */
export const secretsFolder = "/etc/kubernetes/secrets";

/** The permanent control plane: etcd, and a kube-apiserver that knows nothing of a tunnel. */
export function writeControlPlane(root: string, addresses: Addresses): void {
  const folder = join(root, "etc/kubernetes/manifests");
  const etcdUrl = `http://${hostOf(addresses.node)}:2379`;
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
            `--listen-client-urls=${etcdUrl}`,
            `--advertise-client-urls=${etcdUrl}`,
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
    stringify(kubeApiServerPod(kubeApiServerArguments(addresses, addresses.node), secrets)),
  );
}

/** What a kube-apiserver of the lab is started with. */
export function kubeApiServerArguments(addresses: Addresses, address: string): Record<string, string[]> {
  return {
    "advertise-address": [address],
    "api-audiences": [issuer],
    // The default listens on IPv4 only.
    "bind-address": address.includes(":") ? ["::"] : [],
    "authorization-mode": ["Node,RBAC"],
    "client-ca-file": [`${secretsFolder}/client-ca.crt`],
    "enable-aggregator-routing": ["true"],
    "etcd-servers": [`http://${hostOf(addresses.node)}:2379`],
    "kubelet-certificate-authority": [`${secretsFolder}/ca.crt`],
    "kubelet-client-certificate": [`${secretsFolder}/kubelet-client.crt`],
    "kubelet-client-key": [`${secretsFolder}/kubelet-client.key`],
    "proxy-client-cert-file": [`${secretsFolder}/aggregator.crt`],
    "proxy-client-key-file": [`${secretsFolder}/aggregator.key`],
    "requestheader-allowed-names": ["system:openshift-aggregator"],
    "requestheader-client-ca-file": [`${secretsFolder}/ca.crt`],
    "requestheader-extra-headers-prefix": ["X-Remote-Extra-"],
    "requestheader-group-headers": ["X-Remote-Group"],
    "requestheader-username-headers": ["X-Remote-User"],
    "secure-port": ["6443"],
    "service-account-issuer": [issuer],
    "service-account-key-file": [`${secretsFolder}/service-account.pub`],
    "service-account-signing-key-file": [`${secretsFolder}/service-account.key`],
    "service-cluster-ip-range": [addresses.serviceNetwork],
    "tls-cert-file": [`${secretsFolder}/kube-apiserver.crt`],
    "tls-private-key-file": [`${secretsFolder}/kube-apiserver.key`],
  };
}

/** @param mounts folders of the host by their place in the pod */
export function kubeApiServerPod(
  args: Readonly<Record<string, readonly string[]>>,
  mounts: Readonly<Record<string, string>>,
) {
  const volumes = Object.entries(mounts).map(([mountPath, path], index) => ({ name: `v${index}`, mountPath, path }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "kube-apiserver", namespace: "kube-system" },
    spec: {
      hostNetwork: true,
      // As OpenShift's.
      terminationGracePeriodSeconds: 135,
      containers: [
        {
          name: "kube-apiserver",
          image: "localhost/lab/kube-apiserver:latest",
          imagePullPolicy: "Never",
          // A lab exists only for minutes. With fewer garbage collections it needs a sixth less processor time to start.
          env: [{ name: "GOGC", value: "400" }],
          command: ["/usr/bin/kube-apiserver"],
          args: [
            "--cert-dir=/tmp",
            ...Object.entries(args).flatMap(([name, values]) =>
              values.length === 0 ? [] : [`--${name}=${values.join(",")}`],
            ),
          ],
          volumeMounts: volumes.map(({ name, mountPath }) => ({ name, mountPath, readOnly: true })),
        },
      ],
      volumes: volumes.map(({ name, path }) => ({ name, hostPath: { path } })),
    },
  };
}
