import { LinuxVirtualMachine } from "@cdktf/provider-azurerm/lib/linux-virtual-machine/index.js";
import { Fn, type ITerraformDependable } from "cdktf";
import { Construct } from "constructs";
import type { PayloadFile } from "../shared/payload-file.ts";
import { literal } from "../../src/core/terraform-literal.ts";

/** An image by its id, or one of the marketplace. */
export type Image =
  | { readonly id: string }
  | {
      readonly publisher: string;
      readonly offer: string;
      readonly sku: string;
      readonly version: string;
      readonly purchased: boolean;
    };

export interface MachineProps {
  readonly name: string;
  readonly resourceGroupName: string;
  readonly region: string;
  readonly size: string;
  readonly image: Image;
  readonly networkInterfaceId: string;
  readonly preconditions: readonly { readonly condition: string; readonly errorMessage: string }[];
  readonly osDisk: { readonly sizeGB: number; readonly diskEncryptionSetId?: string };
  readonly encryptionAtHost: boolean;
  /** @default - none: it cannot be made, but destroyed */
  readonly sshKey?: string;
  /** @default - it has none */
  readonly identityId?: string;
  readonly payload: PayloadFile;
  readonly payloadUrl: string;
  /** A signed URL's query, "?" included. @default - the URL is enough */
  readonly payloadQuery?: string;
  /** What must be there before it boots: Ignition gives up on the first refusal. */
  readonly dependsOn: readonly ITerraformDependable[];
  readonly tags: Readonly<Record<string, string>>;
}

/** The bootstrap machine. */
export class Machine extends Construct {
  readonly machineId: string;

  constructor(scope: Construct, id: string, props: MachineProps) {
    super(scope, id);
    const { name, image, osDisk, sshKey, identityId, payload, payloadUrl, payloadQuery } = props;
    const adminUsername = "core";
    const machine = new LinuxVirtualMachine(this, "Default", {
      name,
      computerName: name,
      resourceGroupName: props.resourceGroupName,
      location: props.region,
      size: props.size,
      networkInterfaceIds: [props.networkInterfaceId],
      ...imageArguments(image),
      osDisk: {
        name: `${name}_OSDisk`,
        caching: "ReadWrite",
        storageAccountType: "Premium_LRS",
        diskSizeGb: osDisk.sizeGB,
        diskEncryptionSetId: osDisk.diskEncryptionSetId,
      },
      encryptionAtHostEnabled: props.encryptionAtHost,
      adminUsername,
      disablePasswordAuthentication: true,
      adminSshKey:
        sshKey === undefined
          ? undefined
          : [{ username: adminUsername, publicKey: literal(sshKey, "The ssh key for core") }],
      identity: identityId === undefined ? undefined : { type: "UserAssigned", identityIds: [identityId] },
      // Not user data: Ignition before 2.14 does not look there.
      customData: customData(payload.pointer({ url: payloadUrl }), payloadUrl, payloadQuery),
      bootDiagnostics: {},
      tags: { ...props.tags, ...payload.record },
      lifecycle: {
        ...payload.lifecycle(
          [
            "source_image_id",
            "source_image_reference",
            "plan",
            "custom_data",
            // openshift-install makes a new key for each payload.
            "admin_ssh_key",
            "size",
            "os_disk",
            "encryption_at_host_enabled",
          ],
          "tags",
        ),
        precondition: [...props.preconditions],
      },
      dependsOn: [...props.dependsOn],
    });
    payload.watch(machine, "tags");
    this.machineId = machine.id;
  }
}

/**
 * The pointer, with a query behind its URL that only Terraform knows: no character of a query is one that JSON would
 * escape, so it goes in as it is.
 */
function customData(pointer: string, url: string, query: string | undefined): string {
  if (query === undefined) return Buffer.from(pointer).toString("base64");
  const end = pointer.indexOf(url) + url.length;
  return Fn.base64encode(Fn.join("", [Fn.rawString(pointer.slice(0, end)), query, Fn.rawString(pointer.slice(end))]));
}

function imageArguments(image: Image) {
  if ("id" in image) return { sourceImageId: image.id };
  const { publisher, offer, sku, version, purchased } = image;
  return {
    sourceImageReference: { publisher, offer, sku, version },
    plan: purchased ? { publisher, product: offer, name: sku } : undefined,
  };
}
