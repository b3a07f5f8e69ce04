import { afterAll, describe, expect, it } from "vitest";
import { network, ScratchNode } from "../../support/node.ts";
import { samplePayload } from "../../support/payload.ts";
import type { SampleProps } from "../../../src/core/sample/sample.ts";

const nodes: ScratchNode[] = [];
afterAll(() => {
  for (const node of nodes) node.remove();
});

function find(setUp: string, tunnel: Record<string, unknown> = {}, sample: SampleProps = {}) {
  const node = new ScratchNode(samplePayload("4.18", tunnel, sample));
  nodes.push(node);
  const { status, stdout, stderr } = node.run("konnectivity-bootstrap-address.sh", setUp);
  return { status, address: stdout.trim(), stderr };
}

const ipv6Networks = { machine: ["fd00:1::/48"], cluster: ["fd01::/48"], service: ["fd02::/112"] };
const dualNetworks = {
  machine: ["10.0.0.0/16", "fd00:1::/48"],
  cluster: ["10.128.0.0/14", "fd01::/48"],
  service: ["172.30.0.0/16", "fd02::/112"],
};

describe("the bootstrap address is found", () => {
  it.each<[string, string, string, SampleProps?]>([
    ["in the machine network", network(["10.0.3.7/24"], "10.0.3.1"), "10.0.3.7"],
    ["without a default route", network(["10.0.3.7/24"]), "10.0.3.7"],
    [
      "in the machine network before a public address with the default route",
      `${network(["203.0.113.9/24"], "203.0.113.1", "ens3")}\n${network(["10.0.3.7/24"], undefined, "ens4")}`,
      "10.0.3.7",
    ],
    [
      "as the machine's own, not the virtual address that the config names",
      network(["10.0.3.5/24", "10.0.3.7/24"], "10.0.3.1"),
      "10.0.3.7",
      { platform: { baremetal: { apiVIPs: ["10.0.3.5"], ingressVIPs: ["10.0.3.6"] } } },
    ],
    ["as the machine's own, not a host-prefix address", network(["10.0.3.5/32", "10.0.3.7/24"]), "10.0.3.7"],
    ["as IPv6", network(["fd00:1::7/64", "2001:db8::7/64"], "fd00:1::1"), "fd00:1::7", { networks: ipv6Networks }],
    [
      "as IPv4 in a dual-stack cluster that prefers it",
      network(["fd00:1::7/64", "10.0.3.7/24"]),
      "10.0.3.7",
      { networks: dualNetworks },
    ],
    [
      "as IPv6 in a dual-stack cluster that prefers it",
      network(["fd00:1::7/64", "10.0.3.7/24"]),
      "fd00:1::7",
      { networks: { ...dualNetworks, service: ["fd02::/112", "172.30.0.0/16"] } },
    ],
    [
      "as IPv4 in a dual-stack cluster that prefers IPv6 where the machine has none",
      network(["10.0.3.7/24"]),
      "10.0.3.7",
      { networks: { ...dualNetworks, service: ["fd02::/112", "172.30.0.0/16"] } },
    ],
    [
      "not as a deprecated IPv6 address",
      `${network(["fd00:1::7/64"])}\nip address add fd00:1::8/64 dev ens3 nodad\nip address change fd00:1::7/64 dev ens3 preferred_lft 0`,
      "fd00:1::8",
      { networks: ipv6Networks },
    ],
    [
      "not as an IPv6 address that is still being checked for duplicates",
      // The check takes a minute here, so that it is still under way when the script looks.
      `${network(["fd00:1::7/64"])}\necho 60 >/proc/sys/net/ipv6/conf/ens3/dad_transmits\nip address add fd00:1::8/64 dev ens3\nip address add fd00:1::6/64 dev ens3`,
      "fd00:1::7",
      { networks: ipv6Networks },
    ],
  ])("%s", (_, setUp, address, sample) => {
    expect(find(setUp, {}, sample)).toMatchObject({ status: 0, address });
  });

  it("outside the machine network on the default route's device, the private one first, and says so", () => {
    const setUp = `${network(["198.51.100.4/24", "192.168.7.4/24"], "198.51.100.1", "ens3")}\n${network(["172.20.0.4/24"], undefined, "ens4")}`;
    const found = find(setUp);
    expect(found).toMatchObject({ status: 0, address: "192.168.7.4" });
    expect(found.stderr).toContain(
      "no address of this machine is in the machine networks (10.0.0.0/16); taking 192.168.7.4",
    );
  });

  it("when the machine networks are not known", () => {
    const found = find(network(["192.168.7.4/24"]), {}, { networks: { machine: [], cluster: [], service: [] } });
    expect(found).toMatchObject({ status: 0, address: "192.168.7.4" });
  });
});

describe("the bootstrap address is never guessed", () => {
  it.each([
    ["no address at all", "ip link set lo up"],
    ["only link-local ones", network(["169.254.7.7/16", "fe80::7/64"])],
    ["no network device at all", ":"],
  ])("with %s", (_, setUp) => {
    const { status, address, stderr } = find(setUp);
    expect({ status, address }).toEqual({ status: 1, address: "" });
    expect(stderr).toContain("this machine has no address that the tunnel could use");
  });
});

describe("a given address", () => {
  it("is taken, in the kernel's spelling", () => {
    const setUp = network(["fd00:1::7/64"]);
    expect(find(setUp, { address: "FD00:1:0:0::7" })).toMatchObject({ status: 0, address: "fd00:1::7" });
  });

  it("that the machine does not have is refused, because the server could not listen on it", () => {
    const { status, address, stderr } = find(network(["10.0.3.7/24"]), { address: "10.0.3.8" });
    expect({ status, address }).toEqual({ status: 1, address: "" });
    expect(stderr).toContain("does not have the address 10.0.3.8 (yet)");
  });

  it("behind NAT works when the server listens on all addresses", () => {
    const tunnel = { address: "203.0.113.50", listenAddress: "all" };
    expect(find(network(["10.0.3.7/24"]), tunnel)).toMatchObject({ status: 0, address: "203.0.113.50" });
  });

  it("by name leaves the listening address to be found", () => {
    expect(find(network(["10.0.3.7/24"]), { address: "bootstrap.example.com" })).toMatchObject({
      status: 0,
      address: "10.0.3.7",
    });
  });

  it("to listen on must be the machine's", () => {
    const { stderr, status } = find(network(["10.0.3.7/24"]), { listenAddress: "192.168.9.9" });
    expect(status).toBe(1);
    expect(stderr).toContain("192.168.9.9");
  });
});
