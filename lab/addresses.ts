import { type IpFamily, localNetworks } from "../src/core/sample/networks.ts";

/** Where things are in the lab. Every lab has the same addresses: they are behind namespaces of their own. */
export interface Addresses {
  readonly bootstrap: string;
  /** The first node, which has the permanent control plane too. */
  readonly node: string;
  readonly machineNetwork: string;
  /** All nodes' pods. */
  readonly clusterNetwork: string;
  readonly serviceNetwork: string;
  /** The first of the service network is the API's. */
  readonly apiService: string;
  /** On the first node. */
  readonly webhookPod: string;
  readonly nodeAddress: (index: number) => string;
  /** A node's part of the cluster network. */
  readonly podNetwork: (index: number) => string;
}

function networksOf(ipFamily: IpFamily): Pick<Addresses, "machineNetwork" | "clusterNetwork" | "serviceNetwork"> {
  const { machine, cluster, service } = localNetworks[ipFamily];
  return { machineNetwork: machine[0], clusterNetwork: cluster[0], serviceNetwork: service[0] };
}

const byFamily: Record<IpFamily, Addresses> = {
  IPv4: {
    bootstrap: "10.0.0.10",
    node: "10.0.0.20",
    ...networksOf("IPv4"),
    apiService: "172.30.0.1",
    webhookPod: "10.128.0.10",
    nodeAddress: (index) => `10.0.0.${20 + index}`,
    podNetwork: (index) => `10.128.${2 * index}.0/23`,
  },
  IPv6: {
    bootstrap: "fd00::10",
    node: "fd00::20",
    ...networksOf("IPv6"),
    apiService: "fd02::1",
    webhookPod: "fd01:0:0:1::10",
    nodeAddress: (index) => `fd00::2${index}`,
    podNetwork: (index) => `fd01:0:0:${index + 1}::/64`,
  },
};

export const addressesOf = (ipFamily: IpFamily): Addresses => byFamily[ipFamily];

/** An address in the form that precedes a port. */
export const hostOf = (address: string) => (address.includes(":") ? `[${address}]` : address);
