import type { LabLayout } from "../src/core/lab-layout.ts";
import { addressesOf } from "./addresses.ts";
import type { LabMachine } from "./machine.ts";

/** The podman network on a node that its pods are in; on a real node, a CNI plugin provides it. */
export const podNetwork = "podnet";

/** Connects the machines: the machine network, a pod network on each node, and the routes between them. */
export function connectMachines(
  bootstrap: LabMachine,
  nodes: readonly LabMachine[],
  { ipFamily, ipi }: LabLayout,
): void {
  const [firstNode, ...otherNodes] = nodes;
  if (firstNode === undefined) throw new Error("a lab has at least one node");
  const addresses = addressesOf(ipFamily);
  // The first node is the switch that the others are plugged into.
  firstNode.must("ip link add ens3 type bridge");
  for (const machine of [bootstrap, ...otherNodes]) {
    machine.connect("ens3", firstNode, `to-${machine.name}`);
    firstNode.must(`ip link set to-${machine.name} master ens3 up`);
  }
  const prefix = addresses.machineNetwork.replace(/.*\//, "");
  for (const [machine, address] of [
    [bootstrap, addresses.bootstrap] as const,
    ...nodes.map((node, index) => [node, addresses.nodeAddress(index)] as const),
  ])
    // No other machine has the address, so IPv6 need not spend a second on detecting duplicates.
    machine.must(
      `ip link set ens3 up && ip address add ${address}/${prefix} dev ens3 ${address.includes(":") ? "nodad" : ""}`,
    );
  for (const [index, node] of nodes.entries()) connectPods(node, index, nodes.length, ipFamily);
  // A default route, which a real machine has, must not lead to the pods.
  const ip = ipCommand(ipFamily);
  bootstrap.must(
    `${ip} route add default via ${addresses.node} && ${ip} route add unreachable ${addresses.clusterNetwork}`,
  );
  if (ipi) closeOtherPorts(bootstrap, ipFamily);
}

/**
 * What openshift-install's security groups let through to the bootstrap machine, from the cluster's machines alone: ssh, the
 * API, the machine-config server, "host level services" and the kubelet. Left out: what only UDP and etcd need.
 */
const openByInstaller = "22,6443,22623,9000:9999,10250";

function closeOtherPorts(bootstrap: LabMachine, ipFamily: LabLayout["ipFamily"]): void {
  const [tables, icmp] = ipFamily === "IPv6" ? ["ip6tables", "ipv6-icmp"] : ["iptables", "icmp"];
  bootstrap.must(
    [
      "-i lo",
      "-m conntrack --ctstate ESTABLISHED,RELATED",
      `-p ${icmp}`,
      `-s ${addressesOf(ipFamily).machineNetwork} -p tcp -m multiport --dports ${openByInstaller}`,
    ]
      .map((rule) => `${tables} -A INPUT ${rule} -j ACCEPT && `)
      .concat(`${tables} -P INPUT DROP`)
      .join(""),
  );
}

/** Creates a node's pod network, and the routes to the pods of the other nodes. */
function connectPods(node: LabMachine, index: number, nodes: number, ipFamily: LabLayout["ipFamily"]): void {
  const { clusterNetwork, podNetwork: subnetOf, nodeAddress } = addressesOf(ipFamily);
  const ipv6 = ipFamily === "IPv6";
  const others = [...Array(nodes).keys()].filter((other) => other !== index);
  node.must(
    [
      "sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1",
      `/usr/bin/podman network create --subnet=${subnetOf(index)} ${ipv6 ? "--ipv6 " : ""}${podNetwork} >/dev/null`,
      // Pods go out with their node's address, as they would from OVN-Kubernetes, but to each other with their own.
      `${ipv6 ? "ip6tables" : "iptables"} -t nat -I POSTROUTING -d ${clusterNetwork} -j ACCEPT`,
      ...others.map((other) => `${ipCommand(ipFamily)} route add ${subnetOf(other)} via ${nodeAddress(other)}`),
    ].join(" && "),
  );
}

const ipCommand = (ipFamily: LabLayout["ipFamily"]) => (ipFamily === "IPv6" ? "ip -6" : "ip");
