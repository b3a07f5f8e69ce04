import { agentCertificates, egressSelector, home, kasConfig, mounted, staticPodManifest, tls } from "./names.ts";

/** This project's tunnel, or the one of openshift-install (4.23 and newer, behind a feature gate). */
export const tunnelKinds = ["ours", "installer"] as const;
export type TunnelKind = (typeof tunnelKinds)[number];

/** What differs between the two tunnels. All other names, ports and stages are the same; see names.ts. */
export interface TunnelNames {
  /** A file or folder on the bootstrap machine that only this tunnel has. */
  readonly marker: string;
  /** What the marker, a file, contains if the tunnel is switched on. @default - its existence is enough */
  readonly switchedOn?: string;
  readonly staticPodManifest: string;
  /** The folder with the tunnel's certificates on the bootstrap machine, and their names in it. */
  readonly tls: string;
  readonly certificates: { readonly ca: string; readonly server: string; readonly agent: string };
  readonly egressSelector: string;
  /** The folder with the certificates in an agent's container. */
  readonly agentCertificates: string;
  /**
   * Whether /readyz says that agents are connected. The installer's server has the strategies destHost,defaultRoute, and its
   * agents advertise no address: its /readyz says 500 forever. Its agents have no readiness probe.
   */
  readonly readyzTells: boolean;
}

export const tunnelNames: Record<TunnelKind, TunnelNames> = {
  ours: {
    marker: home,
    staticPodManifest,
    tls,
    certificates: { ca: "serving/ca.crt", server: "serving/tls.crt", agent: "agent/tls.crt" },
    egressSelector: egressSelector.host,
    agentCertificates,
    readyzTells: true,
  },
  installer: {
    // Every machine of these releases has the file; with the gate off, its functions are empty.
    marker: "/usr/local/bin/konnectivity.sh",
    switchedOn: '"konnectivity-certs"',
    staticPodManifest: "/etc/kubernetes/manifests/konnectivity-server-pod.yaml",
    tls: "/opt/openshift/tls/konnectivity",
    certificates: { ca: "ca.crt", server: "server.crt", agent: "agent.crt" },
    egressSelector: `${kasConfig.host}/egress-selector-config.yaml`,
    agentCertificates: mounted,
    readyzTells: false,
  },
};
