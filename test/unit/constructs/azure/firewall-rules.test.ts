import { NetworkSecurityRule } from "@cdktf/provider-azurerm/lib/network-security-rule/index.js";
import { describe, expect, it } from "vitest";
import { FirewallRules } from "../../../../constructs/azure/firewall-rules.ts";
import { bootstrapIngress, type IngressProps, type NetworkSource } from "../../../../constructs/shared/ingress.ts";
import { networkInterfaceIn, specIn } from "../../../support/azure.ts";
import { payloadIn, synthScope } from "../../../support/constructs.ts";
import { type Block, resources } from "../../../support/stacks.ts";

type Rule = Block & { lifecycle: { precondition: { condition: string; error_message: string }[] } };

function stackWith(
  nodeSubnets: readonly string[],
  props: Partial<IngressProps<NetworkSource>> = {},
  firstPriority = 300,
) {
  return synthScope((scope) => {
    const spec = specIn(scope, payloadIn(scope), { ipv6: true });
    new FirewallRules(scope, "firewall-rule", {
      name: "sample-bootstrap",
      ingress: bootstrapIngress<NetworkSource>({
        nodes: nodeSubnets.map((network) => ({ network })),
        tunnelPort: 8091,
        ...props,
      }),
      networkSecurityGroup: "sample-nsg",
      resourceGroupName: "net-rg",
      firstPriority,
      networkInterface: networkInterfaceIn(scope, spec),
      spec,
    });
  });
}

/** The rules in the order of their priorities. */
const rulesOf = (...args: Parameters<typeof stackWith>) =>
  (resources(stackWith(...args), NetworkSecurityRule.tfResourceType) as Rule[]).sort(
    (a, b) => Number(a.priority) - Number(b.priority),
  );

const address = (index: number) => {
  const found = `azurerm_network_interface.network-interface.private_ip_addresses[${index}]`;
  return index === 0 ? `\${${found}}` : `\${try(${found}, "::")}`;
};
const subnets = ["10.0.0.0/24", "10.0.1.0/24"];

describe("the firewall rules on Azure", () => {
  it("allow 8091 from each network of nodes, only to the machine's address", () => {
    const rule = (index: number, source: string) =>
      expect.objectContaining({
        name: `sample-bootstrap-konnectivity-${index}`,
        resource_group_name: "net-rg",
        network_security_group_name: "sample-nsg",
        priority: 300 + index,
        direction: "Inbound",
        access: "Allow",
        protocol: "Tcp",
        source_address_prefix: source,
        source_port_range: "*",
        destination_address_prefix: address(0),
        destination_port_range: "8091",
      }) as object;
    expect(rulesOf(subnets)).toEqual([rule(0, "10.0.0.0/24"), rule(1, "10.0.1.0/24")]);
  });

  it("keep another port than 8091 as long as the machine, and a plan says if the config's is another", () => {
    const rules = rulesOf(subnets, { tunnelPort: 9591 });
    for (const rule of rules)
      expect(rule).toMatchObject({
        destination_port_range: "9591",
        lifecycle: {
          ignore_changes: ["destination_port_range"],
          replace_triggered_by: [expect.stringMatching(/^terraform_data\.payload_replacement_/)],
        },
      });
    const { check } = stackWith(subnets, { tunnelPort: 9591 });
    expect(Object.keys(check)).toEqual(["machine_has_rule_konnectivity_0", "machine_has_rule_konnectivity_1"]);
    expect(check.machine_has_rule_konnectivity_1).toMatchObject({
      assert: [
        {
          condition: expect.stringMatching(
            /^\$\{azurerm_network_security_rule\.[\w-]*konnectivity-1_\w+\.destination_port_range == "9591"\}$/,
          ) as string,
          error_message: expect.stringMatching(/it is 9591 in the config now\. .*replaceMachine: true/) as string,
        },
      ],
    });
    for (const rule of rulesOf(subnets)) expect(Object.keys(rule.lifecycle)).toEqual(["precondition"]);
    expect(stackWith(subnets).check).toEqual({});
  });

  it("keep their names when another network is added to the first", () => {
    expect(rulesOf(["10.0.0.0/24"])).toMatchObject([{ name: "sample-bootstrap-konnectivity-0" }]);
  });

  it("allow IPv6 nodes to the IPv6 address", () => {
    expect(rulesOf(["fd00:10::/64", "10.0.0.0/24"])).toMatchObject([
      { source_address_prefix: "fd00:10::/64", destination_address_prefix: address(1) },
      { source_address_prefix: "10.0.0.0/24", destination_address_prefix: address(0) },
    ]);
  });

  it("count priorities from the first one, and refuse one that another rule has", () => {
    const rules = rulesOf(subnets, { allowedBootstrapSshCidr: "192.0.2.0/24" }, 1000);
    expect(rules.map(({ priority }) => priority)).toEqual([1000, 1001, 1050]);
    for (const { priority, lifecycle } of rules) {
      const [precondition] = lifecycle.precondition;
      expect(precondition?.condition).toMatch(
        /^\$\{length\(\[for r in data\.azurerm_network_security_group\.[\w-]+\.security_rule : r\.name if r\.direction == "Inbound" && r\.priority == \d+ && !contains\(.*\)\]\) == 0\}$/,
      );
      expect(precondition?.condition).toContain(`r.priority == ${String(priority)} `);
      // Our own rules are no obstacle to the next plan.
      for (const id of ["konnectivity-0", "konnectivity-1", "ssh"])
        expect(precondition?.condition).toContain(`"sample-bootstrap-${id}"`);
      expect(precondition?.error_message).toContain(`Priority ${String(priority)} of sample-nsg is taken by`);
      expect(precondition?.error_message).toContain("the rules are between 1000 and 1050.");
    }
  });

  it("keep their priorities when another network or port is added", () => {
    const ssh = { allowedBootstrapSshCidr: "192.0.2.0/24" };
    const more = rulesOf([...subnets, "10.0.2.0/24"], { ...ssh, allowedBootstrapJournalCidr: "192.0.2.0/24" });
    const places = (rules: Rule[]) => rules.map(({ name, priority }) => [name, priority]);
    expect(places(more)).toEqual(expect.arrayContaining(places(rulesOf(subnets))));
    expect(places(more)).toEqual(expect.arrayContaining(places(rulesOf(subnets, ssh))));
    expect(places(more)).toHaveLength(5);
  });

  it("allow ssh and the journal from networks, to the machine's address of the same family", () => {
    const networks = { allowedBootstrapSshCidr: "192.0.2.0/24", allowedBootstrapJournalCidr: "2001:db8::/32" };
    expect(rulesOf([], { tunnelPort: undefined, ...networks })).toMatchObject([
      {
        name: "sample-bootstrap-ssh",
        priority: 350,
        source_address_prefix: "192.0.2.0/24",
        destination_address_prefix: address(0),
        destination_port_range: "22",
      },
      {
        name: "sample-bootstrap-journal",
        priority: 351,
        source_address_prefix: "2001:db8::/32",
        destination_address_prefix: address(1),
        destination_port_range: "19531",
      },
    ]);
  });
});
