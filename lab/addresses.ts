/** Where things are in the lab. Every lab has the same addresses: they are behind namespaces of their own. */
export const addresses = {
  bootstrap: "10.0.0.10",
  /** The first node; the next have the next. It has the permanent control plane too. */
  node: "10.0.0.20",
  machineNetwork: "10.0.0.0/24",
  podNetwork: "10.128.0.0/23",
  serviceNetwork: "172.30.0.0/16",
  /** The first of the service network is the API's. */
  apiService: "172.30.0.1",
  webhookPod: "10.128.0.10",
} as const;
