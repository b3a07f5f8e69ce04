import { integer } from "../schema/fields.ts";
import { ports } from "./names.ts";

/** The default port. openshift-install's own tunnel uses it too. */
export const defaultAgentPort = ports.agent;

/** In the range that every OpenShift firewall opens between a cluster's machines, and not assigned in any registry of ports. */
export const ipiAgentPort = 9591;

/**
 * The `tunnel` of a config, as the user wrote it, for a machine that openshift-install creates: with the port that is open
 * there, unless it names one.
 */
export function withIpiPort(tunnel: unknown): unknown {
  const options = tunnel ?? {};
  if (typeof options !== "object" || Array.isArray(options)) return options;
  return { ...options, port: ("port" in options ? options.port : undefined) ?? ipiAgentPort };
}

/** TCP ports that OpenShift opens between all machines of a cluster ("host level services"), by its own and the UPI templates' rules. */
export const openBetweenMachines = { from: 9000, to: 9999 } as const;

export const isOpenBetweenMachines = (port: number) =>
  openBetweenMachines.from <= port && port <= openBetweenMachines.to;

/** Above are node ports (30000–32767) and the ports that the kernel gives to clients. */
const highest = 29_999;

/**
 * Ports that the bootstrap machine uses, or that OpenShift's host port registry (openshift/enhancements,
 * dev-guide/host-port-registry.md) assigns: a bootstrap machine may run parts of the control plane, and a later release
 * may bind any of its own ports there.
 */
const taken: readonly { readonly from: number; readonly to?: number; readonly user: string }[] = [
  { from: 1936, user: "the router" },
  { from: ports.health, user: "the tunnel's own health checks" },
  { from: 2379, to: 2381, user: "etcd" },
  { from: 3306, user: "Ironic's database" },
  { from: 4180, user: "the machine-config daemon" },
  { from: 5050, user: "the Ironic inspector" },
  { from: 6080, user: "the kube-apiserver operator" },
  { from: 6180, to: 6183, user: "the provisioning server of bare metal" },
  { from: 6385, user: "Ironic" },
  { from: 6443, user: "the kube-apiserver" },
  { from: 8089, user: "the Ironic conductor" },
  { from: ports.admin, user: "the tunnel's own metrics" },
  { from: 8200, to: 8219, user: "CSI drivers" },
  { from: 8797, user: "the machine-config daemon" },
  { from: 9001, user: "the machine-config daemon" },
  { from: 9099, user: "the cluster-version operator" },
  { from: 9100, to: 9105, user: "the node exporter and the network's metrics" },
  { from: 9191, to: 9192, user: "the machine approver" },
  { from: 9200, to: 9219, user: "CSI drivers" },
  { from: 9258, to: 9259, user: "the cloud-controller-manager operator" },
  { from: 9443, user: "the kube-controller-manager" },
  { from: 9444, to: 9449, user: "the API's load balancer and the operator of bare metal" },
  { from: 9537, user: "CRI-O" },
  { from: 9545, user: "OpenShift (host port registry)" },
  { from: 9637, user: "the proxy of CRI-O's metrics" },
  { from: 9641, to: 9644, user: "OVN" },
  { from: 9977, to: 9980, user: "etcd" },
  { from: 10010, user: "CRI-O" },
  { from: 10248, to: 10259, user: "the kubelet and the control plane" },
  { from: 10263, user: "the cloud-node manager" },
  { from: 10300, to: 10303, user: "CSI drivers" },
  { from: 10357, user: "the cluster-policy controller" },
  { from: 10443, to: 10444, user: "the router" },
  { from: 11443, user: "the kube-scheduler" },
  { from: 17697, user: "the kube-apiserver" },
  { from: 18080, user: "CoreDNS of platforms without a cloud's DNS" },
  { from: 19531, user: "the journal gateway" },
  { from: 22623, to: 22625, user: "the machine-config server" },
  { from: 29101, to: 29103, user: "the network's metrics" },
];

/** What else uses a port. @returns undefined if nothing does */
export function userOfPort(port: number): string | undefined {
  return taken.find(({ from, to = from }) => from <= port && port <= to)?.user;
}

export const agentPortSchema = integer(1024, highest)
  .refine((port) => userOfPort(port) === undefined, {
    error: ({ input }) => {
      const user = userOfPort(Number(input)) ?? "";
      return `a port that nothing else on the machine uses (${Number(input)} is used by ${user}), for example ${defaultAgentPort}, or ${ipiAgentPort} if only 9000–9999 is open`;
    },
  })
  .default(defaultAgentPort);
