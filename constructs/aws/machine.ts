import { DataAwsSubnet } from "@cdktf/provider-aws/lib/data-aws-subnet/index.js";
import { Instance } from "@cdktf/provider-aws/lib/instance/index.js";
import type { ITerraformDependable } from "cdktf";
import { Construct } from "constructs";
import { isIpv6 } from "../../src/core/addresses.ts";
import { freeAddressIn } from "../shared/subnet-condition.ts";
import { addressOf } from "../shared/terraform-address.ts";
import type { MachineSpec } from "./machine-spec.ts";

export interface MachineProps {
  readonly name: string;
  readonly spec: MachineSpec;
  readonly payloadUrl: string;
  readonly securityGroupIds: readonly string[];
  /** Name of an instance profile that can read the payload. */
  readonly instanceProfile: string;
  /** What must exist before the machine boots: Ignition gives up on the first refusal. */
  readonly dependsOn: readonly ITerraformDependable[];
  readonly tags: Readonly<Record<string, string>>;
}

/** The bootstrap machine: an EC2 instance. */
export class Machine extends Construct {
  readonly machineId: string;
  readonly privateIp: string;
  readonly publicIp: string;

  constructor(scope: Construct, id: string, props: MachineProps) {
    super(scope, id);
    const { name, spec } = props;
    const { image, size, subnet, publicIp, fixedAddress, rootVolume } = spec.options;
    const tags = { ...props.tags, Name: name };
    const instance = new Instance(this, "Default", {
      ami: image,
      instanceType: size,
      subnetId: subnet,
      vpcSecurityGroupIds: [...props.securityGroupIds],
      iamInstanceProfile: props.instanceProfile,
      associatePublicIpAddress: publicIp,
      ...addressArguments(fixedAddress),
      userData: spec.payload.pointer({ url: props.payloadUrl }),
      metadataOptions: { httpEndpoint: "enabled", httpTokens: "required", httpPutResponseHopLimit: 1 },
      rootBlockDevice: {
        volumeType: "gp3",
        volumeSize: rootVolume.sizeGiB,
        encrypted: true,
        kmsKeyId: rootVolume.kmsKey,
        deleteOnTermination: true,
        tags,
      },
      tags: { ...tags, ...spec.tag },
      lifecycle: {
        ...spec.lifecycle(
          [
            "ami",
            "associate_public_ip_address",
            "instance_type",
            "ipv6_addresses",
            "private_ip",
            "root_block_device",
            "subnet_id",
            "user_data",
          ],
          "tags",
        ),
        ...(fixedAddress !== undefined && { precondition: [this.#isFree(fixedAddress, subnet)] }),
      },
      dependsOn: [...props.dependsOn],
    });
    spec.checkDriftOf(instance, "tags");
    this.machineId = instance.id;
    this.privateIp = fixedAddress !== undefined && isIpv6(fixedAddress) ? fixedAddress : instance.privateIp;
    this.publicIp = instance.publicIp;
  }

  #isFree(address: string, subnet: string) {
    const data = addressOf(new DataAwsSubnet(this, "subnet", { id: subnet }));
    return freeAddressIn({
      address,
      networks: `[${data}.${isIpv6(address) ? "ipv6_cidr_block" : "cidr_block"}]`,
      subnet,
      reserved: [0, 1, 2, 3, -1],
      reservedInWords: "AWS keeps the first four and the last",
    });
  }
}

function addressArguments(address: string | undefined) {
  if (address === undefined) return {};
  return isIpv6(address) ? { ipv6Addresses: [address] } : { privateIp: address };
}
