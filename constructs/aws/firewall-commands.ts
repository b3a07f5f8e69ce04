import type { FirewallProgram } from "../../src/core/konnectivity/firewall-commands.ts";

/** AWS's own command line: a rule in a security group. */
export const firewallCommands: FirewallProgram = ({ port, families }) => {
  const rangesOf = (six: boolean) => families.filter((family) => family.isIpv6 === six).flatMap((f) => f.networks);
  const list = (key: string, field: string, networks: readonly string[]) =>
    networks.length === 0 ? [] : [`${key}=[${networks.map((network) => `{${field}=${network}}`).join(",")}]`];
  const permission = [
    `IpProtocol=tcp,FromPort=${port},ToPort=${port}`,
    ...list("IpRanges", "CidrIp", rangesOf(false)),
    ...list("Ipv6Ranges", "CidrIpv6", rangesOf(true)),
  ].join(",");
  // A variable in it ends the quotes and starts them again.
  const rest = `--group-id "$BOOTSTRAP_SECURITY_GROUP_ID" --ip-permissions '${permission.replaceAll(/"\$\w+"/g, "'$&'")}'`;
  return {
    variables: [
      {
        name: "BOOTSTRAP_SECURITY_GROUP_ID",
        meaning: "a security group of the bootstrap machine and no other, like sg-0123456789abcdef0",
      },
    ],
    open: [`aws ec2 authorize-security-group-ingress ${rest}`],
    close: [`aws ec2 revoke-security-group-ingress ${rest}`],
  };
};
