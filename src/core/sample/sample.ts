import { stringify } from "yaml";
import { bootkubePath } from "../ignition/bootkube.ts";
import type { FileEntry, IgnitionConfig } from "../ignition/config.ts";
import { clusterConfigPath } from "../ignition/install-config.ts";
import type { Release } from "../releases.ts";
import { fileEntry, fixture } from "./fixture.ts";
import { installerTunnelFiles } from "./installer-tunnel.ts";
import { defaultNetworks, type Networks } from "./networks.ts";

export { fileEntry, fixture };

/** The shapes of bootkube.sh, old to new. They differ in the last flags of the render call and what these need. */
export const shapes = ["4.12", "4.13", "4.14", "4.18", "4.23", "4.23-gate-on", "bootstrap-in-place"] as const;
export type Shape = (typeof shapes)[number];

/** The shapes that can get a tunnel, with their release class. */
export const tunnelShapes: readonly (readonly [Shape, Release])[] = [
  ["4.12", "4.12-4.13"],
  ["4.13", "4.12-4.13"],
  ["4.14", "4.14-4.22"],
  ["4.18", "4.14-4.22"],
  ["4.23", "4.23+"],
];

const renderFlag = {
  infra: "--infra-config-file=/assets/manifests/cluster-infrastructure-02-config.yml",
  additional: '"${ADDITIONAL_FLAGS[@]}"',
  manifests: "--rendered-manifest-files=/assets/manifests",
  payload: "--payload-version=$VERSION",
  operand: '--operand-kubernetes-version="${KUBERNETES_VERSION}"',
  override: "--config-override-files=/assets/konnectivity-config-override.yaml",
  // With the feature gate off, the flag above is missing and the backslash before it stays.
  nothing: "",
} as const;

const renderTails: Record<Shape, readonly (keyof typeof renderFlag)[]> = {
  "4.12": ["infra"],
  "4.13": ["infra", "additional"],
  "4.14": ["infra", "manifests", "payload"],
  "4.18": ["infra", "manifests", "payload", "operand"],
  "4.23": ["infra", "manifests", "payload", "operand", "nothing"],
  "4.23-gate-on": ["infra", "manifests", "payload", "operand", "override"],
  "bootstrap-in-place": ["infra", "manifests", "payload", "operand"],
};

export function bootkubeScript(shape: Shape): string {
  const [major = 0, minor = 0] = shape.split(/[.-]/).map(Number);
  const atLeast = (wanted: number) => shape === "bootstrap-in-place" || (major === 4 && minor >= wanted);
  const newest = shape.startsWith("4.23");
  const slots: Record<string, string> = {
    HEADER: newest ? ". /usr/local/bin/konnectivity.sh" : "",
    BOOTSTRAP_INPLACE: String(shape === "bootstrap-in-place"),
    VERSIONS: [atLeast(14) && "VERSION=4.99.0", atLeast(18) && "KUBERNETES_VERSION=1.99.0"].filter(Boolean).join("\n"),
    BEFORE_RENDER: shape === "4.13" ? "  ADDITIONAL_FLAGS=()\n" : "",
    RENDER_TAIL: renderTails[shape].map((flag) => (flag === "nothing" ? "" : `\t\t${renderFlag[flag]}`)).join(" \\\n"),
    TUNNEL_SETUP: newest ? "konnectivity_setup" : "",
    TUNNEL_MANIFESTS: newest ? "konnectivity_manifests" : "",
    TUNNEL_CLEANUP: newest ? "konnectivity_cleanup" : "",
  };
  return fixture("bootkube.sh").replace(/@@([A-Z_]+)@@/g, (_, slot: string) => slots[slot] ?? "");
}

export interface SampleProps {
  readonly clusterName?: string;
  readonly networks?: Networks;
  /** Platform part of the install-config. */
  readonly platform?: Record<string, unknown>;
  readonly certificate?: string;
  /** The public key of core. */
  readonly sshKey?: string;
  /** The loopback kubeconfig's client certificate and its key, in PEM. */
  readonly client?: { readonly certificate: string; readonly key: string };
  /** More files. */
  readonly files?: readonly FileEntry[];
  readonly version?: string;
  /** Adds filler files up to about this many bytes. */
  readonly bytes?: number;
}

/** A bootstrap.ign of this shape, with the structure of openshift-install's and without real secrets. */
export function sampleConfig(shape: Shape, props: SampleProps = {}): IgnitionConfig {
  const { networks = defaultNetworks, platform = { none: {} }, version = "3.2.0", bytes = 0 } = props;
  const { clusterName = "sample", sshKey = sampleSshKey, client = { certificate: "sample", key: "sample" } } = props;
  const kubeconfig = adminKubeconfig(clusterName, client);
  const installConfig = {
    apiVersion: "v1",
    baseDomain: "example.com",
    metadata: { name: clusterName },
    networking: {
      networkType: "OVNKubernetes",
      machineNetwork: networks.machine.map((cidr) => ({ cidr })),
      clusterNetwork: networks.cluster.map((cidr) => ({ cidr, hostPrefix: cidr.includes(":") ? 64 : 23 })),
      serviceNetwork: networks.service,
    },
    platform,
    pullSecret: "",
  };
  const clusterConfig = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "cluster-config-v1", namespace: "kube-system" },
    data: { "install-config": stringify(installConfig) },
  };
  const files = [
    fileEntry(bootkubePath, bootkubeScript(shape), 0o555),
    fileEntry("/usr/local/bin/bootstrap-service-record.sh", fixture("bootstrap-service-record.sh"), 0o555),
    fileEntry("/usr/local/bin/release-image.sh", fixture("release-image.sh"), 0o555),
    {
      path: "/etc/motd",
      overwrite: false,
      user: { name: "root" },
      append: [{ source: "data:,This%20is%20the%20bootstrap%20node.%0A" }],
      mode: 0o644,
    },
    fileEntry(clusterConfigPath, stringify(clusterConfig), 0o644),
    fileEntry("/opt/openshift/auth/kubeconfig-loopback", kubeconfig, 0o600),
    fileEntry("/opt/openshift/auth/kubeconfig", kubeconfig, 0o600),
    fileEntry("/opt/openshift/tls/root-ca.crt", props.certificate ?? fixture("long-lived.crt"), 0o600),
    fileEntry("/opt/openshift/tls/kube-control-plane-signer.crt", client.certificate, 0o600),
    fileEntry("/opt/openshift/tls/kube-control-plane-signer.key", client.key, 0o600),
    ...(shape.startsWith("4.23") ? installerTunnelFiles(shape === "4.23-gate-on") : []),
    ...(props.files ?? []),
  ];
  const filler = "# ".padEnd(3000, "x");
  for (let index = 0; index * 4100 < bytes; index++)
    files.push(fileEntry(`/opt/openshift/openshift/filler-${index}.yaml`, `${filler}${index}\n`, 0o644));
  return {
    ignition: { version },
    passwd: {
      users: [
        {
          name: "core",
          sshAuthorizedKeys: [sshKey],
        },
      ],
    },
    storage: { files },
    systemd: {
      units: [
        {
          name: "bootkube.service",
          contents: "[Service]\nWorkingDirectory=/opt/openshift\nExecStart=/usr/local/bin/bootkube.sh\n",
        },
        {
          name: "progress.service",
          enabled: true,
          contents: "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n",
        },
      ],
    },
  };
}

export const sampleText = (shape: Shape, props?: SampleProps) => JSON.stringify(sampleConfig(shape, props));

export const sampleMetadata = {
  clusterName: "sample",
  clusterID: "2f0c9f0e-7d0b-4b7c-9d57-3d6a5d2b8091",
  infraID: "sample-x7k2p",
};

const sampleSshKey =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICMBUt5XhXmq2yuVcsa1vJbV5bX79Hynd+Un9o/7EqM4 core@example.com";

const adminKubeconfig = (cluster: string, { certificate, key }: NonNullable<SampleProps["client"]>) => `clusters:
- cluster:
    certificate-authority-data: ${Buffer.from(certificate).toString("base64")}
    server: https://localhost:6443
  name: ${cluster}
contexts:
- context:
    cluster: ${cluster}
    user: loopback
  name: loopback
current-context: loopback
preferences: {}
users:
- name: loopback
  user:
    client-certificate-data: ${Buffer.from(certificate).toString("base64")}
    client-key-data: ${Buffer.from(key).toString("base64")}
`;
