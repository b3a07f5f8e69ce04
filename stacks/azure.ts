import { DataAzurermClientConfig } from "@cdktf/provider-azurerm/lib/data-azurerm-client-config/index.js";
import { AzurermProvider } from "@cdktf/provider-azurerm/lib/provider/index.js";
import { TerraformOutput } from "cdktf";
import type { Construct } from "constructs";
import { isIpv6Network } from "../src/core/addresses.ts";
import { LoadBalancerAttachment } from "../constructs/azure/load-balancer-attachment.ts";
import { FirewallRules, type Ingress } from "../constructs/azure/firewall-rules.ts";
import { type Image, Machine } from "../constructs/azure/machine.ts";
import { NetworkInterface } from "../constructs/azure/network-interface.ts";
import { PayloadReader } from "../constructs/azure/payload-reader.ts";
import { PayloadSas } from "../constructs/azure/payload-sas.ts";
import { PayloadStore } from "../constructs/azure/payload-store.ts";
import { azureClusterTag, type AzureInputs, rulePlaces } from "../constructs/azure/config.ts";
import { ports } from "../constructs/shared/machine-ports.ts";
import { CloudBootstrapStack, type CloudBootstrapStackProps } from "./cloud-bootstrap-stack.ts";

export interface AzureBootstrapStackProps extends CloudBootstrapStackProps {
  readonly azure: AzureInputs;
}

/** azure-bootstrap: the machine, its 8091 rules, its payload, and its place behind the API's load balancers. */
export class AzureBootstrapStack extends CloudBootstrapStack {
  constructor(scope: Construct, id: string, props: AzureBootstrapStackProps) {
    super(scope, id, { ...props, platform: "azure", provider: "azurerm" });
    const { azure, fixedAddress } = props;
    const { infraId, uniquePart } = props.cluster;
    const { resourceGroupName, region, pointer, bootstrapIdentityId } = azure;
    const name = `${infraId}-bootstrap`;
    const tags = { ...props.tags, [azureClusterTag(infraId)]: "owned" };
    const place = { resourceGroupName, region, tags };
    new AzurermProvider(this, "azurerm", {
      subscriptionId: azure.subscriptionId,
      environment: azure.environment,
      // A subscription with a cluster in it has them all, and registering takes rights that nothing else here needs.
      resourceProviderRegistrations: "none",
      storageUseAzuread: pointer.by === "identity",
      features: [
        {
          storage: [{ dataPlaneAvailable: false }],
          // Said, because a block without it means in provider 5 that the disk stays.
          virtualMachine: [{ deleteOsDiskOnDeletion: true }],
        },
      ],
    });
    const subscriptionId = azure.subscriptionId ?? new DataAzurermClientConfig(this, "client").subscriptionId;

    const store = new PayloadStore(this, "payload-store", {
      ...place,
      accountName: `${infraId.replaceAll("-", "").slice(0, 24 - uniquePart.length)}${uniquePart}`,
      blobDomain: azure.blobDomain,
      payload: this.payload,
      sharedKeys: pointer.by === "sas",
    });
    const sas =
      pointer.by === "sas"
        ? new PayloadSas(this, "payload-sas", { store, payload: this.payload, hours: pointer.hours })
        : undefined;
    const reader =
      pointer.by === "identity" && bootstrapIdentityId === undefined
        ? new PayloadReader(this, "payload-reader", {
            ...place,
            name,
            containerId: store.containerId,
            waitSeconds: pointer.waitSeconds,
          })
        : undefined;
    const ipv6 = azure.nodeSubnets.some(isIpv6Network);
    this.payload.machineIsMadeOf({
      image: JSON.stringify(azure.image),
      size: azure.bootstrapVMSize,
      diskGB: azure.osDiskSizeGB,
      diskKey: azure.diskEncryptionSetId,
      encryptionAtHost: azure.encryptionAtHost,
      subnet: `${azure.virtualNetwork}/${azure.controlPlaneSubnet}`,
      address: fixedAddress,
      ipv6,
      publicIp: azure.publicIp,
    });
    const networkInterface = new NetworkInterface(this, "network-interface", {
      ...place,
      name,
      payload: this.payload,
      subnet: {
        subscriptionId,
        resourceGroupName: azure.networkResourceGroupName,
        virtualNetwork: azure.virtualNetwork,
        name: azure.controlPlaneSubnet,
      },
      ipv6,
      fixedAddress,
      publicIp: azure.publicIp,
    });
    const ingress = ingressOf(props, networkInterface);
    const firewall =
      ingress.length > 0
        ? new FirewallRules(this, "firewall-rule", {
            name,
            networkSecurityGroup: azure.networkSecurityGroup,
            resourceGroupName: azure.networkSecurityGroupResourceGroupName,
            priority: azure.firewallPriority,
            ingress,
          })
        : undefined;
    const membership = new LoadBalancerAttachment(this, "api-membership", {
      networkInterface,
      backendAddressPoolIds: azure.backendAddressPoolIds,
    });
    const machine = new Machine(this, "machine", {
      ...place,
      name,
      size: azure.bootstrapVMSize,
      image: imageOf(azure, subscriptionId),
      networkInterfaceId: networkInterface.interfaceId,
      // A machine that is replaced gets a new interface.
      preconditions: props.replaceMachine ? [] : [networkInterface.samePublicIp],
      osDisk: { sizeGB: azure.osDiskSizeGB, diskEncryptionSetId: azure.diskEncryptionSetId },
      encryptionAtHost: azure.encryptionAtHost,
      sshKey: azure.sshKeyData,
      identityId: reader?.identityId ?? bootstrapIdentityId,
      payload: this.payload,
      payloadUrl: store.url,
      payloadQuery: sas?.query,
      dependsOn: [store.stored, ...(reader === undefined ? [] : [reader.granted]), ...membership.joined],
    });
    this.addOutputs({
      nodes: { networks: azure.nodeSubnets },
      privateIp: networkInterface.privateIp,
      publicIp: networkInterface.publicIp,
      machineId: machine.machineId,
      payloadUrl: store.url,
      firewallRules: opened(firewall?.idsFor(ports.agent)),
    });
    if (sas !== undefined)
      new TerraformOutput(this, "secrets_in_state", {
        value:
          "The state holds the storage account's keys and the payload's signed URL until teardown; so does the backup beside a local state, which goes too.",
        description: "With `pointer: identity` it holds nothing that opens anything",
      });
  }
}

/** None is not an empty list. */
const opened = (ids: readonly string[] | undefined) => (ids === undefined || ids.length === 0 ? undefined : ids);

function ingressOf(
  { azure, opensTunnelPort }: AzureBootstrapStackProps,
  networkInterface: NetworkInterface,
): Ingress[] {
  const from = (rule: Omit<Ingress, "source" | "destination">, source: string | undefined): Ingress[] =>
    source === undefined ? [] : [{ ...rule, source, destination: networkInterface.addressFor(source) }];
  const agents = { description: "Konnectivity agents of the nodes", port: ports.agent };
  return [
    ...(opensTunnelPort ? azure.nodeSubnets : []).flatMap((subnet, index) =>
      from({ ...agents, id: `konnectivity-${index}`, place: rulePlaces.agents + index }, subnet),
    ),
    ...from({ id: "ssh", description: "ssh", place: rulePlaces.ssh, port: ports.ssh }, azure.allowedBootstrapSshCidr),
    ...from(
      { id: "journal", description: "Journal gateway", place: rulePlaces.journal, port: ports.journal },
      azure.allowedBootstrapJournalCidr,
    ),
  ];
}

function imageOf({ image, resourceGroupName }: AzureInputs, subscriptionId: string): Image {
  if ("id" in image) return image;
  if ("marketplace" in image) return { ...image.marketplace, purchased: image.marketplace.plan === "WithPurchasePlan" };
  const { gallery, name } = image;
  return {
    id: `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroupName}/providers/Microsoft.Compute/galleries/${gallery}/images/${name}`,
  };
}
