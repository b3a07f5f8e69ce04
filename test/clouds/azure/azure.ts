import type { Certificate } from "../certificate.ts";
import type { Cloud, Deployed } from "../cloud.ts";
import { MetadataService } from "../metadata-service.ts";
import { metadata } from "../../support/stacks.ts";
import { BlobService } from "./blob-service.ts";
import { AzureStandIn } from "./stand-in.ts";

const { infraID } = metadata;
const subscription = "/subscriptions/00000000-0000-0000-0000-000000000000";
const group = `${subscription}/resourceGroups/${metadata.azure.resourceGroupName}`;
const network = `${group}/providers/Microsoft.Network`;
const securityGroup = `${network}/networkSecurityGroups/${infraID}-nsg`;
const pools = ["", "-internal-lb"].map(
  (name) => `${network}/loadBalancers/${infraID}${name}/backendAddressPools/${infraID}`,
);
const machine = `${group}/providers/Microsoft.Compute/virtualMachines/${infraID}-bootstrap`;
export const accountName = `${infraID.replaceAll("-", "")}${metadata.clusterID.slice(0, 8)}`;
const object = "/ignition/payload.ign";
const time = "20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ";

export class Azure implements Cloud {
  readonly name = "azure";
  readonly ignitionPlatform = "azure";
  readonly options = {
    nodeSubnets: ["10.0.0.0/24", "10.0.1.0/24"],
    backendAddressPoolIds: pools,
  };
  readonly mistake = { right: '"protocol":"Tcp"', wrong: '"protocol":"tcp4"', said: "protocol" };
  readonly rest = { tunnel: { address: "10.0.0.20" } };
  readonly environment = {
    ARM_SUBSCRIPTION_ID: subscription.split("/")[2] ?? "",
    ARM_TENANT_ID: "00000000-0000-0000-0000-000000000001",
    ARM_CLIENT_ID: "00000000-0000-0000-0000-000000000002",
    ARM_CLIENT_SECRET: "operator",
    // Every operation is done at once here; without this the provider would wait ten seconds for each.
    GO_AZURE_SDK_SKIP_POLLING_DELAY: "true",
  };
  readonly expected = {
    sources: ["10.0.0.0/24", "10.0.1.0/24"],
    destination: /^10\.0\.0\.20$/,
    memberOf: pools,
    clusterTag: { [`kubernetes.io_cluster.${infraID}`]: "owned" },
    pointer: {
      source: `https://${accountName}.blob.core.windows.net${object}`,
      // One container, to read, by https, from then till then. Whether it is rightly signed says azurite.
      signature: new RegExp(`\\?sv=[\\d-]+&sr=c&st=${time}&se=${time}&sp=r&spr=https&sig=[\\w%]+(?=")`),
      httpTotal: 1800,
    },
  };
  readonly #blobs = new BlobService(accountName);
  readonly #standIn = new AzureStandIn(this.#blobs);

  async start(certificate: Certificate, folder: string): Promise<void> {
    const standIn = this.#standIn;
    const rule = (port: string, priority: number) => ({
      ...{ protocol: "Tcp", direction: "Inbound", access: "Allow", priority, destinationPortRange: port },
      ...{ sourceAddressPrefix: "*", sourcePortRange: "*", destinationAddressPrefix: "*" },
    });
    standIn.has(securityGroup, {}, { location: metadata.azure.region });
    standIn.has(`${network}/virtualNetworks/${infraID}-vnet/subnets/${infraID}-master-subnet`, {
      addressPrefixes: ["10.0.0.0/24"],
      privateEndpointNetworkPolicies: "Disabled",
      privateLinkServiceNetworkPolicies: "Enabled",
      defaultOutboundAccess: false,
    });
    for (const pool of pools) standIn.has(pool);
    // The cluster's own rule, and a decoy: another cluster's bootstrap, with names that are nearly ours.
    standIn.has(`${securityGroup}/securityRules/apiserver_in`, rule("6443", 101));
    standIn.has(`${securityGroup}/securityRules/${infraID}2-bootstrap-konnectivity-0`, rule("8091", 400));
    standIn.has(machine.replace(infraID, `${infraID}2`));
    await standIn.listen({ address: "127.0.0.1", port: 443, certificate });
    await this.#blobs.start(certificate, folder);
  }

  async stop(): Promise<void> {
    this.#blobs.stop();
    await this.#standIn.close();
  }

  async everything(): Promise<string[]> {
    const { body } = await this.#blobs.call("GET", "/?comp=list");
    const containers = Array.from(String(body).matchAll(/<Name>([^<]+)/g), ([, name]) => `container ${name ?? ""}`);
    const members = pools.flatMap((pool) => this.#membersOf(pool).map((member) => `member ${pool} ${member}`));
    return [...Array.from(this.#standIn.resources.keys()), ...containers, ...members].sort();
  }

  /** The interfaces in a backend pool: Azure keeps that in the interfaces. */
  #membersOf(pool: string): string[] {
    return [...this.#standIn.resources.values()]
      .filter(({ properties }) => JSON.stringify(properties.ipConfigurations ?? []).includes(`"${pool}"`))
      .map(({ name }) => name);
  }

  unknownCalls(): readonly string[] {
    return this.#standIn.unknown;
  }

  async deployed(): Promise<Deployed> {
    const found = this.#standIn.resources.get(machine.toLowerCase());
    const rules = [...this.#standIn.resources.values()].filter(({ id }) =>
      id.startsWith(`${securityGroup}/securityRules/${infraID}-`),
    );
    return {
      machine: JSON.stringify(found),
      userData: Buffer.from(this.#standIn.customData.get(machine.toLowerCase()) ?? "", "base64"),
      tags: (found?.tags ?? {}) as Record<string, string>,
      openPorts: rules.map(({ properties }) => ({
        port: `${String(properties.protocol).toLowerCase()} ${String(properties.destinationPortRange)}`,
        sources: [String(properties.sourceAddressPrefix)],
        destination: String(properties.destinationAddressPrefix),
      })),
      memberOf: pools.filter((pool) => this.#membersOf(pool).length > 0),
      object: (await this.#blobs.call("GET", object)).body,
    };
  }

  async anonymousStatus(): Promise<number> {
    return (await this.#blobs.fetch("GET", object)).status;
  }

  async flipByte(): Promise<void> {
    const { body } = await this.#blobs.call("GET", object);
    body[100] = (body[100] ?? 0) ^ 1;
    await this.#blobs.call("PUT", object, body);
  }

  /** The machine's right is in its pointer: another's has another signature, and none has none. */
  async metadata(identity: "its own" | "another" | "none"): Promise<MetadataService> {
    const { userData } = await this.deployed();
    const text = String(userData);
    const pointers = {
      "its own": text,
      another: text.replace(/sig=[^&"\\]+/, "sig=AAAA"),
      none: text.replace(/(payload\.ign)\?[^"]+/, "$1"),
    };
    // Where Ignition asks first. A machine in Azure has it on a virtual disc, which cannot be made here.
    const asked = "/metadata/instance/compute/userData";
    return new MetadataService(({ path }) =>
      path === asked
        ? { status: 200, body: Buffer.from(Buffer.from(pointers[identity]).toString("base64")) }
        : undefined,
    );
  }

  when(what: "machine is made" | "machine is removed", then: () => void): void {
    const method = what === "machine is made" ? "PUT" : "DELETE";
    this.#standIn.trap((call) => call.method === method && call.path.toLowerCase() === machine.toLowerCase(), then);
  }
}
