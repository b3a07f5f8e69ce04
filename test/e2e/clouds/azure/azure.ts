import { randomUUID } from "node:crypto";
import { ensureGoProgram } from "../../../../lab/go-programs.js";
import type { Certificate } from "../certificate.ts";
import type { Cloud, Deployed } from "../cloud.ts";
import type { Json } from "../fake-server.ts";
import { MetadataService } from "../metadata-service.ts";
import { accepted, acceptedWithSas } from "../policy/checkov.ts";
import { metadata } from "../../../support/stacks.ts";
import { BlobService } from "./blob-service.ts";
import { ResourceManager } from "./resource-manager.ts";
import { AzureFake } from "./fake.ts";
import { tenant, tokenOf } from "./token.ts";

const { infraID } = metadata;
const subscription = "/subscriptions/00000000-0000-0000-0000-000000000000";
const group = `${subscription}/resourceGroups/${metadata.azure.resourceGroupName}`;
const network = `${group}/providers/Microsoft.Network`;
const securityGroup = `${network}/networkSecurityGroups/${infraID}-nsg`;
const balancers = ["", "-internal-lb"].map((name) => `${network}/loadBalancers/${infraID}${name}`);
const pools = balancers.map((balancer) => `${balancer}/backendAddressPools/${infraID}`);
/** Rules that others made: the cluster's own, and a decoy's, whose name is nearly ours. */
const rulesOfOthers = [`apiserver_in`, `${infraID}2-bootstrap-konnectivity-0`];
const machine = `${group}/providers/Microsoft.Compute/virtualMachines/${infraID}-bootstrap`;
export const accountName = `${infraID.replaceAll("-", "")}${metadata.clusterID.slice(0, 8)}`;
const decoyIdentity = `${group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/${infraID}2-bootstrap`;
const account = `${group}/providers/Microsoft.Storage/storageAccounts/${accountName}`;
const object = "/ignition/payload.ign";
const time = "20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ";

/** What Azure lists inside things of a type only, not with all that a group has. */
const listsInside = {
  networkSecurityGroups: "securityRules",
  virtualNetworks: "subnets",
  loadBalancers: "backendAddressPools",
  storageAccounts: "blobServices/default/containers",
};

/** Azure has one field for a single value and another for several. */
function severalOf(properties: Json, one: string, several = `${one}s`): string[] {
  return [properties[one], properties[several]].flat().filter((value) => typeof value === "string");
}

/** How the machine gets access to its payload. */
export type PointerKind = "sas" | "identity";

export class Azure implements Cloud {
  readonly name = "azure";
  readonly ignitionPlatform = "azure";
  /** Since 2.21 Ignition reads blobs with the machine's identity. */
  readonly ignition?: string;
  readonly #pointer: PointerKind;
  readonly mistake = { right: '"protocol":"Tcp"', wrong: '"protocol":"tcp4"', said: "protocol" };
  readonly otherParts = { bootstrapVMSize: "Standard_D8s_v5", osDiskSizeGB: 256 };
  readonly rest = { tunnel: { address: "10.0.0.20" } };
  readonly environment = {
    ARM_SUBSCRIPTION_ID: subscription.split("/")[2] ?? "",
    ARM_TENANT_ID: tenant,
    ARM_CLIENT_ID: "00000000-0000-0000-0000-000000000002",
    ARM_CLIENT_SECRET: "operator",
    // Every operation is done at once here; without this the provider would wait ten seconds for each.
    GO_AZURE_SDK_SKIP_POLLING_DELAY: "true",
  };
  get options() {
    return {
      nodeSubnets: ["10.0.0.0/24", "10.0.1.0/24"],
      backendAddressPoolIds: pools,
      // Permissions take effect at once.
      ...(this.#pointer === "identity" && { pointer: "identity", identityWaitSeconds: 0 }),
    };
  }

  get accepted() {
    return this.#pointer === "sas" ? { ...accepted.azure, ...acceptedWithSas } : accepted.azure;
  }

  get expected() {
    return {
      sources: ["10.0.0.0/24", "10.0.1.0/24"],
      destination: /^10\.0\.0\.20$/,
      memberOf: pools,
      clusterTag: { [`kubernetes.io_cluster.${infraID}`]: "owned" },
      pointer: {
        source: `https://${accountName}.blob.core.windows.net${object}`,
        // Read access to one container, over https, for a period. azurite checks the signature.
        signature:
          this.#pointer === "sas"
            ? new RegExp(`\\?sv=[\\d-]+&sr=c&st=${time}&se=${time}&sp=r&spr=https&sig=[\\w%]+(?=")`)
            : undefined,
        httpTotal: 1800,
      },
      store: {
        allowBlobPublicAccess: false,
        supportsHttpsTrafficOnly: true,
        minimumTlsVersion: "TLS1_2",
        container: { publicAccess: "None" },
        allowSharedKeyAccess: this.#pointer === "sas",
      },
    };
  }
  readonly #blobs = new BlobService(accountName);
  readonly #fake = new AzureFake(this.#blobs);
  readonly #arm = new ResourceManager(this.environment);

  constructor(pointer: PointerKind) {
    this.#pointer = pointer;
    if (pointer === "identity") this.ignition = ensureGoProgram("ignition").ignition;
  }

  async start(certificate: Certificate, folder: string): Promise<void> {
    const fake = this.#fake;
    const rule = (port: string, priority: number) => ({
      ...{ protocol: "Tcp", direction: "Inbound", access: "Allow", priority, destinationPortRange: port },
      ...{ sourceAddressPrefix: "*", sourcePortRange: "*", destinationAddressPrefix: "*" },
    });
    fake.has(securityGroup, {}, { location: metadata.azure.region });
    fake.has(`${network}/virtualNetworks/${infraID}-vnet/subnets/${infraID}-master-subnet`, {
      addressPrefixes: ["10.0.0.0/24"],
      privateEndpointNetworkPolicies: "Disabled",
      privateLinkServiceNetworkPolicies: "Enabled",
      defaultOutboundAccess: false,
    });
    for (const one of [`${network}/virtualNetworks/${infraID}-vnet`, ...balancers, ...pools]) fake.has(one);
    for (const [index, name] of rulesOfOthers.entries())
      fake.has(`${securityGroup}/securityRules/${name}`, rule(index === 0 ? "6443" : "8091", 400 + index));
    fake.has(machine.replace(infraID, `${infraID}2`));
    fake.has(decoyIdentity, { principalId: randomUUID() });
    await fake.listen({ address: "127.0.0.1", port: 443, certificate });
    await this.#blobs.start(certificate, folder);
  }

  async stop(): Promise<void> {
    await this.#blobs.close();
    await this.#fake.close();
  }

  async everything(): Promise<string[]> {
    const { body } = await this.#blobs.call("GET", "/?comp=list");
    const containers = Array.from(String(body).matchAll(/<Name>([^<]+)/g), ([, name]) => `container ${name ?? ""}`);
    const found = await this.#arm.list(`${group}/resources`);
    const inside = await Promise.all(
      found.flatMap(({ id }) =>
        Object.entries(listsInside)
          .filter(([type]) => id.includes(`/${type}/`))
          .map(([, list]) => this.#arm.list(`${id}/${list}`)),
      ),
    );
    // One by one: a list does not contain the related resources.
    const all = await Promise.all([...found, ...inside.flat()].map(({ id }) => this.#arm.get(id)));
    const grants = await this.#arm.list(`${subscription}/providers/Microsoft.Authorization/roleAssignments`);
    return [...[...all, ...grants].map((one) => `${one.id} ${JSON.stringify(one)}`), ...containers].sort();
  }

  unknownCalls(): readonly string[] {
    return [...this.#fake.unknown, ...this.#blobs.unknown];
  }

  async deployed(): Promise<Deployed> {
    const found = await this.#arm.get(machine);
    const rules = await this.#arm.list(`${securityGroup}/securityRules`);
    const members = await Promise.all(pools.map((pool) => this.#arm.get(pool)));
    const [face] = (found.properties.networkProfile as { networkInterfaces: { id: string }[] }).networkInterfaces;
    return {
      machine: JSON.stringify(found),
      userData: this.#fake.customDataOf(machine),
      tags: found.tags as Record<string, string>,
      openPorts: rules
        .filter(({ name, properties }) => !rulesOfOthers.includes(name) && properties.access === "Allow")
        .map(({ properties }) => ({
          port: `${String(properties.protocol).toLowerCase()} ${severalOf(properties, "destinationPortRange").join()}`,
          sources: severalOf(properties, "sourceAddressPrefix", "sourceAddressPrefixes"),
          destination: severalOf(properties, "destinationAddressPrefix", "destinationAddressPrefixes").join(),
        })),
      memberOf: members
        .filter(({ properties }) =>
          (properties.backendIPConfigurations as { id: string }[]).some(({ id }) =>
            id.startsWith(`${face?.id ?? ""}/`),
          ),
        )
        .map(({ id }) => id),
      store: {
        ...(await this.#arm.get(account)).properties,
        container: (await this.#arm.get(`${account}/blobServices/default/containers/ignition`)).properties,
      },
      object: await this.#readObject(),
    };
  }

  async #readObject(): Promise<Buffer> {
    const token = await this.#arm.tokenFor("https://storage.azure.com");
    const headers = { Authorization: `Bearer ${token}`, "x-ms-version": "2021-12-02" };
    const { status, body } = await this.#blobs.fetch("GET", object, headers);
    if (status !== 200) throw new Error(`GET ${object}: ${status} ${String(body)}`);
    return body;
  }

  async anonymousStatus(): Promise<number> {
    return (await this.#blobs.fetch("GET", object)).status;
  }

  async flipByte(): Promise<void> {
    const { body } = await this.#blobs.call("GET", object);
    body[100] = (body[100] ?? 0) ^ 1;
    await this.#blobs.call("PUT", object, body);
  }

  /** With a signed URL, the pointer grants access: another identity has another signature, and no identity has none. */
  async metadata(identity: "its own" | "another" | "none"): Promise<MetadataService> {
    const { userData } = await this.deployed();
    const text = String(userData);
    const pointers = {
      "its own": text,
      another: text.replace(/sig=[^&"\\]+/, "sig=AAAA"),
      none: text.replace(/(payload\.ign)\?[^"]+/, "$1"),
    };
    const principal = identity === "none" ? undefined : await this.#principalOf(identity);
    return new MetadataService(({ path, query, headers }) => {
      if (headers.metadata !== "true") return { status: 400 };
      // What Ignition reads first. On Azure it is on a virtual disc, which cannot be created here.
      if (path === "/metadata/instance/compute/userData")
        return { status: 200, body: Buffer.from(Buffer.from(pointers[identity]).toString("base64")) };
      if (path !== "/metadata/identity/oauth2/token") return undefined;
      // A machine without an identity is told that it has none.
      if (principal === undefined)
        return { status: 400, body: { error: "invalid_request", error_description: "Identity not found" } };
      const resource = query.get("resource") ?? "";
      const expires = Math.floor(Date.now() / 1000) + 86_400;
      return {
        status: 200,
        body: {
          access_token: tokenOf(principal, resource),
          token_type: "Bearer",
          resource,
          expires_on: String(expires),
          expires_in: "86400",
        },
      };
    });
  }

  /** The principal of the machine, or of the decoy. */
  async #principalOf(whose: "its own" | "another"): Promise<string | undefined> {
    const { identity } = await this.#arm.get(machine);
    const [own] = Object.keys(
      (identity as { userAssignedIdentities?: object } | undefined)?.userAssignedIdentities ?? {},
    );
    const id = whose === "its own" ? own : decoyIdentity;
    return id === undefined ? undefined : String((await this.#arm.get(id)).properties.principalId);
  }

  when(what: "machine is made" | "machine is removed", then: () => void): void {
    const method = what === "machine is made" ? "PUT" : "DELETE";
    this.#fake.trap((call) => call.method === method && call.path.toLowerCase() === machine.toLowerCase(), then);
  }
}
