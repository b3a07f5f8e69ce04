import { canonicalIp, isIpAddress } from "../addresses.ts";
import type { Release } from "../releases.ts";
import { clusterScopedObjects } from "./agents.ts";
import type { ClusterNetworks } from "./cluster-networks.ts";
import { flagsUnknownTo, optionalFlags } from "./flags.ts";
import { releaseImageName } from "./image.ts";
import {
  agentName,
  agentSecretName,
  clientSigner,
  clusterManifests,
  egressSelector,
  home,
  kasClient,
  loopbackKubeconfig,
  namespace,
  serverKubeconfig,
  serverUser,
  socketFolder,
  staticPodManifest,
  tls,
} from "./names.ts";
import type { TunnelOptions } from "./options.ts";

/** The settings of the node's scripts, as shell variables. No value contains a quote: each is validated or made here. */
export function nodeSettings(options: TunnelOptions, release: Release, networks: ClusterNetworks): string {
  const { address, listenAddress, image, agents, certificates, transport, authentication } = options;
  const settings = {
    TUNNEL_HOME: home,
    TUNNEL_TLS: tls,
    // Empty: detected on the node. The scripts compare addresses as text, so it must be in canonical form.
    TUNNEL_ADDRESS: isIpAddress(address) ? canonicalIp(address) : "",
    // Empty: agents dial the address.
    TUNNEL_HOST: address === "detect" || isIpAddress(address) ? "" : address,
    // Empty: the bootstrap address.
    TUNNEL_LISTEN_ADDRESS: listenAddress === "address" ? "" : canonicalIp(listenAddress),
    TUNNEL_FAMILIES: families(networks.serviceNetworks),
    TUNNEL_MACHINE_NETWORKS: networks.machineNetworks.join(" "),
    TUNNEL_VIRTUAL_ADDRESSES: networks.virtualAddresses.map(canonicalIp).join(" "),
    TUNNEL_OPTIONAL_FLAGS: optionalFlags.join(" "),
    // What counts if the image cannot be asked.
    TUNNEL_UNKNOWN_FLAGS: flagsUnknownTo(release).join(" "),
    TUNNEL_IMAGE_COMPONENT: image === "release" ? releaseImageName : "",
    TUNNEL_REQUIRED: options.required,
    TUNNEL_TRANSPORT: transport,
    TUNNEL_AUTHENTICATION: authentication,
    TUNNEL_KEY_ALGORITHM: certificates.keyAlgorithm,
    TUNNEL_CERTIFICATE_DAYS: certificates.days,
    TUNNEL_STATIC_POD: staticPodManifest,
    TUNNEL_MANIFESTS: clusterManifests,
    TUNNEL_EGRESS_SELECTOR: egressSelector.host,
    TUNNEL_KAS_CERTIFICATE: kasClient.certificate.host,
    TUNNEL_KAS_KEY: kasClient.key.host,
    TUNNEL_KAS_CA: kasClient.ca.host,
    TUNNEL_KUBECONFIG: serverKubeconfig,
    TUNNEL_LOOPBACK_KUBECONFIG: loopbackKubeconfig,
    TUNNEL_SERVER_USER: serverUser,
    TUNNEL_CLIENT_SIGNER: clientSigner,
    TUNNEL_SOCKET_FOLDER: socketFolder.host,
    TUNNEL_NAMESPACE: namespace,
    TUNNEL_NAMESPACED: `${agents.kind.toLowerCase()}/${agentName} secret/${agentSecretName}`,
    TUNNEL_CLUSTER_SCOPED: clusterScopedObjects(options).join(" "),
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}='${String(value)}'\n`)
    .join("");
}

/** The address families, preferred one first: that of the cluster's first service network. */
function families(serviceNetworks: readonly string[]): string {
  const ordered = [...new Set(serviceNetworks.map((cidr) => (cidr.includes(":") ? "6" : "4")))];
  return ordered.length > 0 ? ordered.join(" ") : "4 6";
}
