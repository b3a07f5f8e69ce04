import { isIpAddress } from "../addresses.ts";
import { defaultAgentPort } from "./agent-port.ts";
import type { ClusterNetworks } from "./cluster-networks.ts";
import type { TunnelOptions } from "./options.ts";

/** The one firewall rule that is needed while the bootstrap machine exists. */
export interface RequiredIngress {
  readonly direction: "ingress";
  readonly protocol: "tcp";
  readonly port: number;
  readonly sources: { readonly who: string; readonly networks: readonly string[] };
  readonly destination: { readonly who: string; readonly address: string };
  readonly lifetime: { readonly from: string; readonly until: string };
  readonly purpose: string;
}

type ListeningOptions = Pick<TunnelOptions, "address" | "listenAddress" | "port">;

/** How openshift-install's own tunnel listens. Its config has no options for it. */
export const installerListening: ListeningOptions = { address: "detect", listenAddress: "all", port: defaultAgentPort };

export function requiredIngress(options: ListeningOptions, networks: ClusterNetworks): RequiredIngress {
  const { address, listenAddress, port } = options;
  const known = [listenAddress, address].find(isIpAddress);
  return {
    direction: "ingress",
    protocol: "tcp",
    port,
    sources: {
      who: "every control-plane and worker node (pods leave a node with the node's address)",
      networks: networks.machineNetworks,
    },
    destination: {
      who: "the bootstrap machine, and no other",
      address: known ?? (address === "detect" ? "its address in the machine network" : address),
    },
    lifetime: {
      from: "before the first node boots",
      until: "the bootstrap machine is removed (after `openshift-install wait-for bootstrap-complete`)",
    },
    purpose: "Konnectivity agents dial the bootstrap machine's server (TLS)",
  };
}
