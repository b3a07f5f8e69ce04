import { DataAzurermClientConfig } from "@cdktf/provider-azurerm/lib/data-azurerm-client-config/index.js";
import { AzurermProvider } from "@cdktf/provider-azurerm/lib/provider/index.js";
import { TerraformOutput } from "cdktf";
import type { Construct } from "constructs";
import { azureClusterTag, type AzureInputs } from "../constructs/azure/config.ts";
import { FirewallRules } from "../constructs/azure/firewall-rules.ts";
import { LoadBalancerAttachment } from "../constructs/azure/load-balancer-attachment.ts";
import { MachineSpec } from "../constructs/azure/machine-spec.ts";
import { Machine } from "../constructs/azure/machine.ts";
import { NetworkInterface } from "../constructs/azure/network-interface.ts";
import { PayloadReader } from "../constructs/azure/payload-reader.ts";
import { PayloadSas } from "../constructs/azure/payload-sas.ts";
import { PayloadStore } from "../constructs/azure/payload-store.ts";
import { bootstrapIngress } from "../constructs/shared/ingress.ts";
import { isIpv6Network } from "../src/core/addresses.ts";
import { CloudBootstrapStack, type CloudBootstrapStackProps } from "./cloud-bootstrap-stack.ts";

export interface AzureBootstrapStackProps extends CloudBootstrapStackProps {
  readonly azure: AzureInputs;
}

/** azure-bootstrap: the machine, its firewall rules, its payload, and its attachment to the API's load balancers. */
export class AzureBootstrapStack extends CloudBootstrapStack {
  constructor(scope: Construct, id: string, props: AzureBootstrapStackProps) {
    super(scope, id, { ...props, platform: "azure", provider: "azurerm" });
    const { payload } = this;
    const { azure, tunnelPort } = props;
    const { infraId, uniquePart } = props.cluster;
    const { resourceGroupName, region, pointer, bootstrapIdentityId } = azure;
    const name = `${infraId}-bootstrap`;
    const tags = { ...props.tags, [azureClusterTag(infraId)]: "owned" };
    const place = { resourceGroupName, region, tags };
    this.#addProvider(azure);
    const subscriptionId = azure.subscriptionId ?? new DataAzurermClientConfig(this, "client").subscriptionId;

    const store = new PayloadStore(this, "payload-store", {
      ...place,
      accountName: accountNameOf(infraId, uniquePart),
      payload,
      blobDomain: azure.blobDomain,
      sharedKeys: pointer.by === "sas",
    });
    const sas =
      pointer.by === "sas" ? new PayloadSas(this, "payload-sas", { store, payload, hours: pointer.hours }) : undefined;
    const reader =
      pointer.by === "identity" && bootstrapIdentityId === undefined
        ? new PayloadReader(this, "payload-reader", {
            ...place,
            name,
            containerId: store.containerId,
            waitSeconds: pointer.waitSeconds,
          })
        : undefined;
    const spec = this.#machineSpec(props);
    const networkInterface = new NetworkInterface(this, "network-interface", { ...place, name, spec, subscriptionId });
    const ingress = bootstrapIngress({
      ...azure,
      nodes: azure.nodeSubnets.map((network) => ({ network })),
      tunnelPort,
    });
    const firewall =
      ingress.length > 0
        ? new FirewallRules(this, "firewall-rule", {
            name,
            ingress,
            networkSecurityGroup: azure.networkSecurityGroup,
            resourceGroupName: azure.networkSecurityGroupResourceGroupName,
            firstPriority: azure.firewallPriority,
            networkInterface,
            spec,
          })
        : undefined;
    const { attached } = new LoadBalancerAttachment(this, "api-membership", {
      networkInterface,
      backendAddressPoolIds: azure.backendAddressPoolIds,
    });
    const machine = new Machine(this, "machine", {
      ...place,
      name,
      spec,
      payloadUrl: store.url,
      payloadQuery: sas?.query,
      subscriptionId,
      networkInterface,
      sshKey: azure.sshKeyData,
      identityId: reader?.identityId ?? bootstrapIdentityId,
      dependsOn: [store.stored, ...(reader === undefined ? [] : [reader.granted]), ...attached],
    });
    this.addOutputs({
      nodes: { networks: azure.nodeSubnets },
      privateIp: machine.privateIp,
      publicIp: machine.publicIp,
      machineId: machine.machineId,
      payloadUrl: store.url,
      firewallRules: firewall?.ruleIds.konnectivity,
    });
    if (sas !== undefined)
      new TerraformOutput(this, "secrets_in_state", {
        value:
          "The state holds the storage account's keys and the payload's signed URL until teardown; so does the backup beside a local state, which goes too.",
        description: "With `pointer: identity` it holds nothing that opens anything",
      });
  }

  #addProvider({ subscriptionId, environment, pointer }: AzureInputs): void {
    new AzurermProvider(this, "azurerm", {
      subscriptionId,
      environment,
      // A subscription with a cluster has them all, and registering needs permissions that nothing else here needs.
      resourceProviderRegistrations: "none",
      storageUseAzuread: pointer.by === "identity",
      features: [
        {
          storage: [{ dataPlaneAvailable: false }],
          // Explicit, because provider 5 keeps the disk if the block leaves it out.
          virtualMachine: [{ deleteOsDiskOnDeletion: true }],
        },
      ],
    });
  }

  #machineSpec({ azure, fixedAddress, replaceMachine }: AzureBootstrapStackProps): MachineSpec {
    return new MachineSpec(this, "machine-spec", {
      payload: this.payload,
      replaceMachine,
      options: {
        image: azure.image,
        size: azure.bootstrapVMSize,
        subnet: {
          resourceGroupName: azure.networkResourceGroupName,
          virtualNetwork: azure.virtualNetwork,
          name: azure.controlPlaneSubnet,
        },
        ipv6: azure.nodeSubnets.some(isIpv6Network),
        publicIp: azure.publicIp,
        fixedAddress,
        rootVolume: { sizeGiB: azure.osDiskSizeGB, diskEncryptionSetId: azure.diskEncryptionSetId },
        encryptionAtHost: azure.encryptionAtHost,
      },
    });
  }
}

/** At most 24 characters. The digits at the end tell clusters apart. */
function accountNameOf(infraId: string, uniquePart: string): string {
  return `${infraId.replaceAll("-", "").slice(0, 24 - uniquePart.length)}${uniquePart}`;
}
