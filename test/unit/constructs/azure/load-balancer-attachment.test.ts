import { NetworkInterfaceBackendAddressPoolAssociation } from "@cdktf/provider-azurerm/lib/network-interface-backend-address-pool-association/index.js";
import { DataResource } from "cdktf";
import { describe, expect, it } from "vitest";
import { LoadBalancerAttachment } from "../../../../constructs/azure/load-balancer-attachment.ts";
import { networkInterfaceIn, specIn } from "../../../support/azure.ts";
import { payloadIn, synthScope, withoutHash } from "../../../support/constructs.ts";
import { resources } from "../../../support/stacks.ts";

const stackWith = (backendAddressPoolIds: readonly string[]) =>
  synthScope((scope) => {
    const networkInterface = networkInterfaceIn(scope, specIn(scope, payloadIn(scope)));
    const { attached } = new LoadBalancerAttachment(scope, "api-membership", {
      networkInterface,
      backendAddressPoolIds,
    });
    new DataResource(scope, "machine", { dependsOn: [...attached] });
  });
const type = NetworkInterfaceBackendAddressPoolAssociation.tfResourceType;

describe("the load balancer attachment on Azure", () => {
  it("adds the interface's IPv4 address to every backend pool", () => {
    const association = (pool: string) => ({
      network_interface_id: "${azurerm_network_interface.network-interface.id}",
      ip_configuration_name: "ipv4",
      backend_address_pool_id: pool,
    });
    expect(resources(stackWith(["outside", "inside"]), type)).toEqual([association("outside"), association("inside")]);
  });

  it("exists before the machine boots: a pool may be its only outbound connection", () => {
    const { depends_on: dependsOn } = stackWith(["outside", "inside"]).resource.terraform_data?.machine ?? {};
    expect((dependsOn as string[]).map(withoutHash)).toEqual([
      `${type}.api-membership_pool-0`,
      `${type}.api-membership_pool-1`,
    ]);
  });

  it("creates nothing without backend pools", () => {
    expect(resources(stackWith([]), type)).toEqual([]);
  });
});
