import type { Construct } from "constructs";
import { MachineSpec as SharedMachineSpec, type PlatformMachineSpecProps } from "../shared/machine-spec.ts";

/** What an instance keeps for its lifetime. */
export interface MachineOptions {
  /** ID of the AMI. */
  readonly image: string;
  /** The instance type. */
  readonly size: string;
  /** ID of the subnet. */
  readonly subnet: string;
  readonly publicIp: boolean;
  /** The private IP address. @default - the subnet assigns one */
  readonly fixedAddress?: string;
  readonly rootVolume: {
    readonly sizeGiB: number;
    /** ARN of the key. @default - the account's default key */
    readonly kmsKey?: string;
  };
}

/** The bootstrap machine's spec on AWS. */
export class MachineSpec extends SharedMachineSpec {
  readonly options: MachineOptions;

  constructor(scope: Construct, id: string, props: PlatformMachineSpecProps<MachineOptions>) {
    const { options } = props;
    super(scope, id, {
      ...props,
      parts: {
        image: options.image,
        size: options.size,
        subnet: options.subnet,
        address: options.fixedAddress,
        diskGiB: options.rootVolume.sizeGiB,
        diskKey: options.rootVolume.kmsKey,
        publicIp: options.publicIp,
      },
    });
    this.options = options;
  }
}
