import { RoleAssignment } from "@cdktf/provider-azurerm/lib/role-assignment/index.js";
import { UserAssignedIdentity } from "@cdktf/provider-azurerm/lib/user-assigned-identity/index.js";
import type { ITerraformDependable } from "cdktf";
import { Construct } from "constructs";
import { Wait } from "../shared/wait.ts";

export interface PayloadReaderProps {
  readonly name: string;
  readonly resourceGroupName: string;
  readonly region: string;
  readonly containerId: string;
  /** How long the permission takes to propagate. */
  readonly waitSeconds: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** A least-privilege identity that can read only the payload's container. */
export class PayloadReader extends Construct {
  readonly identityId: string;
  /** Must exist before a machine can fetch the payload. */
  readonly granted: ITerraformDependable;

  constructor(scope: Construct, id: string, props: PayloadReaderProps) {
    super(scope, id);
    const identity = new UserAssignedIdentity(this, "identity", {
      name: props.name,
      resourceGroupName: props.resourceGroupName,
      location: props.region,
      tags: props.tags,
    });
    const grant = new RoleAssignment(this, "grant", {
      scope: props.containerId,
      roleDefinitionName: "Storage Blob Data Reader",
      principalId: identity.principalId,
      // Without it, Azure looks the new identity up in the directory, which may not know it yet.
      principalType: "ServicePrincipal",
    });
    this.identityId = identity.id;
    this.granted = new Wait(this, "wait", { seconds: props.waitSeconds, dependsOn: [grant] }).done;
  }
}
