/** What the tunnel must know of the cluster's networks; empty where it is not known. */
export interface ClusterNetworks {
  readonly machineNetworks: readonly string[];
  readonly serviceNetworks: readonly string[];
  /** Addresses that move between machines. */
  readonly virtualAddresses: readonly string[];
}
