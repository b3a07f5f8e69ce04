import { NetworkInterfaceBackendAddressPoolAssociation } from "@cdktf/provider-azurerm/lib/network-interface-backend-address-pool-association/index.js";
import type { ITerraformDependable } from "cdktf";
import { Construct } from "constructs";
import type { NetworkInterface } from "./network-interface.ts";

export interface LoadBalancerAttachmentProps {
  readonly networkInterface: NetworkInterface;
  readonly backendAddressPoolIds: readonly string[];
}

/** Attaches the machine's network interface to the API's load balancers. */
export class LoadBalancerAttachment extends Construct {
  /** Must exist before the machine boots: its only outbound connection may be through a pool. */
  readonly attached: readonly ITerraformDependable[];

  constructor(scope: Construct, id: string, props: LoadBalancerAttachmentProps) {
    super(scope, id);
    const { networkInterface, backendAddressPoolIds } = props;
    this.attached = backendAddressPoolIds.map(
      (backendAddressPoolId, index) =>
        new NetworkInterfaceBackendAddressPoolAssociation(this, `pool-${index}`, {
          networkInterfaceId: networkInterface.interfaceId,
          ipConfigurationName: networkInterface.ipConfigurationName,
          backendAddressPoolId,
        }),
    );
  }
}
