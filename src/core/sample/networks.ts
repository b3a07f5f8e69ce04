/** As Kubernetes spells them. */
export const ipFamilies = ["IPv4", "IPv6"] as const;
export type IpFamily = (typeof ipFamilies)[number];

/** The networks of an install-config. */
export interface Networks {
  readonly machine: readonly string[];
  readonly cluster: readonly string[];
  readonly service: readonly string[];
}

/** The defaults of openshift-install. */
export const defaultNetworks: Networks = {
  machine: ["10.0.0.0/16"],
  cluster: ["10.128.0.0/14"],
  service: ["172.30.0.0/16"],
};

/** The sample cluster as the local platform runs it: one network of each kind, all of one family. */
export const localNetworks = {
  IPv4: { machine: ["10.0.0.0/24"], cluster: ["10.128.0.0/14"], service: ["172.30.0.0/16"] },
  IPv6: { machine: ["fd00::/64"], cluster: ["fd01::/48"], service: ["fd02::/112"] },
} as const satisfies Record<IpFamily, Networks>;
