import type { Construct } from "constructs";
import { MachineSpec as SharedMachineSpec, type PlatformMachineSpecProps } from "../shared/machine-spec.ts";
import type { ShieldedOptions } from "./config.ts";

/** What an instance keeps for its lifetime. */
export interface MachineOptions {
  /** Path of the image. */
  readonly image: string;
  /** The machine type. */
  readonly size: string;
  readonly zone: string;
  readonly subnet: { readonly project: string; readonly region: string; readonly name: string };
  readonly publicIp: boolean;
  /** The private IP address. @default - the subnet assigns one */
  readonly fixedAddress?: string;
  readonly rootVolume: {
    readonly sizeGiB: number;
    readonly type: string;
    /** Path of the key. @default - Google's own key */
    readonly kmsKey?: string;
  };
  /** @default - none is sent: Google refuses them for an image without UEFI_COMPATIBLE */
  readonly shielded?: ShieldedOptions;
  /** What 0.1.0 put into the digest. Its default was another one, so today's value would replace its machines. */
  readonly secureBootOf010: boolean;
}

/** The bootstrap machine's spec on Google Cloud. */
export class MachineSpec extends SharedMachineSpec {
  readonly options: MachineOptions;

  constructor(scope: Construct, id: string, props: PlatformMachineSpecProps<MachineOptions>) {
    const { options } = props;
    const { subnet } = options;
    super(scope, id, {
      ...props,
      parts: {
        image: options.image,
        size: options.size,
        zone: options.zone,
        subnet: `${subnet.project}/${subnet.region}/${subnet.name}`,
        address: options.fixedAddress,
        diskGb: options.rootVolume.sizeGiB,
        diskType: options.rootVolume.type,
        diskKey: options.rootVolume.kmsKey,
        secureBoot: options.secureBootOf010,
        publicIp: options.publicIp,
      },
      laterParts: { ...options.shielded },
    });
    this.options = options;
  }
}
