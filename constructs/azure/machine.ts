import { LinuxVirtualMachine } from "@cdktf/provider-azurerm/lib/linux-virtual-machine/index.js";
import { Fn, type ITerraformDependable } from "cdktf";
import { Construct } from "constructs";
import { literal } from "../../src/core/terraform-literal.ts";
import type { AzureImage } from "./config.ts";
import type { MachineSpec } from "./machine-spec.ts";
import type { NetworkInterface } from "./network-interface.ts";

export interface MachineProps {
  readonly name: string;
  readonly spec: MachineSpec;
  readonly payloadUrl: string;
  /** Query of a signed URL, with its "?". @default - the URL is enough */
  readonly payloadQuery?: string;
  readonly subscriptionId: string;
  readonly resourceGroupName: string;
  readonly region: string;
  readonly networkInterface: NetworkInterface;
  /** Public key for the account core. @default - none: the machine can be destroyed but not created */
  readonly sshKey?: string;
  /** ID of a user-assigned identity. @default - the machine has none */
  readonly identityId?: string;
  /** What must exist before the machine boots: Ignition gives up on the first refusal. */
  readonly dependsOn: readonly ITerraformDependable[];
  readonly tags: Readonly<Record<string, string>>;
}

/** The bootstrap machine: a virtual machine. */
export class Machine extends Construct {
  readonly machineId: string;
  /** The address that the nodes dial. */
  readonly privateIp: string;
  /** @default - the machine has none */
  readonly publicIp?: string;

  constructor(scope: Construct, id: string, props: MachineProps) {
    super(scope, id);
    const { name, spec, resourceGroupName, networkInterface, sshKey, identityId } = props;
    const { size, rootVolume, encryptionAtHost } = spec.options;
    const adminUsername = "core";
    const machine = new LinuxVirtualMachine(this, "Default", {
      name,
      computerName: name,
      resourceGroupName,
      location: props.region,
      size,
      networkInterfaceIds: [networkInterface.interfaceId],
      ...imageArguments(props),
      osDisk: {
        name: `${name}_OSDisk`,
        caching: "ReadWrite",
        storageAccountType: "Premium_LRS",
        diskSizeGb: rootVolume.sizeGiB,
        diskEncryptionSetId: rootVolume.diskEncryptionSetId,
      },
      encryptionAtHostEnabled: encryptionAtHost,
      adminUsername,
      disablePasswordAuthentication: true,
      adminSshKey:
        sshKey === undefined
          ? undefined
          : [{ username: adminUsername, publicKey: literal(sshKey, "The ssh key for core") }],
      identity: identityId === undefined ? undefined : { type: "UserAssigned", identityIds: [identityId] },
      // Not user data, which Ignition reads only since 2.14.
      customData: customData(props),
      bootDiagnostics: {},
      tags: { ...props.tags, ...spec.tag },
      lifecycle: {
        ...spec.lifecycle(
          [
            "source_image_id",
            "source_image_reference",
            "plan",
            "custom_data",
            // openshift-install creates a new key for each payload.
            "admin_ssh_key",
            "size",
            "os_disk",
            "encryption_at_host_enabled",
          ],
          "tags",
        ),
        // A replaced machine gets a new interface, which may have another public address.
        precondition: spec.replaceMachine ? [] : [networkInterface.samePublicIp],
      },
      dependsOn: [...props.dependsOn],
    });
    spec.checkDriftOf(machine, "tags");
    this.machineId = machine.id;
    this.privateIp = networkInterface.privateIp;
    this.publicIp = networkInterface.publicIp;
  }
}

/** The pointer, with a query that only Terraform knows. It needs no escaping: no character of it is special in JSON. */
function customData({ spec, payloadUrl, payloadQuery }: MachineProps): string {
  const pointer = spec.payload.pointer({ url: payloadUrl });
  if (payloadQuery === undefined) return Buffer.from(pointer).toString("base64");
  const end = pointer.indexOf(payloadUrl) + payloadUrl.length;
  return Fn.base64encode(
    Fn.join("", [Fn.rawString(pointer.slice(0, end)), payloadQuery, Fn.rawString(pointer.slice(end))]),
  );
}

function imageArguments({ spec, subscriptionId, resourceGroupName }: MachineProps) {
  const { image } = spec.options;
  if ("marketplace" in image) return marketplaceArguments(image.marketplace);
  if ("id" in image) return { sourceImageId: image.id };
  const galleries = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroupName}/providers/Microsoft.Compute/galleries`;
  return { sourceImageId: `${galleries}/${image.gallery}/images/${image.name}` };
}

function marketplaceArguments({
  publisher,
  offer,
  sku,
  version,
  plan,
}: Extract<AzureImage, { marketplace: unknown }>["marketplace"]) {
  return {
    sourceImageReference: { publisher, offer, sku, version },
    plan: plan === "WithPurchasePlan" ? { publisher, product: offer, name: sku } : undefined,
  };
}
