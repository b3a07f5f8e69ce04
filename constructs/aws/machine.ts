import { DataAwsSubnet } from "@cdktf/provider-aws/lib/data-aws-subnet/index.js";
import { Instance } from "@cdktf/provider-aws/lib/instance/index.js";
import type { ITerraformDependable } from "cdktf";
import { Construct } from "constructs";
import { isIpv6 } from "../../src/core/addresses.ts";
import type { PayloadFile } from "../shared/payload-file.ts";
import { addressOf } from "../shared/terraform-address.ts";
import { addressForMachines } from "../shared/subnet-condition.ts";

export interface MachineProps {
  readonly name: string;
  readonly ami: string;
  readonly instanceType: string;
  readonly subnet: string;
  readonly securityGroupIds: readonly string[];
  readonly instanceProfile: string;
  readonly publicIp: boolean;
  /** Its private address. @default - the subnet gives one */
  readonly fixedAddress?: string;
  readonly rootVolume: { readonly sizeGiB: number; readonly kmsKeyArn?: string };
  readonly payload: PayloadFile;
  readonly payloadUrl: string;
  /** What must be there before it boots: Ignition gives up on the first refusal. */
  readonly dependsOn: readonly ITerraformDependable[];
  readonly tags: Readonly<Record<string, string>>;
}

/** The bootstrap machine. */
export class Machine extends Construct {
  readonly instanceId: string;
  readonly privateIp: string;
  readonly publicIp: string;

  constructor(scope: Construct, id: string, props: MachineProps) {
    super(scope, id);
    const { name, fixedAddress, payload, rootVolume } = props;
    const tags = { ...props.tags, Name: name };
    payload.machineIsMadeOf({
      image: props.ami,
      size: props.instanceType,
      subnet: props.subnet,
      address: fixedAddress,
      diskGiB: rootVolume.sizeGiB,
      diskKey: rootVolume.kmsKeyArn,
      publicIp: props.publicIp,
    });
    const instance = new Instance(this, "Default", {
      ami: props.ami,
      instanceType: props.instanceType,
      subnetId: props.subnet,
      vpcSecurityGroupIds: [...props.securityGroupIds],
      iamInstanceProfile: props.instanceProfile,
      associatePublicIpAddress: props.publicIp,
      ...addressArguments(fixedAddress),
      userData: payload.pointer({ url: props.payloadUrl }),
      metadataOptions: { httpEndpoint: "enabled", httpTokens: "required", httpPutResponseHopLimit: 1 },
      rootBlockDevice: {
        volumeType: "gp3",
        volumeSize: rootVolume.sizeGiB,
        encrypted: true,
        kmsKeyId: rootVolume.kmsKeyArn,
        deleteOnTermination: true,
        tags,
      },
      tags: { ...tags, ...payload.record },
      lifecycle: {
        ...payload.lifecycle(
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
        ...(fixedAddress !== undefined && { precondition: [this.#freeIn(props.subnet, fixedAddress)] }),
      },
      dependsOn: [...props.dependsOn],
    });
    payload.watch(instance, "tags");
    this.instanceId = instance.id;
    this.privateIp = fixedAddress !== undefined && isIpv6(fixedAddress) ? fixedAddress : instance.privateIp;
    this.publicIp = instance.publicIp;
  }

  #freeIn(subnet: string, address: string) {
    const data = addressOf(new DataAwsSubnet(this, "subnet", { id: subnet }));
    return addressForMachines({
      address,
      networks: `[${data}.${isIpv6(address) ? "ipv6_cidr_block" : "cidr_block"}]`,
      subnet,
      kept: [0, 1, 2, 3, -1],
      keptInWords: "AWS keeps the first four and the last",
    });
  }
}

function addressArguments(address: string | undefined) {
  if (address === undefined) return {};
  return isIpv6(address) ? { ipv6Addresses: [address] } : { privateIp: address };
}
