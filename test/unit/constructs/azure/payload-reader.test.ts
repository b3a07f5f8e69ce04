import { describe, expect, it } from "vitest";
import { exampleStack, metadata, only, resources, waitsOf } from "../../../support/stacks.ts";

const byIdentity = (options?: object) => exampleStack("azure", { pointer: "identity", ...options });
const mine =
  "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/mine";

describe("the identity that reads the payload", () => {
  const stack = byIdentity();

  it("may read that container, and nothing else", () => {
    expect(only(stack, "azurerm_role_assignment")).toMatchObject({
      scope: expect.stringMatching(/^\$\{azurerm_storage_container\.[\w-]+\.id\}$/) as string,
      role_definition_name: "Storage Blob Data Reader",
      principal_id: expect.stringMatching(/^\$\{azurerm_user_assigned_identity\.[\w-]+\.principal_id\}$/) as string,
      principal_type: "ServicePrincipal",
    });
  });

  it("is the machine's only one: with two, Azure would not know which", () => {
    expect(only(stack, "azurerm_user_assigned_identity").name).toBe(`${metadata.infraID}-bootstrap`);
    expect(only(stack, "azurerm_linux_virtual_machine").identity).toEqual({
      type: "UserAssigned",
      identity_ids: [expect.stringMatching(/^\$\{azurerm_user_assigned_identity\.[\w-]+\.id\}$/)],
    });
  });

  it("has time to spread before the machine boots", () => {
    const [wait] = waitsOf(stack);
    const [grant = ""] = Object.keys(stack.resource.azurerm_role_assignment ?? {});
    expect(wait).toMatchObject({
      depends_on: expect.arrayContaining([`azurerm_role_assignment.${grant}`]) as string[],
      lifecycle: { replace_triggered_by: [`azurerm_role_assignment.${grant}`] },
      provisioner: [{ "local-exec": { environment: { WAIT_SECONDS: "300" } } }],
    });
    const id = Object.entries(stack.resource.terraform_data ?? {}).find(([, block]) => block === wait)?.[0] ?? "";
    expect(only(stack, "azurerm_linux_virtual_machine").depends_on).toContain(`terraform_data.${id}`);
    expect(waitsOf(byIdentity({ identityWaitSeconds: 600 }))).toMatchObject([
      { provisioner: [{ "local-exec": { environment: { WAIT_SECONDS: "600" } } }] },
    ]);
  });

  it("is what the provider itself uses for the store", () => {
    expect(stack.provider.azurerm?.[0]?.storage_use_azuread).toBe(true);
    expect(exampleStack("azure").provider.azurerm?.[0]?.storage_use_azuread).toBe(false);
  });

  it("can be a given one: then no permission is made", () => {
    const given = byIdentity({ bootstrapIdentityId: mine });
    expect(only(given, "azurerm_linux_virtual_machine").identity).toEqual({
      type: "UserAssigned",
      identity_ids: [mine],
    });
    for (const type of ["azurerm_user_assigned_identity", "azurerm_role_assignment"])
      expect(resources(given, type)).toEqual([]);
    expect(waitsOf(given)).toEqual([]);
  });

  it("is not made for a signed URL; the machine has the given one or none", () => {
    const signed = exampleStack("azure");
    expect(resources(signed, "azurerm_user_assigned_identity")).toEqual([]);
    expect(only(signed, "azurerm_linux_virtual_machine")).not.toHaveProperty("identity");
    const given = exampleStack("azure", { bootstrapIdentityId: mine });
    expect(only(given, "azurerm_linux_virtual_machine")).toMatchObject({ identity: { identity_ids: [mine] } });
  });
});
