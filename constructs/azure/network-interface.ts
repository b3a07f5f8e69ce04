import { DataAzurermSubnet } from "@cdktf/provider-azurerm/lib/data-azurerm-subnet/index.js";
import { NetworkInterface as Interface } from "@cdktf/provider-azurerm/lib/network-interface/index.js";
import { PublicIp } from "@cdktf/provider-azurerm/lib/public-ip/index.js";
import { Construct } from "constructs";
import { canonicalIp, isIpv6, isIpv6Network } from "../../src/core/addresses.ts";
import type { PayloadFile } from "../shared/payload-file.ts";
import { addressForMachines } from "../shared/subnet-condition.ts";
import { addressOf } from "../shared/terraform-address.ts";

export interface NetworkInterfaceProps {
  readonly name: string;
  readonly resourceGroupName: string;
  readonly region: string;
  readonly subnet: {
    readonly subscriptionId: string;
    readonly resourceGroupName: string;
    readonly virtualNetwork: string;
    readonly name: string;
  };
  /** Whether it has an IPv6 address beside the IPv4 one, which every interface must have. */
  readonly ipv6: boolean;
  /** Its private address of one family. @default - the subnet gives one */
  readonly fixedAddress?: string;
  readonly publicIp: boolean;
  readonly payload: PayloadFile;
  readonly tags: Readonly<Record<string, string>>;
}

/** The bootstrap machine's place in the network: before the machine, so that it has a way out when it boots. */
export class NetworkInterface extends Construct {
  readonly interfaceId: string;
  /** Of the IPv4 address: load balancers take that one. */
  readonly ipConfigurationName = "ipv4";
  /** The address that the nodes dial. */
  readonly privateIp: string;
  /** @default - it has none */
  readonly publicIp?: string;
  readonly #nic: string;
  readonly #ipv4: string;
  readonly #ipv6: string;

  constructor(scope: Construct, id: string, props: NetworkInterfaceProps) {
    super(scope, id);
    const { name, resourceGroupName, region, subnet, tags } = props;
    const fixed = props.fixedAddress === undefined ? undefined : canonicalIp(props.fixedAddress);
    const fixed4 = fixed === undefined || isIpv6(fixed) ? undefined : fixed;
    const fixed6 = fixed !== undefined && isIpv6(fixed) ? fixed : undefined;
    const publicIp = props.publicIp
      ? new PublicIp(this, "public-ip", {
          name: `${name}-ssh-pip`,
          resourceGroupName,
          location: region,
          sku: "Standard",
          allocationMethod: "Static",
          tags,
        })
      : undefined;
    const subnetId = `/subscriptions/${subnet.subscriptionId}/resourceGroups/${subnet.resourceGroupName}/providers/Microsoft.Network/virtualNetworks/${subnet.virtualNetwork}/subnets/${subnet.name}`;
    const nic = new Interface(this, "Default", {
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
        ...(props.ipv6 ? [{ name: "ipv6", subnetId, privateIpAddressVersion: "IPv6", ...allocation(fixed6) }] : []),
      ],
      tags,
      lifecycle: {
        ...props.payload.lifecycle(["ip_configuration"]),
        ...(fixed !== undefined && { precondition: [this.#freeIn(subnet, fixed)] }),
      },
    });
    const addresses = `${addressOf(nic)}.private_ip_addresses`;
    this.interfaceId = nic.id;
    this.#nic = addressOf(nic);
    // The addresses that it has, whatever the config says by now.
    this.#ipv4 = `\${${addresses}[0]}`;
    // One that was made before there were IPv6 nodes has none: then the rule opens nothing.
    this.#ipv6 = `\${try(${addresses}[1], "::")}`;
    this.privateIp = fixed6 === undefined ? this.#ipv4 : this.#ipv6;
    this.publicIp = publicIp?.ipAddress;
  }

  #freeIn({ name, virtualNetwork, resourceGroupName }: NetworkInterfaceProps["subnet"], address: string) {
    const subnet = new DataAzurermSubnet(this, "subnet", {
      name,
      virtualNetworkName: virtualNetwork,
      resourceGroupName,
    });
    return addressForMachines({
      address,
      networks: `${addressOf(subnet)}.address_prefixes`,
      subnet: name,
      kept: [0, 1, 2, 3, -1],
      keptInWords: "Azure keeps the first four and the last",
    });
  }

  /** A precondition for the machine: its interface keeps or lacks the public address that it was made with. */
  get samePublicIp() {
    const has = `try(coalesce(${this.#nic}.ip_configuration[0].public_ip_address_id), "") != ""`;
    const [made, now] = this.publicIp === undefined ? ["with", "false"] : ["without", "true"];
    return {
      condition: `\${(${has}) == ${this.publicIp !== undefined}}`,
      errorMessage: `azure.publicIp is ${now} now, but the machine was made ${made} a public address and keeps its interface: set it back, or set \`replaceMachine: true\`.`,
    };
  }

  /** Its private address of the same family as a network. */
  addressFor(network: string): string {
    return isIpv6Network(network) ? this.#ipv6 : this.#ipv4;
  }
}

function allocation(address: string | undefined) {
  return address === undefined
    ? { privateIpAddressAllocation: "Dynamic" }
    : { privateIpAddressAllocation: "Static", privateIpAddress: address };
}
