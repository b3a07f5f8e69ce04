import { RoleAssignment } from "@cdktf/provider-azurerm/lib/role-assignment/index.js";
import { UserAssignedIdentity } from "@cdktf/provider-azurerm/lib/user-assigned-identity/index.js";
import { DataResource } from "cdktf";
import { describe, expect, it } from "vitest";
import { PayloadReader } from "../../../../constructs/azure/payload-reader.ts";
import { place } from "../../../support/azure.ts";
import { synthScope, withoutHash } from "../../../support/constructs.ts";
import { waitsOf } from "../../../support/stacks.ts";

describe("the identity that reads the payload on Azure", () => {
  const stack = synthScope((scope) => {
    const reader = new PayloadReader(scope, "payload-reader", {
      ...place,
      name: "sample-bootstrap",
      containerId: "container",
      waitSeconds: 300,
    });
    new DataResource(scope, "machine", { dependsOn: [reader.granted], input: { identity: reader.identityId } });
  });

  it("can read only that container", () => {
    expect(stack).toHaveResourceWithProperties(RoleAssignment, {
      scope: "container",
      role_definition_name: "Storage Blob Data Reader",
      principal_id: expect.stringMatching(/^\$\{azurerm_user_assigned_identity\.[\w-]+\.principal_id\}$/) as string,
      principal_type: "ServicePrincipal",
    });
  });

  it("is a user-assigned identity for the machine", () => {
    expect(stack).toHaveResourceWithProperties(UserAssignedIdentity, {
      name: "sample-bootstrap",
      resource_group_name: "sample-rg",
      location: "westeurope",
      tags: { team: "platform" },
    });
    expect(stack.resource.terraform_data?.machine?.input).toEqual({
      identity: expect.stringMatching(/^\$\{azurerm_user_assigned_identity\.[\w-]+\.id\}$/) as string,
    });
  });

  it("has time to propagate before the machine boots", () => {
    const [grant = ""] = Object.keys(stack.resource[RoleAssignment.tfResourceType] ?? {});
    expect(waitsOf(stack)).toMatchObject([
      {
        depends_on: [`azurerm_role_assignment.${grant}`],
        lifecycle: { replace_triggered_by: [`azurerm_role_assignment.${grant}`] },
        provisioner: [{ "local-exec": { environment: { WAIT_SECONDS: "300" } } }],
      },
    ]);
    const { depends_on: dependsOn } = stack.resource.terraform_data?.machine ?? {};
    expect((dependsOn as string[]).map(withoutHash)).toEqual(["terraform_data.payload-reader_wait"]);
  });
});
