export interface SubnetCondition {
  readonly address: string;
  /** References to the subnet's networks, which only the cloud knows, like [data.aws_subnet.x.cidr_block]. */
  readonly networks: string;
  readonly subnet: string;
  /** The addresses in each network that the cloud keeps for itself: by their number, from the end if negative. */
  readonly kept: readonly number[];
  /** The same in words. */
  readonly keptInWords: string;
}

/** A precondition: the address lies in the subnet and is free for machines. No provider checks that before the API does. */
export function addressForMachines({ address, networks, subnet, kept, keptInWords }: SubnetCondition) {
  const inside = `cidrhost("${address}/\${split("/", n)[1]}", 0) == cidrhost(n, 0)`;
  const own = `contains([for i in [${kept.join(", ")}] : cidrhost(n, i)], "${address}")`;
  return {
    // A network of the other family, or none, is not a network that it lies in.
    condition: `\${anytrue([for n in ${networks} : try(${inside} && !${own}, false)])}`,
    errorMessage: `tunnel.address ${address} is not an address for machines in the subnet ${subnet} (${keptInWords}): give a free one of it, or \`address: detect\`.`,
  };
}
