import { describe, expect, it } from "vitest";
import { exampleStack, only, resources } from "../../../support/stacks.ts";

const type = "azurerm_network_interface_backend_address_pool_association";

describe("the machine behind the API's load balancers on Azure", () => {
  const stack = exampleStack("azure");

  it("joins the pools that are given, with its IPv4 address", () => {
    const membership = (pool: string) =>
      expect.objectContaining({
        network_interface_id: "${azurerm_network_interface.network-interface.id}",
        ip_configuration_name: "ipv4",
        backend_address_pool_id: expect.stringMatching(new RegExp(`/backendAddressPools/${pool}$`)) as string,
      }) as object;
    expect(resources(stack, type)).toEqual([membership("prod-x7k2p"), membership("internal-lb-backend")]);
  });

  it("joins before it boots: a pool may be its way out", () => {
    for (const id of Object.keys(stack.resource[type] ?? {}))
      expect(only(stack, "azurerm_linux_virtual_machine").depends_on).toContain(`${type}.${id}`);
  });

  it("joins none if something else balances the API", () => {
    expect(resources(exampleStack("azure", { backendAddressPoolIds: [] }), type)).toEqual([]);
  });
});
