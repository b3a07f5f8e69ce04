import { NetworkInterface } from "@cdktf/provider-azurerm/lib/network-interface/index.js";
import { PublicIp } from "@cdktf/provider-azurerm/lib/public-ip/index.js";
import { TerraformOutput } from "cdktf";
import { describe, expect, it } from "vitest";
import type { MachineOptions } from "../../../../constructs/azure/machine-spec.ts";
import { networkInterfaceIn, specIn, subscriptionId } from "../../../support/azure.ts";
import { payloadIn, synthScope } from "../../../support/constructs.ts";
import { type Block, only, resources } from "../../../support/stacks.ts";

function stackWith(changed: Partial<MachineOptions> = {}) {
  const stack = synthScope((scope) => {
    const face = networkInterfaceIn(scope, specIn(scope, payloadIn(scope), changed));
    const outputs = {
      private: face.privateIp,
      public: face.publicIp ?? "none",
      ipv4: face.addressFor("10.0.0.0/24"),
      ipv6: face.addressFor("fd00:10::/64"),
    };
    for (const [id, value] of Object.entries(outputs)) new TerraformOutput(scope, id, { value });
  });
  const nic = only(stack, NetworkInterface.tfResourceType) as Block & {
    ip_configuration: Block[];
    lifecycle: { precondition?: { condition: string; error_message: string }[] };
  };
  const addresses = Object.fromEntries(Object.entries(stack.output).map(([id, { value }]) => [id, value]));
  return { stack, nic, addresses };
}
const addressAt = (index: number) => {
  const found = `azurerm_network_interface.network-interface.private_ip_addresses[${index}]`;
  return index === 0 ? `\${${found}}` : `\${try(${found}, "::")}`;
};

describe("the machine's network interface on Azure", () => {
  it("is in the subnet, with an address that Azure assigns", () => {
    const { nic, addresses } = stackWith();
    expect(nic).toMatchObject({
      name: "sample-bootstrap-nic",
      resource_group_name: "sample-rg",
      ip_configuration: [
        {
          name: "ipv4",
          primary: true,
          subnet_id: `/subscriptions/${subscriptionId}/resourceGroups/net-rg/providers/Microsoft.Network/virtualNetworks/sample-vnet/subnets/master-subnet`,
          private_ip_address_allocation: "Dynamic",
        },
      ],
    });
    expect(addresses).toMatchObject({ private: addressAt(0), public: "none" });
  });

  it("keeps its addresses, and is replaced only with the machine", () => {
    expect(stackWith().nic.lifecycle).toEqual({
      ignore_changes: ["ip_configuration"],
      replace_triggered_by: [expect.stringMatching(/^terraform_data\.payload_replacement_/)],
    });
  });

  it("has the fixed address, if the subnet contains it and Azure does not reserve it", () => {
    const { nic } = stackWith({ fixedAddress: "10.0.0.9" });
    expect(nic.ip_configuration).toEqual([
      expect.objectContaining({ private_ip_address_allocation: "Static", private_ip_address: "10.0.0.9" }),
    ]);
    const [precondition] = nic.lifecycle.precondition ?? [];
    expect(precondition?.condition).toMatch(/for n in data\.azurerm_subnet\.[\w-]+\.address_prefixes :/);
    expect(precondition?.condition).toContain("for i in [0, 1, 2, 3, -1] :");
    expect(precondition?.error_message).toContain("tunnel.address 10.0.0.9 is not an address for machines");
  });

  it("has an IPv6 address in addition if nodes have one", () => {
    const { nic, addresses } = stackWith({ ipv6: true });
    expect(nic.ip_configuration).toMatchObject([
      { name: "ipv4", private_ip_address_allocation: "Dynamic" },
      { name: "ipv6", private_ip_address_version: "IPv6", private_ip_address_allocation: "Dynamic" },
    ]);
    expect(addresses).toMatchObject({ private: addressAt(0), ipv4: addressAt(0), ipv6: addressAt(1) });
  });

  it("has a fixed IPv6 address in canonical form, which the nodes dial", () => {
    const { nic, addresses } = stackWith({ ipv6: true, fixedAddress: "fd00:10::00:0009" });
    expect(nic.ip_configuration).toMatchObject([
      { private_ip_address_allocation: "Dynamic" },
      { private_ip_address_allocation: "Static", private_ip_address: "fd00:10::9" },
    ]);
    expect(JSON.stringify(nic.lifecycle)).toContain('cidrhost(\\"fd00:10::9/');
    expect(addresses.private).toBe(addressAt(1));
  });

  it("has a public address only if wanted", () => {
    const { stack, nic, addresses } = stackWith({ publicIp: true });
    expect(stack).toHaveResourceWithProperties(PublicIp, {
      name: "sample-bootstrap-ssh-pip",
      sku: "Standard",
      allocation_method: "Static",
    });
    expect(nic.ip_configuration[0]?.public_ip_address_id).toMatch(/^\$\{azurerm_public_ip\./);
    expect(addresses.public).toMatch(/^\$\{azurerm_public_ip\.[\w-]+\.ip_address\}$/);
    expect(resources(stackWith().stack, PublicIp.tfResourceType)).toEqual([]);
  });
});
