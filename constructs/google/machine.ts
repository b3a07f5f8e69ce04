import { ComputeInstance } from "@cdktf/provider-google/lib/compute-instance/index.js";
import { DataGoogleComputeSubnetwork } from "@cdktf/provider-google/lib/data-google-compute-subnetwork/index.js";
import type { ITerraformDependable } from "cdktf";
import { Construct } from "constructs";
import type { ShieldedOptions } from "./config.ts";
import type { PayloadFile } from "../shared/payload-file.ts";
import { addressForMachines } from "../shared/subnet-condition.ts";
import { addressOf } from "../shared/terraform-address.ts";

export interface MachineProps {
  readonly name: string;
  readonly zone: string;
  readonly image: string;
  readonly machineType: string;
  readonly subnet: { readonly project: string; readonly region: string; readonly name: string };
  readonly networkTags: readonly string[];
  /** Email of the identity that can read the payload. */
  readonly serviceAccount: string;
  readonly publicIp: boolean;
  /** Its private address. @default - the subnet gives one */
  readonly fixedAddress?: string;
  readonly rootVolume: { readonly sizeGb: number; readonly type: string; readonly kmsKey?: string };
  /** @default - Google is not told: it refuses them for an image without UEFI_COMPATIBLE */
  readonly shielded?: ShieldedOptions;
  readonly secureBootOf010: boolean;
  /** Whether a changed option may stop the machine. */
  readonly mayStop: boolean;
  readonly payload: PayloadFile;
  readonly payloadUrl: string;
  /** What must be there before it boots: Ignition gives up on the first refusal. */
  readonly dependsOn: readonly ITerraformDependable[];
  readonly labels: Readonly<Record<string, string>>;
}

/** The bootstrap machine. */
export class Machine extends Construct {
  readonly instanceId: string;
  readonly selfLink: string;
  readonly privateIp: string;
  readonly publicIp: string;

  constructor(scope: Construct, id: string, props: MachineProps) {
    super(scope, id);
    const { fixedAddress, labels, payload, rootVolume, subnet } = props;
    payload.machineIsMadeOf(
      {
        image: props.image,
        size: props.machineType,
        zone: props.zone,
        subnet: `${subnet.project}/${subnet.region}/${subnet.name}`,
        address: fixedAddress,
        diskGb: rootVolume.sizeGb,
        diskType: rootVolume.type,
        diskKey: rootVolume.kmsKey,
        // Not what is set today: a machine of 0.1.0 would be replaced because a default changed.
        secureBoot: props.secureBootOf010,
        publicIp: props.publicIp,
      },
      { ...props.shielded },
    );
    const instance = new ComputeInstance(this, "Default", {
      name: props.name,
      zone: props.zone,
      machineType: props.machineType,
      tags: [...props.networkTags],
      labels,
      bootDisk: {
        autoDelete: true,
        initializeParams: { image: props.image, size: rootVolume.sizeGb, type: rootVolume.type, labels },
        kmsKeySelfLink: rootVolume.kmsKey,
      },
      networkInterface: [
        {
          subnetwork: `projects/${subnet.project}/regions/${subnet.region}/subnetworks/${subnet.name}`,
          networkIp: fixedAddress,
          // An empty one asks for any public address.
          ...(props.publicIp && { accessConfig: [{}] }),
        },
      ],
      serviceAccount: {
        email: props.serviceAccount,
        scopes: ["https://www.googleapis.com/auth/devstorage.read_only"],
      },
      shieldedInstanceConfig: props.shielded && {
        enableSecureBoot: props.shielded.secureBoot,
        enableVtpm: props.shielded.vtpm,
        enableIntegrityMonitoring: props.shielded.integrityMonitoring,
      },
      metadata: {
        "user-data": payload.pointer({ url: props.payloadUrl }),
        "block-project-ssh-keys": "TRUE",
        "serial-port-enable": "FALSE",
        ...payload.record,
      },
      deletionProtection: false,
      allowStoppingForUpdate: props.mayStop,
      lifecycle: {
        ...payload.lifecycle(
          [
            'metadata["user-data"]',
            "boot_disk",
            "machine_type",
            "network_interface",
            "service_account",
            "shielded_instance_config",
            "zone",
          ],
          "metadata",
        ),
        ...(fixedAddress !== undefined && { precondition: [this.#freeIn(subnet, fixedAddress)] }),
      },
      dependsOn: [...props.dependsOn],
    });
    payload.watch(instance, "metadata");
    if (props.shielded !== undefined) this.#watchShielded(instance, payload, props.shielded);
    this.instanceId = instance.id;
    this.selfLink = instance.selfLink;
    const face = instance.networkInterface.get(0);
    this.privateIp = face.networkIp;
    // Empty while it has none: it may have been made without.
    this.publicIp = `\${try(coalesce(${addressOf(instance)}.network_interface[0].access_config[0].nat_ip), "")}`;
  }

  /** By what the machine has: 0.1.0's record does not tell a secure boot that was set from one that was the default. */
  #watchShielded(instance: ComputeInstance, payload: PayloadFile, shielded: ShieldedOptions): void {
    const found = `${addressOf(instance)}.shielded_instance_config[0]`;
    const wanted = {
      enable_secure_boot: shielded.secureBoot,
      enable_vtpm: shielded.vtpm,
      enable_integrity_monitoring: shielded.integrityMonitoring,
    };
    payload.check(
      "machine_is_shielded_as_configured",
      Object.entries(wanted)
        .map(([attribute, value]) => `try(${found}.${attribute}, false) == ${String(value)}`)
        .join(" && "),
      "The machine keeps the shielded VM options that it was created with: secureBoot, vtpm or integrityMonitoring differ in the config.",
    );
  }

  #freeIn(subnet: MachineProps["subnet"], address: string) {
    return addressForMachines({
      address,
      networks: `[${addressOf(new DataGoogleComputeSubnetwork(this, "subnet", subnet))}.ip_cidr_range]`,
      subnet: subnet.name,
      kept: [0, 1, -2, -1],
      keptInWords: "Google keeps the first two and the last two",
    });
  }
}
