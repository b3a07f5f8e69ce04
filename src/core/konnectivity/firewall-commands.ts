import { isIpAddress, isIpv6, isIpv6Network } from "../addresses.ts";
import { shellWord } from "../shell-word.ts";
import type { RequiredIngress } from "./required-ingress.ts";

/** A value that only the user knows: a shell variable, and what to set it to. */
export interface Variable {
  readonly name: string;
  readonly meaning: string;
}

/** Shell commands that open the port, and those that close it again. */
export interface FirewallCommands {
  readonly variables: readonly Variable[];
  readonly open: readonly string[];
  readonly close: readonly string[];
}

/** The rule's sources of one family, and the machine's address. Firewalls do not mix the families in a rule. */
export interface Family {
  readonly isIpv6: boolean;
  /** Each is one word of a shell command. */
  readonly networks: readonly string[];
  /** One word of a shell command. */
  readonly address: string;
  /** Ends the name of the family's rule. */
  readonly suffix: string;
}

/** What the commands are made from. */
export interface FirewallRule {
  readonly name: string;
  readonly port: number;
  readonly families: readonly Family[];
  /** The cluster's infra ID, or an example of one if it is not known. */
  readonly infraId: string;
}

/** The commands of one firewall's program. */
export type FirewallProgram = (rule: FirewallRule) => FirewallCommands;

/**
 * A shell script that opens the port, with the commands that close it as comments at its end. It stops before its first
 * command if a variable is not set.
 * @param infraId the cluster's. Undefined: not known
 */
export function firewallScript(
  program: FirewallProgram,
  ingress: RequiredIngress,
  infraId: string | undefined,
): string {
  const { families, variables } = familiesOf(ingress);
  const commands = program({
    name: `${infraId ?? "openshift"}-bootstrap-konnectivity`,
    port: ingress.port,
    families,
    infraId: infraId ?? "prod-x7k2p",
  });
  const needed = [...commands.variables, ...variables].filter(({ name }) =>
    [...commands.open, ...commands.close].some((line) => line.includes(`"$${name}"`)),
  );
  return [
    `# Opens TCP ${ingress.port} on the bootstrap machine for the nodes. Run this before the first node boots.`,
    ...needed.map(({ name, meaning }) => `: "\${${name}:?set it to ${meaning}}"`),
    ...commands.open,
    "# When the bootstrap machine is removed, close the port:",
    ...commands.close.map((line) => `# ${line}`),
    "",
  ].join("\n");
}

function familiesOf({ sources, destination }: RequiredIngress): {
  families: readonly Family[];
  variables: readonly Variable[];
} {
  const known = isIpAddress(destination.address) ? destination.address : undefined;
  const families = [false, true].flatMap((wantsIpv6): Family[] => {
    const networks = sources.networks.filter((network) => isIpv6Network(network) === wantsIpv6).map(shellWord);
    // Agents dial one address, so that nodes' addresses of the other family never matter.
    if (known !== undefined && isIpv6(known) !== wantsIpv6) return [];
    const address = known ?? (wantsIpv6 ? '"$BOOTSTRAP_IPV6"' : '"$BOOTSTRAP_IPV4"');
    if (networks.length > 0) return [{ isIpv6: wantsIpv6, networks, address, suffix: wantsIpv6 ? "-ipv6" : "" }];
    const unknown = sources.networks.length === 0 && wantsIpv6 === (known !== undefined && isIpv6(known));
    return unknown ? [{ isIpv6: wantsIpv6, networks: ['"$NODE_NETWORK"'], address, suffix: "" }] : [];
  });
  const variables = [
    { name: "NODE_NETWORK", meaning: "the network of the nodes, like 10.0.0.0/16" },
    { name: "BOOTSTRAP_IPV4", meaning: "the IPv4 address of the bootstrap machine" },
    { name: "BOOTSTRAP_IPV6", meaning: "the IPv6 address of the bootstrap machine" },
  ];
  return { families, variables };
}

/** Firewalls of platforms without a stack, by the names of their programs. */
export const otherFirewalls: Readonly<Record<string, FirewallProgram>> = {
  nft: ({ name, port, families }) => ({
    variables: [
      {
        name: "NFT_CHAIN",
        meaning: "family, table and name of the chain that filters the traffic, like inet filter forward",
      },
    ],
    // nft joins its arguments with spaces.
    open: families.map(({ isIpv6: six, networks, address }) => {
      const kind = six ? "ip6" : "ip";
      const match = `${kind} saddr '{' ${networks.join(" , ")} '}' ${kind} daddr ${address} tcp dport ${port}`;
      return `nft insert rule "$NFT_CHAIN" ${match} accept comment '"${name}"'`;
    }),
    close: [
      `nft -a list chain "$NFT_CHAIN" | sed -n 's/.*comment "${name}" # handle //p' | while read -r handle; do nft delete rule "$NFT_CHAIN" handle "$handle"; done`,
    ],
  }),

  // A separate group, because a single rule can be deleted only by an ID that is not known later.
  openstack: ({ name, port, families }) => ({
    variables: [{ name: "BOOTSTRAP_PORT", meaning: "the name or ID of the network port of the bootstrap machine" }],
    open: [
      `openstack security group create ${name}`,
      ...families.flatMap(({ isIpv6: six, networks }) =>
        networks.map((network) =>
          [
            `openstack security group rule create --ingress --ethertype ${six ? "IPv6" : "IPv4"}`,
            `--protocol tcp --dst-port ${port} --remote-ip ${network} ${name}`,
          ].join(" "),
        ),
      ),
      `openstack port set --security-group ${name} "$BOOTSTRAP_PORT"`,
    ],
    close: [
      `openstack port unset --security-group ${name} "$BOOTSTRAP_PORT"`,
      `openstack security group delete ${name}`,
    ],
  }),
};
