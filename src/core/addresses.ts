import { Address4, Address6 } from "ip-address";

/** Excludes zones: anything may follow their "%", and some of these addresses go into a shell script. */
const isPlain = (text: string) => /^[0-9a-f:./]+$/i.test(text);

/** An IP address without zone, brackets or prefix. */
export function isIpAddress(text: string): boolean {
  return isPlain(text) && !text.includes("/") && (Address4.isValid(text) || Address6.isValid(text));
}

export function isIpv6(text: string): boolean {
  return isIpAddress(text) && text.includes(":");
}

/** A network of IPv6 addresses, like fd00::/48. */
export function isIpv6Network(text: string): boolean {
  return isIpv6(text.split("/")[0] ?? "");
}

/** "This network" (RFC 1122), and IPv6 addresses that only wrap one of IPv4, loopback and unspecified included. */
const neverDialed = ["0.0.0.0/8", "::/96", "::ffff:0:0/96"];

/** An address that others can dial: not loopback, unspecified, link-local, multicast or reserved. */
export function isDialable(text: string): boolean {
  if (!isIpAddress(text) || liesIn(text, neverDialed)) return false;
  const address = isIpv6(text) ? new Address6(text) : new Address4(text);
  if (address instanceof Address4 && (address.isLoopback() || address.isReserved())) return false;
  return !address.isLinkLocal() && !address.isMulticast();
}

/** The spelling that the Linux kernel uses, so that addresses can be compared as text. */
export function canonicalIp(address: string): string {
  return isIpv6(address) ? new Address6(address).correctForm() : address;
}

/** A network like 10.0.0.0/16. */
export function isNetwork(text: string): boolean {
  return parseNetwork(text) !== undefined;
}

/** A network spelled by its first address: 10.0.0.0/16, not 10.0.3.7/16. */
export function isNetworkStart(text: string): boolean {
  const network = parseNetwork(text);
  return network !== undefined && text === `${network.startAddress().correctForm()}/${network.subnetMask}`;
}

/** Whether an address lies in one of these networks. */
export function liesIn(address: string, networks: readonly string[]): boolean {
  return networks.some((network) => networksOverlap(isIpv6(address) ? `${address}/128` : `${address}/32`, network));
}

/** Whether two networks have an address in common. */
export function networksOverlap(a: string, b: string): boolean {
  const [x, y] = [parseNetwork(a), parseNetwork(b)];
  if (x instanceof Address4 && y instanceof Address4) return x.isInSubnet(y) || y.isInSubnet(x);
  if (x instanceof Address6 && y instanceof Address6) return x.isInSubnet(y) || y.isInSubnet(x);
  return false;
}

/** Whether all of a network lies in another. */
export function networkContains(outer: string, inner: string): boolean {
  const bits = (network: string) => Number(network.split("/")[1]);
  return networksOverlap(outer, inner) && bits(outer) <= bits(inner);
}

function parseNetwork(text: string): Address4 | Address6 | undefined {
  if (!isPlain(text) || !text.includes("/")) return undefined;
  if (Address4.isValid(text)) return new Address4(text);
  return Address6.isValid(text) ? new Address6(text) : undefined;
}
