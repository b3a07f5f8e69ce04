import { ComputeInstance } from "@cdktf/provider-google/lib/compute-instance/index.js";
import { DataGoogleComputeSubnetwork } from "@cdktf/provider-google/lib/data-google-compute-subnetwork/index.js";
import type { ITerraformDependable } from "cdktf";
import { Construct } from "constructs";
import { freeAddressIn } from "../shared/subnet-condition.ts";
import { addressOf } from "../shared/terraform-address.ts";
import type { ShieldedOptions } from "./config.ts";
import type { MachineOptions, MachineSpec } from "./machine-spec.ts";

export interface MachineProps {
  readonly name: string;
  readonly spec: MachineSpec;
  readonly payloadUrl: string;
  readonly networkTags: readonly string[];
  /** Email of a service account that can read the payload. */
  readonly serviceAccount: string;
  /** What must exist before the machine boots: Ignition gives up on the first refusal. */
  readonly dependsOn: readonly ITerraformDependable[];
  readonly labels: Readonly<Record<string, string>>;
}

/** The bootstrap machine: a Compute Engine instance. */
export class Machine extends Construct {
  readonly machineId: string;
  readonly privateIp: string;
  /** Empty if the machine was created without one. */
  readonly publicIp: string;
  readonly selfLink: string;

  constructor(scope: Construct, id: string, props: MachineProps) {
    super(scope, id);
    const { name, spec, labels } = props;
    const { image, size, zone, subnet, publicIp, fixedAddress, rootVolume, shielded } = spec.options;
    const instance = new ComputeInstance(this, "Default", {
      name,
      zone,
      machineType: size,
      tags: [...props.networkTags],
      labels,
      bootDisk: {
        autoDelete: true,
        initializeParams: { image, size: rootVolume.sizeGiB, type: rootVolume.type, labels },
        kmsKeySelfLink: rootVolume.kmsKey,
      },
      networkInterface: [
        {
          subnetwork: `projects/${subnet.project}/regions/${subnet.region}/subnetworks/${subnet.name}`,
          networkIp: fixedAddress,
          // An empty block requests an ephemeral public address.
          ...(publicIp && { accessConfig: [{}] }),
        },
      ],
      serviceAccount: {
        email: props.serviceAccount,
        scopes: ["https://www.googleapis.com/auth/devstorage.read_only"],
      },
      shieldedInstanceConfig: shielded && {
        enableSecureBoot: shielded.secureBoot,
        enableVtpm: shielded.vtpm,
        enableIntegrityMonitoring: shielded.integrityMonitoring,
      },
      metadata: {
        "user-data": spec.payload.pointer({ url: props.payloadUrl }),
        "block-project-ssh-keys": "TRUE",
        "serial-port-enable": "FALSE",
        ...spec.tag,
      },
      deletionProtection: false,
      // Some changes stop the instance, which interrupts the bootstrap as a replacement does.
      allowStoppingForUpdate: spec.replaceMachine,
      lifecycle: {
        ...spec.lifecycle(
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
        ...(fixedAddress !== undefined && { precondition: [this.#isFree(fixedAddress, subnet)] }),
      },
      dependsOn: [...props.dependsOn],
    });
    spec.checkDriftOf(instance, "metadata");
    if (shielded !== undefined) checkShielded(instance, spec, shielded);
    this.machineId = instance.id;
    this.privateIp = instance.networkInterface.get(0).networkIp;
    this.publicIp = `\${try(coalesce(${addressOf(instance)}.network_interface[0].access_config[0].nat_ip), "")}`;
    this.selfLink = instance.selfLink;
  }

  #isFree(address: string, subnet: MachineOptions["subnet"]) {
    return freeAddressIn({
      address,
      networks: `[${addressOf(new DataGoogleComputeSubnetwork(this, "subnet", subnet))}.ip_cidr_range]`,
      subnet: subnet.name,
      reserved: [0, 1, -2, -1],
      reservedInWords: "Google keeps the first two and the last two",
    });
  }
}

/** Compares attributes, because 0.1.0's digest does not tell a secure boot that was set from one that was the default. */
function checkShielded(instance: ComputeInstance, spec: MachineSpec, shielded: ShieldedOptions): void {
  const found = `${addressOf(instance)}.shielded_instance_config[0]`;
  const wanted = {
    enable_secure_boot: shielded.secureBoot,
    enable_vtpm: shielded.vtpm,
    enable_integrity_monitoring: shielded.integrityMonitoring,
  };
  spec.addDriftCheck(
    "is_shielded_as_configured",
    Object.entries(wanted)
      .map(([attribute, value]) => `try(${found}.${attribute}, false) == ${String(value)}`)
      .join(" && "),
    "The machine keeps the shielded VM options that it was created with: secureBoot, vtpm or integrityMonitoring differ in the config.",
  );
}
