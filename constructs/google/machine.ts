import { ComputeInstance } from "@cdktf/provider-google/lib/compute-instance/index.js";
import { DataGoogleComputeSubnetwork } from "@cdktf/provider-google/lib/data-google-compute-subnetwork/index.js";
import type { ITerraformDependable } from "cdktf";
import { Construct } from "constructs";
import type { PayloadFile } from "../payload-file.ts";
import { addressInSubnet } from "../subnet-condition.ts";
import { addressOf } from "../terraform-address.ts";

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
  readonly secureBoot: boolean;
  /** Whether a changed option may stop the machine. */
  readonly mayStop: boolean;
  readonly payload: PayloadFile;
  readonly payloadUrl: string;
  /** What must be there before it boots: Ignition gives up on the first refusal. */
  readonly after: readonly ITerraformDependable[];
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
      shieldedInstanceConfig: {
        enableSecureBoot: props.secureBoot,
        enableVtpm: true,
        enableIntegrityMonitoring: true,
      },
      metadata: {
        "user-data": payload.pointer({ url: props.payloadUrl }),
        "block-project-ssh-keys": "TRUE",
        "serial-port-enable": "FALSE",
      },
      deletionProtection: false,
      allowStoppingForUpdate: props.mayStop,
      lifecycle: {
        ...payload.lifecycle([
          'metadata["user-data"]',
          "boot_disk[0].initialize_params[0].image",
          // Other labels on the disk would take a new disk.
          "boot_disk[0].initialize_params[0].labels",
        ]),
        ...(fixedAddress !== undefined && { precondition: this.#addressConditions(fixedAddress, subnet) }),
      },
      dependsOn: [...props.after],
    });
    payload.watch(instance);
    this.instanceId = instance.id;
    this.selfLink = instance.selfLink;
    const face = instance.networkInterface.get(0);
    this.privateIp = face.networkIp;
    this.publicIp = face.accessConfig.get(0).natIp;
  }

  #addressConditions(address: string, subnet: MachineProps["subnet"]) {
    const network = `${addressOf(new DataGoogleComputeSubnetwork(this, "subnet", subnet))}.ip_cidr_range`;
    const reserved = [0, 1, -2, -1].map((host) => `cidrhost(${network}, ${host})`);
    return [
      addressInSubnet(address, network, subnet.name),
      {
        condition: `\${!contains([${reserved.join(", ")}], "${address}")}`,
        errorMessage: `tunnel.address ${address} is one of the four that Google keeps in the subnet ${subnet.name}, the first two and the last two: give another.`,
      },
    ];
  }
}
