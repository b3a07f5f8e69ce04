import type { Construct } from "constructs";
import { MachineSpec as SharedMachineSpec, type PlatformMachineSpecProps } from "../shared/machine-spec.ts";
import type { AzureImage } from "./config.ts";

/** What a virtual machine and its network interface keep for their lifetime. */
export interface MachineOptions {
  readonly image: AzureImage;
  /** The VM size. */
  readonly size: string;
  readonly subnet: { readonly resourceGroupName: string; readonly virtualNetwork: string; readonly name: string };
  /** Whether the machine has an IPv6 address in addition to the IPv4 address, which every interface must have. */
  readonly ipv6: boolean;
  readonly publicIp: boolean;
  /** The private IP address of one family. @default - the subnet assigns one */
  readonly fixedAddress?: string;
  readonly rootVolume: {
    readonly sizeGiB: number;
    /** @default - the platform's key */
    readonly diskEncryptionSetId?: string;
  };
  readonly encryptionAtHost: boolean;
}

/** The bootstrap machine's spec on Azure. */
export class MachineSpec extends SharedMachineSpec {
  readonly options: MachineOptions;

  constructor(scope: Construct, id: string, props: PlatformMachineSpecProps<MachineOptions>) {
    const { options } = props;
    super(scope, id, {
      ...props,
      parts: {
        image: JSON.stringify(options.image),
        size: options.size,
        diskGB: options.rootVolume.sizeGiB,
        diskKey: options.rootVolume.diskEncryptionSetId,
        encryptionAtHost: options.encryptionAtHost,
        subnet: `${options.subnet.virtualNetwork}/${options.subnet.name}`,
        address: options.fixedAddress,
        ipv6: options.ipv6,
        publicIp: options.publicIp,
      },
    });
    this.options = options;
  }
}
