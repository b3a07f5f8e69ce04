/** The cluster's networks, as far as the tunnel needs them; empty where unknown. */
export interface ClusterNetworks {
  readonly machineNetworks: readonly string[];
  readonly serviceNetworks: readonly string[];
  /** Addresses that move between machines. */
  readonly virtualAddresses: readonly string[];
}
