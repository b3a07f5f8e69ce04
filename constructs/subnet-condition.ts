/**
 * A precondition: the address lies in the subnet, whose network only the cloud knows. No provider checks that before the
 * API does.
 * @param cidr reference to the subnet's network, like data.aws_subnet.x.cidr_block
 */
export function addressInSubnet(address: string, cidr: string, subnet: string) {
  return {
    condition: `\${cidrhost("${address}/\${split("/", ${cidr})[1]}", 0) == cidrhost(${cidr}, 0)}`,
    errorMessage: `tunnel.address ${address} is not in the subnet ${subnet}: give a free address of it, or \`address: detect\`.`,
  };
}
