import { nodeFolder } from "../node-file.ts";

/** Names that more than one part of the tunnel must agree on. */

export const namespace = "openshift-bootstrap-konnectivity";
export const serverName = "konnectivity-server";
export const agentName = "konnectivity-agent";
export const agentSecretName = "konnectivity-agent-certs";
export const tokenAudience = "system:konnectivity-server";
/** The server's user name at the kube-apiserver, for token reviews. */
export const serverUser = "system:konnectivity-server";
/** Of the ClusterRole and its ClusterRoleBinding. */
export const tokenReviewRole = "bootstrap-konnectivity-token-review";

/** On every object that exists only during the bootstrap. */
export const bootstrapOnly = { "openshift.io/bootstrap-only": "true" } as const;
export const agentLabels = { app: agentName, ...bootstrapOnly } as const;

export const ports = {
  /** Agents dial the server here, unless `tunnel.port` says otherwise. */
  agent: 8091,
  /** The kube-apiserver dials the server here with `transport: tcp`. */
  server: 8090,
  /** Health of server and agent; 2041 is konnectivity's in OpenShift's port registry. */
  health: 2041,
  /** Metrics of the server; the proxy's default. */
  admin: 8095,
} as const;

/**
 * Agents identify as the default route, and the server uses no other strategy. With another strategy before it, the
 * server's /readyz counts only agents that advertise an address, and returns 500 forever.
 */
export const routing = { strategy: "defaultRoute", identifier: "default-route=true" } as const;

/**
 * The folder of the tunnel's files. /opt/openshift is bootkube's working directory: every podman run there relabels it for
 * containers (`$PWD:/assets:z`).
 */
export const home = nodeFolder;

/** bootkube mounts /opt/openshift at /assets in the render containers. */
export const asSeenByRender = (path: string) => path.replace(/^\/opt\/openshift\//, "/assets/");

/** The one host directory that the bootstrap kube-apiserver's pod mounts for configuration, read-only. */
export const kasConfig = { host: "/etc/kubernetes/bootstrap-configs", kas: "/etc/kubernetes/config" } as const;

const inKasConfig = (name: string) => ({ host: `${kasConfig.host}/${name}`, kas: `${kasConfig.kas}/${name}` });
/** Of its own, so that the server's container sees nothing of the kube-apiserver's configuration. */
export const socketFolder = inKasConfig("konnectivity");
export const socket = inKasConfig("konnectivity/konnectivity-server.socket");
export const egressSelector = inKasConfig("bootstrap-egress-selector.yaml");
/** The kube-apiserver's client certificate, with `transport: tcp`. */
export const kasClient = {
  certificate: inKasConfig("konnectivity-client.crt"),
  key: inKasConfig("konnectivity-client.key"),
  ca: inKasConfig("konnectivity-client-ca.crt"),
} as const;

/** Created by the node's scripts and mounted by the server's pod. A gather leaves out `*.key` and `*kubeconfig*`. */
export const tls = `${home}/tls`;
/** With tokens: the folder of the server's own client certificate, and the kubeconfig that uses it. */
export const tokenReviewer = `${tls}/token-reviewer`;
export const serverKubeconfig = `${tokenReviewer}/kubeconfig`;
/** Every bootstrap.ign has it. Address and CA of the bootstrap kube-apiserver on localhost are taken from it, never its key. */
export const loopbackKubeconfig = "/opt/openshift/auth/kubeconfig-loopback";
/** A signer of client certificates that the bootstrap kube-apiserver accepts; bootstrap.ign has its key. */
export const clientSigner = "/opt/openshift/tls/kube-control-plane-signer";

/** The folder in the containers where keys and certificates are mounted. */
export const mounted = "/etc/konnectivity";
/** In an agent's container. */
export const agentCertificates = `${mounted}/certs`;

export const staticPodManifest = "/etc/kubernetes/manifests/bootstrap-konnectivity-server.yaml";
export const clusterManifests = "/opt/openshift/manifests";

/** Values that only the node knows: its scripts fill them in (node/setup.sh). */
export const placeholders = {
  image: "@IMAGE@",
  serverHost: "@SERVER_HOST@",
  listenAddress: "@LISTEN_ADDRESS@",
  agentKeepalive: "@AGENT_KEEPALIVE@",
  pki: "@PKI@",
  caCertificate: "@CA_CRT@",
  agentCertificate: "@AGENT_CRT@",
  agentKey: "@AGENT_KEY@",
} as const;
