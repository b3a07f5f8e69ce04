import type { FirewallProgram } from "../../src/core/konnectivity/firewall-commands.ts";

/** Azure's own command line: rules in a network security group. */
export const firewallCommands: FirewallProgram = ({ name, port, families, infraId }) => {
  const group = '--resource-group "$RESOURCE_GROUP" --nsg-name "$NETWORK_SECURITY_GROUP"';
  return {
    variables: [
      { name: "RESOURCE_GROUP", meaning: `the resource group of the network security group, like ${infraId}-rg` },
      { name: "NETWORK_SECURITY_GROUP", meaning: `the network security group of the cluster, like ${infraId}-nsg` },
      {
        name: "PRIORITY",
        meaning: "a priority that no rule of that group has, like 300; with IPv6, the next one too",
      },
    ],
    open: families.map(({ suffix, networks, address }, index) =>
      [
        `az network nsg rule create ${group} --name ${name}${suffix}`,
        `--priority ${index === 0 ? '"$PRIORITY"' : `$((PRIORITY + ${index}))`} --direction Inbound --access Allow --protocol Tcp`,
        `--source-address-prefixes ${networks.join(" ")} --source-port-ranges '*'`,
        `--destination-address-prefixes ${address} --destination-port-ranges ${port}`,
      ].join(" "),
    ),
    close: families.map(({ suffix }) => `az network nsg rule delete ${group} --name ${name}${suffix}`),
  };
};
