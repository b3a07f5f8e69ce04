export interface FreeAddressProps {
  readonly address: string;
  /** A Terraform expression for the subnet's networks, like `[data.aws_subnet.x.cidr_block]`. */
  readonly networks: string;
  /** The subnet's name, for the error message. */
  readonly subnet: string;
  /** Addresses in each network that the cloud reserves: by index, negative from the end. */
  readonly reserved: readonly number[];
  /** The same, for the error message. */
  readonly reservedInWords: string;
}

/** A precondition: the address is in the subnet, and the cloud does not reserve it. No provider checks that in a plan. */
export function freeAddressIn({ address, networks, subnet, reserved, reservedInWords }: FreeAddressProps) {
  const inside = `cidrhost("${address}/\${split("/", n)[1]}", 0) == cidrhost(n, 0)`;
  const isReserved = `contains([for i in [${reserved.join(", ")}] : cidrhost(n, i)], "${address}")`;
  return {
    // cidrhost fails on a network of the other family and on an empty one: the address is not in those.
    condition: `\${anytrue([for n in ${networks} : try(${inside} && !${isReserved}, false)])}`,
    errorMessage: `tunnel.address ${address} is not an address for machines in the subnet ${subnet} (${reservedInWords}): give a free one of it, or \`address: detect\`.`,
  };
}
