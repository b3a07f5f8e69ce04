import { describe, expect, it } from "vitest";
import { type Block, exampleStack, metadata, resources } from "../../../support/stacks.ts";

const { infraID } = metadata;
type Rule = Block & { lifecycle: { precondition: { condition: string; error_message: string }[] } };
const rulesOf = (options?: object, rest?: object) =>
  (resources(exampleStack("azure", options, rest), "azurerm_network_security_rule") as Rule[]).sort(
    (a, b) => Number(a.priority) - Number(b.priority),
  );
const address = (index: number) => {
  const found = `azurerm_network_interface.network-interface.private_ip_addresses[${index}]`;
  return index === 0 ? `\${${found}}` : `\${try(${found}, "::")}`;
};

describe("the rules for 8091 on Azure", () => {
  it("are one for each network of nodes, to the machine's address only", () => {
    const rule = (index: number, source: string) =>
      expect.objectContaining({
        name: `${infraID}-bootstrap-konnectivity-${index}`,
        resource_group_name: `${infraID}-rg`,
        network_security_group_name: `${infraID}-nsg`,
        priority: 300 + index,
        direction: "Inbound",
        access: "Allow",
        protocol: "Tcp",
        source_address_prefix: source,
        source_port_range: "*",
        destination_address_prefix: address(0),
        destination_port_range: "8091",
      }) as object;
    expect(rulesOf()).toEqual([rule(0, "10.0.0.0/24"), rule(1, "10.0.1.0/24")]);
  });

  it("go from IPv6 nodes to the IPv6 address", () => {
    expect(rulesOf({ nodeSubnets: ["fd00:10::/64", "10.0.0.0/24"] })).toMatchObject([
      { source_address_prefix: "fd00:10::/64", destination_address_prefix: address(1) },
      { source_address_prefix: "10.0.0.0/24", destination_address_prefix: address(0) },
    ]);
  });

  it("are in the group that the config names", () => {
    const group = { networkSecurityGroup: "nsg", networkSecurityGroupResourceGroupName: "net" };
    for (const rule of rulesOf(group))
      expect(rule).toMatchObject({ network_security_group_name: "nsg", resource_group_name: "net" });
  });

  it("take the priorities from the given one on, and none that another rule has", () => {
    const rules = rulesOf({ firewallPriority: 1000, allowedBootstrapSshCidr: "192.0.2.0/24" });
    expect(rules.map(({ priority }) => priority)).toEqual([1000, 1001, 1050]);
    for (const { priority, lifecycle } of rules) {
      const [precondition] = lifecycle.precondition;
      expect(precondition?.condition).toMatch(
        /^\$\{length\(\[for r in data\.azurerm_network_security_group\.[\w-]+\.security_rule : r\.name if r\.direction == "Inbound" && r\.priority == \d+ && !contains\(.*\)\]\) == 0\}$/,
      );
      expect(precondition?.condition).toContain(`r.priority == ${String(priority)} `);
      // Our own are no obstacle to the next plan.
      for (const id of ["konnectivity-0", "konnectivity-1", "ssh"])
        expect(precondition?.condition).toContain(`"${infraID}-bootstrap-${id}"`);
      expect(precondition?.error_message).toContain(`Priority ${String(priority)} of ${infraID}-nsg is taken by`);
    }
  });

  it("stay as they are when another network of nodes, or another port, comes", () => {
    const more = rulesOf({
      nodeSubnets: ["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24"],
      allowedBootstrapSshCidr: "192.0.2.0/24",
      allowedBootstrapJournalCidr: "192.0.2.0/24",
    });
    const places = (rules: Rule[]) => rules.map(({ name, priority }) => [name, priority]);
    expect(places(more)).toEqual(expect.arrayContaining(places(rulesOf())));
    expect(places(more)).toEqual(expect.arrayContaining(places(rulesOf({ allowedBootstrapSshCidr: "192.0.2.0/24" }))));
    expect(places(more)).toHaveLength(5);
  });

  it.each([
    ["firewall: external", { firewall: "external" }],
    ["tunnel: off", { tunnel: "off" }],
  ])("are not made with %s, and the group is not even read", (_, rest) => {
    const stack = exampleStack("azure", {}, rest);
    expect(resources(stack, "azurerm_network_security_rule")).toEqual([]);
    expect(stack.data).not.toHaveProperty("azurerm_network_security_group");
  });

  it("external: the rule that is needed is an output", () => {
    const stack = exampleStack("azure", {}, { firewall: "external" });
    expect(stack.output.firewall_rule_needed?.value).toMatchObject({
      protocol: "tcp",
      port: 8091,
      destination: { address: address(0) },
    });
    expect(exampleStack("azure").output).not.toHaveProperty("firewall_rule_needed");
  });

  it("ssh and journal are open to whom the config says, at the machine's address, and else to nobody", () => {
    expect(
      rulesOf(
        {
          nodeSubnets: ["fd00:10::/64"],
          allowedBootstrapSshCidr: "192.0.2.0/24",
          allowedBootstrapJournalCidr: "2001:db8::/32",
        },
        { tunnel: "off" },
      ),
    ).toMatchObject([
      {
        name: `${infraID}-bootstrap-ssh`,
        priority: 350,
        source_address_prefix: "192.0.2.0/24",
        destination_address_prefix: address(0),
        destination_port_range: "22",
      },
      {
        name: `${infraID}-bootstrap-journal`,
        priority: 351,
        source_address_prefix: "2001:db8::/32",
        destination_address_prefix: address(1),
        destination_port_range: "19531",
      },
    ]);
    for (const rule of rulesOf()) expect(rule.destination_port_range).toBe("8091");
  });
});
