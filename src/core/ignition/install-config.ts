import { parse } from "yaml";
import { isIpAddress, isNetwork, networksOverlap } from "../addresses.ts";
import type { Warning } from "../errors.ts";
import { decodeContents, UndecodableError } from "./contents.ts";
import { type FileEntry, isObject } from "./config.ts";

/** The cluster's networks and addresses, from the install-config in bootstrap.ign; empty lists where it has none. */
export interface Cluster {
  readonly machineNetworks: readonly string[];
  readonly clusterNetworks: readonly string[];
  readonly serviceNetworks: readonly string[];
  /** API and ingress addresses that keepalived moves between machines: never the bootstrap machine's own. */
  readonly virtualAddresses: readonly string[];
}

/** The ConfigMap in which the installer keeps the install-config for the cluster (pull secret left out). */
export const clusterConfigPath = "/opt/openshift/manifests/cluster-config.yaml";

/** Otherwise the parser prints warnings to stderr, with a part of the manifest. */
const quietly = { logLevel: "error" } as const;

export function readCluster(files: readonly FileEntry[]): Cluster {
  const config = installConfig(files.find((file) => file.path === clusterConfigPath));
  const networking = isObject(config.networking) ? config.networking : {};
  return {
    machineNetworks: networks(networking.machineNetwork, "cidr"),
    clusterNetworks: networks(networking.clusterNetwork, "cidr"),
    serviceNetworks: networks(networking.serviceNetwork),
    virtualAddresses: virtualAddresses(config.platform),
  };
}

function installConfig(file: FileEntry | undefined): Record<string, unknown> {
  if (file === undefined) return {};
  try {
    const map: unknown = parse(decodeContents(file.contents).toString("utf8"), quietly);
    const text = isObject(map) && isObject(map.data) ? map.data["install-config"] : undefined;
    const config: unknown = typeof text === "string" ? parse(text, quietly) : undefined;
    return isObject(config) ? config : {};
  } catch (error) {
    // The tunnel works without it, and a warning says so (networks-unknown). The parser throws a ReferenceError for an
    // alias without an anchor.
    if (error instanceof UndecodableError || error instanceof ReferenceError) return {};
    if (error instanceof Error && error.name.startsWith("YAML")) return {};
    throw error;
  }
}

function networks(list: unknown, key?: string): string[] {
  if (!Array.isArray(list)) return [];
  return list
    .map((item: unknown) => (key !== undefined && isObject(item) ? item[key] : item))
    .filter((cidr): cidr is string => typeof cidr === "string" && isNetwork(cidr));
}

function virtualAddresses(platform: unknown): string[] {
  if (!isObject(platform)) return [];
  const keys = ["apiVIPs", "ingressVIPs", "apiVIP", "ingressVIP"];
  const values = Object.values(platform).flatMap((p) => (isObject(p) ? keys.flatMap((key) => p[key]) : []));
  return [...new Set(values.filter((v): v is string => typeof v === "string" && isIpAddress(v)))];
}

/** Where networks overlap, an address is ambiguous, and the tunnel may carry traffic to the wrong side. */
export function networkWarnings(cluster: Cluster): Warning[] {
  const all = [
    ...cluster.machineNetworks.map((cidr) => ({ what: "machine network", cidr })),
    ...cluster.clusterNetworks.map((cidr) => ({ what: "cluster network", cidr })),
    ...cluster.serviceNetworks.map((cidr) => ({ what: "service network", cidr })),
  ];
  const warnings: Warning[] = [];
  if (cluster.machineNetworks.length === 0) {
    warnings.push({
      code: "networks-unknown",
      message: `bootstrap.ign does not contain the machine networks (${clusterConfigPath}), so the bootstrap address is taken from the device of the default route.`,
    });
  }
  for (const [index, a] of all.entries()) {
    for (const b of all.slice(index + 1)) {
      if (a.what === b.what || !networksOverlap(a.cidr, b.cidr)) continue;
      warnings.push({
        code: "networks-overlap",
        message: `The ${a.what} ${a.cidr} and the ${b.what} ${b.cidr} overlap, so an address in both is ambiguous: change one of them in install-config.yaml.`,
      });
    }
  }
  return warnings;
}
