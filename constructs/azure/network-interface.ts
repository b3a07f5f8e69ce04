import { DataAzurermSubnet } from "@cdktf/provider-azurerm/lib/data-azurerm-subnet/index.js";
import { NetworkInterface as AzurermNetworkInterface } from "@cdktf/provider-azurerm/lib/network-interface/index.js";
import { PublicIp } from "@cdktf/provider-azurerm/lib/public-ip/index.js";
import { Construct } from "constructs";
import { canonicalIp, isIpv6, isIpv6Network } from "../../src/core/addresses.ts";
import { freeAddressIn } from "../shared/subnet-condition.ts";
import { addressOf } from "../shared/terraform-address.ts";
import type { MachineOptions, MachineSpec } from "./machine-spec.ts";

export interface NetworkInterfaceProps {
  readonly name: string;
  readonly spec: MachineSpec;
  readonly subscriptionId: string;
  readonly resourceGroupName: string;
  readonly region: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** The machine's network interface. It exists before the machine, which needs an outbound connection when it boots. */
export class NetworkInterface extends Construct {
  readonly interfaceId: string;
  /** The configuration with the IPv4 address, which load balancers use. */
  readonly ipConfigurationName = "ipv4";
  /** The address that the nodes dial. */
  readonly privateIp: string;
  /** @default - the machine has none */
  readonly publicIp?: string;
  readonly #address: string;
  readonly #ipv4: string;
  readonly #ipv6: string;

  constructor(scope: Construct, id: string, props: NetworkInterfaceProps) {
    super(scope, id);
    const { name, spec, resourceGroupName, region, tags } = props;
    const { subnet, ipv6, fixedAddress } = spec.options;
    const fixed = fixedAddress === undefined ? undefined : canonicalIp(fixedAddress);
    const fixed4 = fixed === undefined || isIpv6(fixed) ? undefined : fixed;
    const fixed6 = fixed !== undefined && isIpv6(fixed) ? fixed : undefined;
    const publicIp = spec.options.publicIp
      ? new PublicIp(this, "public-ip", {
          name: `${name}-ssh-pip`,
          resourceGroupName,
          location: region,
          sku: "Standard",
          allocationMethod: "Static",
          tags,
        })
      : undefined;
    const subnetId = `/subscriptions/${props.subscriptionId}/resourceGroups/${subnet.resourceGroupName}/providers/Microsoft.Network/virtualNetworks/${subnet.virtualNetwork}/subnets/${subnet.name}`;
    const nic = new AzurermNetworkInterface(this, "Default", {
      name: `${name}-nic`,
      resourceGroupName,
      location: region,
      ipConfiguration: [
        {
          name: this.ipConfigurationName,
          subnetId,
          primary: true,
          ...allocation(fixed4),
          publicIpAddressId: publicIp?.id,
        },
        ...(ipv6 ? [{ name: "ipv6", subnetId, privateIpAddressVersion: "IPv6", ...allocation(fixed6) }] : []),
      ],
      tags,
      lifecycle: {
        ...spec.lifecycle(["ip_configuration"]),
        ...(fixed !== undefined && { precondition: [this.#isFree(fixed, subnet)] }),
      },
    });
    this.interfaceId = nic.id;
    this.#address = addressOf(nic);
    // References to what the interface has: the config may have changed since it was created.
    const addresses = `${this.#address}.private_ip_addresses`;
    this.#ipv4 = `\${${addresses}[0]}`;
    // An interface that was created before there were IPv6 nodes has no IPv6 address: a rule for "::" opens nothing.
    this.#ipv6 = `\${try(${addresses}[1], "::")}`;
    this.privateIp = fixed6 === undefined ? this.#ipv4 : this.#ipv6;
    this.publicIp = publicIp?.ipAddress;
  }

  /** A precondition for the machine: the interface, which it keeps, has a public address exactly if the config wants one. */
  get samePublicIp() {
    const has = `try(coalesce(${this.#address}.ip_configuration[0].public_ip_address_id), "") != ""`;
    const [made, now] = this.publicIp === undefined ? ["with", "false"] : ["without", "true"];
    return {
      condition: `\${(${has}) == ${this.publicIp !== undefined}}`,
      errorMessage: `azure.publicIp is ${now} now, but the machine was made ${made} a public address and keeps its interface: set it back, or set \`replaceMachine: true\`.`,
    };
  }

  /** The private address of the same family as a network. */
  addressFor(network: string): string {
    return isIpv6Network(network) ? this.#ipv6 : this.#ipv4;
  }

  #isFree(address: string, { name, virtualNetwork, resourceGroupName }: MachineOptions["subnet"]) {
    const subnet = new DataAzurermSubnet(this, "subnet", {
      name,
      virtualNetworkName: virtualNetwork,
      resourceGroupName,
    });
    return freeAddressIn({
      address,
      networks: `${addressOf(subnet)}.address_prefixes`,
      subnet: name,
      reserved: [0, 1, 2, 3, -1],
      reservedInWords: "Azure keeps the first four and the last",
    });
  }
}

function allocation(address: string | undefined) {
  return address === undefined
    ? { privateIpAddressAllocation: "Dynamic" }
    : { privateIpAddressAllocation: "Static", privateIpAddress: address };
}
