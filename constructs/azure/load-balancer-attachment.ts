import { NetworkInterfaceBackendAddressPoolAssociation } from "@cdktf/provider-azurerm/lib/network-interface-backend-address-pool-association/index.js";
import type { ITerraformDependable } from "cdktf";
import { Construct } from "constructs";
import type { NetworkInterface } from "./network-interface.ts";

export interface LoadBalancerAttachmentProps {
  readonly networkInterface: NetworkInterface;
  readonly backendAddressPoolIds: readonly string[];
}

/** The machine behind the API's load balancers. */
export class LoadBalancerAttachment extends Construct {
  /** Before the machine boots: through a pool it may have its only way out, and a machine that cannot fetch does not come up. */
  readonly joined: readonly ITerraformDependable[];

  constructor(scope: Construct, id: string, props: LoadBalancerAttachmentProps) {
    super(scope, id);
    const { networkInterface, backendAddressPoolIds } = props;
    this.joined = backendAddressPoolIds.map(
      (backendAddressPoolId, index) =>
        new NetworkInterfaceBackendAddressPoolAssociation(this, `pool-${index}`, {
          networkInterfaceId: networkInterface.interfaceId,
          ipConfigurationName: networkInterface.ipConfigurationName,
          backendAddressPoolId,
        }),
    );
  }
}
