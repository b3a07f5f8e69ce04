import { describe, expect, it } from "vitest";
import { changedExample, exampleStack, metadata, Project } from "../support/stacks.ts";

const { infraID } = metadata;
const made = (...args: [object?, object?]) =>
  Object.entries(exampleStack("azure", ...args).resource).map(([type, byId]) => [type, Object.keys(byId).length]);

describe("azure-bootstrap", () => {
  it("of the example makes this, and nothing else", () => {
    expect(made()).toEqual([
      ["azurerm_linux_virtual_machine", 1],
      ["azurerm_network_interface", 1],
      ["azurerm_network_interface_backend_address_pool_association", 2],
      ["azurerm_network_security_rule", 2],
      ["azurerm_storage_account", 1],
      ["azurerm_storage_blob", 1],
      ["azurerm_storage_container", 1],
      ["terraform_data", 4],
    ]);
  });

  it("registers nothing in the subscription, and takes the disk with the machine", () => {
    expect(exampleStack("azure").provider.azurerm).toEqual([
      {
        environment: "public",
        resource_provider_registrations: "none",
        storage_use_azuread: false,
        features: [
          { storage: [{ data_plane_available: false }], virtual_machine: [{ delete_os_disk_on_deletion: true }] },
        ],
      },
    ]);
  });

  it("works in the subscription and cloud of the config", () => {
    const subscriptionId = "00000000-0000-0000-0000-000000000000";
    const stack = exampleStack("azure", { subscriptionId, cloudName: "AzureUSGovernmentCloud" });
    expect(stack.provider.azurerm).toMatchObject([{ subscription_id: subscriptionId, environment: "usgovernment" }]);
    expect(stack.data).not.toHaveProperty("azurerm_client_config");
  });

  it("takes every provider from the first that knows the container's id to the last that was tried", () => {
    expect(exampleStack("azure").terraform.required_providers).toEqual({
      azurerm: { source: "hashicorp/azurerm", version: ">= 4.77.0, < 6.0.0" },
    });
  });

  it("tags all that takes tags as the cluster's and the user's", () => {
    const { resource } = exampleStack("azure", { pointer: "identity", publicIp: true });
    const tags = { team: "platform", [`kubernetes.io_cluster.${infraID}`]: "owned" };
    for (const type of [
      "azurerm_linux_virtual_machine",
      "azurerm_network_interface",
      "azurerm_public_ip",
      "azurerm_storage_account",
      "azurerm_user_assigned_identity",
    ])
      for (const block of Object.values(resource[type] ?? { missing: {} }))
        expect(block.tags, type).toMatchObject(tags);
  });

  it("tells the operator what comes next, and never the signature", () => {
    const { output } = exampleStack("azure");
    const address = "${azurerm_network_interface.network-interface.private_ip_addresses[0]}";
    expect(Object.fromEntries(Object.entries(output).map(([name, { value }]) => [name, value]))).toMatchObject({
      bootstrap_private_ip: address,
      bootstrap_machine_id: "${azurerm_linux_virtual_machine.machine.id}",
      payload_url: "https://samplex7k2p3e9f8b1c.blob.core.windows.net/ignition/payload.ign",
      ssh: `ssh core@${address}`,
      teardown: "npx cdktf destroy 'azure-*'",
    });
    expect(output).not.toHaveProperty("bootstrap_public_ip");
    expect(JSON.stringify(output)).not.toContain("sas.");
  });

  it("is the same for destroying, without the install folder", () => {
    const given = { region: "westeurope", resourceGroupName: `${infraID}-rg` };
    const without = exampleStack("azure", given, { infrastructureName: infraID }, { shape: "none", metadata: null });
    const all = exampleStack("azure", given);
    const addresses = ({ resource }: typeof all) =>
      Object.entries(resource).flatMap(([type, byId]) => Object.keys(byId).map((id) => `${type}.${id}`));
    expect(addresses(without)).toEqual(addresses(all));
  });

  it.each([
    [{}, 1],
    [{ firewall: "external" }, 0],
  ])("warns that code which describes the group with its rules deletes ours: %j", (rest, count) => {
    const project = new Project(changedExample("azure", {}, rest));
    try {
      const messages = project.inputs().warnings.map(({ message }) => message);
      expect(messages.filter((text) => text.includes("its next run deletes them"))).toHaveLength(count);
    } finally {
      project.remove();
    }
  });
});
