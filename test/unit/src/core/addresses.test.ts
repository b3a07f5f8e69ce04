import { describe, expect, it } from "vitest";
import {
  canonicalIp,
  isDialable,
  isNetworkStart,
  liesIn,
  networkContains,
  networksOverlap,
} from "../../../../src/core/addresses.ts";

/** The last address before a range that nobody can dial, its first and last one, and the first after it. */
const ranges: Record<string, readonly (readonly [string, boolean])[]> = {
  "this network": [
    ["0.0.0.0", false],
    ["0.255.255.255", false],
    ["1.0.0.0", true],
  ],
  "IPv4 loopback": [
    ["126.255.255.255", true],
    ["127.0.0.0", false],
    ["127.255.255.255", false],
    ["128.0.0.0", true],
  ],
  "IPv4 link-local": [
    ["169.253.255.255", true],
    ["169.254.0.0", false],
    ["169.254.255.255", false],
    ["169.255.0.0", true],
  ],
  "IPv4 multicast, reserved and broadcast": [
    ["223.255.255.255", true],
    ["224.0.0.0", false],
    ["239.255.255.255", false],
    ["240.0.0.0", false],
    ["255.255.255.254", false],
    ["255.255.255.255", false],
  ],
  "IPv6 unspecified, loopback and IPv4-compatible": [
    ["::", false],
    ["::1", false],
    ["::10.0.0.5", false],
    ["::ffff:ffff", false],
    ["::1:0:0", true],
  ],
  "IPv4-mapped": [
    ["::fffe:ffff:ffff", true],
    ["::ffff:0:0", false],
    ["::ffff:10.0.0.5", false],
    ["::FFFF:255.255.255.255", false],
    ["::1:0:0:0", true],
  ],
  "IPv6 link-local": [
    ["fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true],
    ["fe80::", false],
    ["febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false],
    ["fec0::", true],
  ],
  "IPv6 multicast": [
    ["feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true],
    ["ff00::", false],
    ["ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false],
  ],
  "private and documentation addresses": [
    ["10.0.0.5", true],
    ["192.168.255.255", true],
    ["100.64.0.1", true],
    ["192.0.2.7", true],
    ["fd00::10", true],
    ["2001:db8::5", true],
  ],
};

describe("an address that others can dial", () => {
  it.each(Object.entries(ranges))("is recognized at the borders of %s", (_, cases) => {
    expect(cases.map(([address]) => [address, isDialable(address)])).toEqual(cases);
  });

  it.each(["", "10.0.0", "10.0.0.256", "10.0.0.5/24", "[fd00::10]", "fd00::10%eth0", "node.example.com"])(
    "is an address in the first place, not %j",
    (text) => {
      expect(isDialable(text)).toBe(false);
    },
  );
});

describe("networks", () => {
  it.each([
    ["10.0.0.0/16", true],
    ["10.0.3.7/16", false],
    ["10.0.0.0/33", false],
    ["10.0.0.0", false],
    ["fd00::/48", true],
    ["FD00::/48", false],
    ["fd00::1/48", false],
  ])("%s is spelled by its first address: %s", (network, expected) => {
    expect(isNetworkStart(network)).toBe(expected);
  });

  it.each([
    ["10.0.0.0/16", "10.0.255.0/24", true, true],
    ["10.0.255.0/24", "10.0.0.0/16", true, false],
    ["10.0.0.0/16", "10.1.0.0/16", false, false],
    ["fd00::/48", "fd00::/64", true, true],
    ["0.0.0.0/0", "::/0", false, false],
  ])("%s and %s overlap: %s; the first contains the second: %s", (a, b, overlap, contains) => {
    expect([networksOverlap(a, b), networkContains(a, b)]).toEqual([overlap, contains]);
  });

  it.each([
    ["10.0.255.255", ["10.0.0.0/16"], true],
    ["10.1.0.0", ["10.0.0.0/16", "10.2.0.0/16"], false],
    ["fd00::10", ["10.0.0.0/16", "fd00::/64"], true],
    ["10.0.0.5", [], false],
  ])("%s lies in one of %j: %s", (address, networks, expected) => {
    expect(liesIn(address, networks)).toBe(expected);
  });

  it.each([
    ["10.0.0.5", "10.0.0.5"],
    ["FD00:0:0::0010", "fd00::10"],
    ["all", "all"],
  ])("%s is %s in the kernel's spelling", (address, spelled) => {
    expect(canonicalIp(address)).toBe(spelled);
  });
});
