import { describe, expect, it } from "vitest";
import { sampleText } from "../../../../src/core/sample/sample.ts";
import { type Block, exampleStack, metadata, only, resources } from "../../../support/stacks.ts";

const { infraID } = metadata;
const dual = { nodeSubnets: ["10.0.0.0/24", "fd00:10::/64"] };
const dualNetworks = {
  files: {
    "ocp/bootstrap.ign": sampleText("4.18", {
      networks: {
        machine: ["10.0.0.0/16", "fd00:10::/48"],
        cluster: ["10.128.0.0/14"],
        service: ["172.30.0.0/16"],
      },
    }),
  },
};
const nicOf = (...args: [object?, object?, object?]) =>
  only(exampleStack("azure", ...args), "azurerm_network_interface") as Block & {
    ip_configuration: Block[];
    lifecycle?: { precondition: { condition: string; error_message: string }[] };
  };

describe("the machine's network interface on Azure", () => {
  it("is in the control plane's subnet, with an address that Azure picks", () => {
    expect(nicOf({ subscriptionId: "00000000-0000-0000-0000-000000000000" })).toMatchObject({
      name: `${infraID}-bootstrap-nic`,
      resource_group_name: `${infraID}-rg`,
      ip_configuration: [
        {
          name: "ipv4",
          primary: true,
          subnet_id: `/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/${infraID}-rg/providers/Microsoft.Network/virtualNetworks/${infraID}-vnet/subnets/${infraID}-master-subnet`,
          private_ip_address_allocation: "Dynamic",
        },
      ],
    });
    expect(nicOf().lifecycle).toEqual({
      ignore_changes: ["ip_configuration"],
      replace_triggered_by: [expect.stringMatching(/^terraform_data\.payload_replacement_/)],
    });
  });

  it("takes the subscription of the credentials, and a network of another group", () => {
    const names = { networkResourceGroupName: "net", virtualNetwork: "v", controlPlaneSubnet: "s" };
    expect(nicOf(names).ip_configuration[0]?.subnet_id).toBe(
      "/subscriptions/${data.azurerm_client_config.client.subscription_id}/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/v/subnets/s",
    );
  });

  it("has the address that the config fixes, if it lies in the subnet and is free for machines", () => {
    const nic = nicOf({}, { tunnel: { address: "10.0.0.9" } });
    expect(nic.ip_configuration).toEqual([
      expect.objectContaining({ private_ip_address_allocation: "Static", private_ip_address: "10.0.0.9" }),
    ]);
    const [precondition] = nic.lifecycle?.precondition ?? [];
    expect(precondition?.condition).toMatch(/for n in data\.azurerm_subnet\.[\w-]+\.address_prefixes :/);
    expect(precondition?.condition).toContain("for i in [0, 1, 2, 3, -1] :");
    expect(precondition?.error_message).toContain(`tunnel.address 10.0.0.9 is not an address for machines`);
  });

  it("has an IPv6 address too if nodes have", () => {
    expect(nicOf(dual).ip_configuration).toMatchObject([
      { name: "ipv4", private_ip_address_allocation: "Dynamic" },
      { name: "ipv6", private_ip_address_version: "IPv6", private_ip_address_allocation: "Dynamic" },
    ]);
  });

  it("fixes an IPv6 address as Azure spells it, and that is the one that nodes dial", () => {
    const stack = exampleStack("azure", dual, { tunnel: { address: "fd00:10::00:0009" } }, dualNetworks);
    const nic = only(stack, "azurerm_network_interface") as Block & { ip_configuration: Block[] };
    expect(nic.ip_configuration).toMatchObject([
      { private_ip_address_allocation: "Dynamic" },
      { private_ip_address_allocation: "Static", private_ip_address: "fd00:10::9" },
    ]);
    expect(JSON.stringify(nic.lifecycle)).toContain('cidrhost(\\"fd00:10::9/');
    expect(stack.output.bootstrap_private_ip?.value).toBe(
      '${try(azurerm_network_interface.network-interface.private_ip_addresses[1], "::")}',
    );
  });

  it("has a public address if the config says so", () => {
    const stack = exampleStack("azure", { publicIp: true });
    expect(only(stack, "azurerm_public_ip")).toMatchObject({
      name: `${infraID}-bootstrap-ssh-pip`,
      sku: "Standard",
      allocation_method: "Static",
    });
    expect(nicOf({ publicIp: true }).ip_configuration[0]?.public_ip_address_id).toMatch(/^\$\{azurerm_public_ip\./);
    expect(stack.output.bootstrap_public_ip?.value).toMatch(/^\$\{azurerm_public_ip\.[\w-]+\.ip_address\}$/);
    expect(resources(exampleStack("azure"), "azurerm_public_ip")).toEqual([]);
  });
});
