import { z } from "zod";
import { firewallCommands } from "./firewall-commands.ts";
import { isIpv6, isIpv6Network, networkContains, networksOverlap } from "../../src/core/addresses.ts";
import { acceptedKey, sshKey } from "./ssh-key.ts";
import { network, oneOf, pattern, integer, boolean } from "../../src/core/schema/fields.ts";
import { anyText, known, metadataPart } from "../../src/config/metadata.ts";
import {
  accessOptions,
  definePlatform,
  invalid,
  type PlatformContext,
  refuse,
  required,
  warnOfWorld,
} from "../../src/config/platform.ts";

/** What differs between Azure's clouds, by the names that openshift-install gives them. */
const clouds = {
  AzurePublicCloud: { environment: "public", blobDomain: "blob.core.windows.net" },
  AzureUSGovernmentCloud: { environment: "usgovernment", blobDomain: "blob.core.usgovcloudapi.net" },
  AzureChinaCloud: { environment: "china", blobDomain: "blob.core.chinacloudapi.cn" },
} as const;
type CloudName = keyof typeof clouds;
const cloudNames = Object.keys(clouds) as [CloudName, ...CloudName[]];

const uuid = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}";
// Azure takes letters and digits of every script.
const group = "[\\p{L}\\p{N}_.()\\-]{0,89}[\\p{L}\\p{N}_()\\-]";
const name = "[a-zA-Z0-9]([\\w.\\-]{0,78}\\w)?";

const resourceGroup = () => pattern("a resource group's name", new RegExp(`^${group}$`, "u"));
const azureRegion = () => pattern("a region like westeurope", /^[a-z][a-z0-9]+$/);
const named = (what: string) => pattern(`a ${what}'s name`, new RegExp(`^${name}$`));
const idOf = (what: string, ...types: string[]) =>
  pattern(
    `the id of ${what}, like /subscriptions/…/providers/${types[0]?.replaceAll("/*", "/…") ?? ""}`,
    new RegExp(
      `^/subscriptions/${uuid}/resourceGroups/${group}/providers/(${types.map((type) => type.replaceAll(".", "\\.").replaceAll("*", name)).join("|")})$`,
      "u",
    ),
  );
const listOf = <T extends z.ZodType>(item: T, from: number, to: number, error: string) =>
  z.array(item, { error }).min(from, { error }).max(to, { error });

const mostNodeSubnets = 50;
/** Priorities of the rules, counted from `firewallPriority`. Each has one of its own, whatever other rules there are. */
export const rulePlaces = { agents: 0, ssh: mostNodeSubnets, journal: mostNodeSubnets + 1 } as const;

/** Names are those of the UPI template `04_bootstrap.json` and of install-config.yaml, where they have one. */
const schema = z.strictObject(
  {
    subscriptionId: pattern("a subscription's id", new RegExp(`^${uuid}$`))
      .optional()
      .describe("The cluster's subscription. Default: the environment's ARM_SUBSCRIPTION_ID."),
    cloudName: oneOf(...cloudNames)
      .optional()
      .describe("Which of Azure's clouds. Default: what metadata.json says, or AzurePublicCloud."),
    region: azureRegion().optional().describe("Where the cluster is. Default: what metadata.json says."),
    resourceGroupName: resourceGroup()
      .optional()
      .describe(
        "The cluster's resource group: everything is made in it. Default: what metadata.json says, or <infra ID>-rg.",
      ),
    networkResourceGroupName: resourceGroup()
      .optional()
      .describe("The virtual network's resource group. Default: resourceGroupName."),
    virtualNetwork: named("virtual network")
      .optional()
      .describe("The cluster's virtual network. Default: <infra ID>-vnet."),
    controlPlaneSubnet: named("subnet")
      .optional()
      .describe("The subnet of the control plane, and of the machine. Default: <infra ID>-master-subnet."),
    networkSecurityGroup: named("network security group")
      .optional()
      .describe("The cluster's network security group: the rules go into it. Default: <infra ID>-nsg."),
    networkSecurityGroupResourceGroupName: resourceGroup()
      .optional()
      .describe("The network security group's resource group. Default: networkResourceGroupName."),
    nodeSubnets: listOf(network(), 1, mostNodeSubnets, `a list of 1 to ${mostNodeSubnets} networks`).describe(
      "The networks of all nodes, IPv4 and IPv6: their agents dial the tunnel's port. One rule each.",
    ),
    firewallPriority: integer(100, 4096)
      .default(300)
      .describe(
        "Priority of the first rule for the tunnel's port; each more has the next one. ssh's is 50 behind the first, the journal's 51. A taken one is refused.",
      ),
    backendAddressPoolIds: listOf(
      idOf("a load balancer's backend pool", "Microsoft.Network/loadBalancers/*/backendAddressPools/*"),
      0,
      10,
      "a list of at most 10 ids of backend pools (empty, if the API is balanced by something else)",
    ).describe("Backend pools of the API's load balancers, outside and inside; the machine joins them."),
    imageId: idOf(
      "a generation 2 image",
      "Microsoft.Compute/galleries/*/images/*",
      "Microsoft.Compute/galleries/*/images/*/versions/*",
      "Microsoft.Compute/images/*",
    )
      .optional()
      .describe(
        "The machine's image, of generation 2. Default: the gallery image that the UPI template makes, gallery_<infra_ID>/<infra ID>-gen2.",
      ),
    marketplaceImage: z
      .strictObject(
        {
          publisher: pattern("a publisher, like redhat", /^[\w.-]+$/).describe("Who sells it."),
          offer: pattern("an offer, like rh-ocp-worker", /^[\w.-]+$/).describe("What is sold."),
          sku: pattern("a SKU of generation 2, like rh-ocp-worker", /^[\w.-]+$/).describe("Which of it; generation 2."),
          version: pattern("a version, like 413.92.2023101700", /^[\w.-]+$/).describe("Its version."),
          plan: oneOf("WithPurchasePlan", "NoPurchasePlan")
            .default("WithPurchasePlan")
            .describe("Whether the image is bought; its terms must then have been accepted."),
        },
        { error: "an object with publisher, offer, sku, version" },
      )
      .optional()
      .describe("An image of the marketplace instead. Default: none."),
    bootstrapVMSize: pattern("a size like Standard_D4as_v5", /^Standard_[A-Z]+\d+(-\d+)?[a-z]*(_[A-Za-z0-9]+)*$/)
      .optional()
      .describe("The machine's size. Default: Standard_D4as_v5, on aarch64 Standard_D4ps_v5."),
    osDiskSizeGB: integer(100, 4095).default(128).describe("The machine's disk, Premium_LRS."),
    diskEncryptionSetId: idOf("a disk encryption set", "Microsoft.Compute/diskEncryptionSets/*")
      .optional()
      .describe("Encrypts the disk with your key. Default: the platform's key."),
    encryptionAtHost: boolean()
      .default(false)
      .describe("Encrypts caches and temporary disk too; the subscription must have the feature EncryptionAtHost."),
    sshKeyData: sshKey()
      .optional()
      .describe("A public key for the account core; Azure demands one. Default: one that bootstrap.ign has for core."),
    publicIp: boolean().default(false).describe("Whether the machine gets a public address."),
    ...accessOptions(network),
    pointer: oneOf("sas", "identity")
      .default("sas")
      .describe(
        "How the machine may read the payload: by a signed URL, which every release can and which Terraform's state holds, or by an identity, which needs an image with Ignition 2.21.",
      ),
    sasHours: integer(1, 168)
      .optional()
      .describe("How long the signed URL is good, from the first deploy of a payload. Default: 24."),
    bootstrapIdentityId: idOf("a user-assigned identity", "Microsoft.ManagedIdentity/userAssignedIdentities/*")
      .optional()
      .describe(
        "Your own identity for the machine; with `pointer: identity` it must be able to read the payload. Default: none, with `pointer: identity` a new one that can read that container and nothing else.",
      ),
    identityWaitSeconds: integer(0, 1800)
      .optional()
      .describe("How long a new identity's permission may take to spread before the machine boots. Default: 300."),
  },
  { error: "an object with nodeSubnets, backendAddressPoolIds, …" },
);
export type AzureConfig = z.output<typeof schema>;

const metadata = metadataPart({
  region: known(azureRegion()),
  resourceGroupName: known(resourceGroup()),
  /** Only compared with the names that are known. */
  cloudName: known(anyText()),
});
type Context = PlatformContext<z.output<typeof metadata>>;

/** The machine's image: by its id, in a gallery of the cluster's resource group, or in the marketplace. */
export type AzureImage =
  | { readonly id: string }
  | { readonly gallery: string; readonly name: string }
  | { readonly marketplace: NonNullable<AzureConfig["marketplaceImage"]> };

/** How the machine may read the payload. */
export type AzurePointer =
  { readonly by: "sas"; readonly hours: number } | { readonly by: "identity"; readonly waitSeconds: number };

/** What the Azure stack is made from: everything in the config, with the defaults filled in. */
export interface AzureInputs extends Omit<
  AzureConfig,
  "cloudName" | "imageId" | "marketplaceImage" | "pointer" | "sasHours" | "identityWaitSeconds"
> {
  readonly environment: string;
  readonly blobDomain: string;
  readonly region: string;
  readonly resourceGroupName: string;
  readonly networkResourceGroupName: string;
  readonly virtualNetwork: string;
  readonly controlPlaneSubnet: string;
  readonly networkSecurityGroup: string;
  readonly networkSecurityGroupResourceGroupName: string;
  readonly image: AzureImage;
  readonly bootstrapVMSize: string;
  readonly pointer: AzurePointer;
}

function resolve(config: AzureConfig, context: Context): AzureInputs {
  const { infraId, metadata } = context;
  const { cloudName: _, imageId, marketplaceImage, pointer, sasHours, identityWaitSeconds, ...rest } = config;
  const cloud = cloudOf(config, context);
  const region = required(
    { given: config.region, ofMetadata: metadata?.region },
    context,
    "azure.region",
    "the cluster's region",
  );
  // The default is the name that the installer and the UPI templates use.
  const resourceGroupName =
    config.resourceGroupName === undefined && metadata?.resourceGroupName === undefined
      ? `${infraId}-rg`
      : required(
          { given: config.resourceGroupName, ofMetadata: metadata?.resourceGroupName },
          context,
          "azure.resourceGroupName",
          "the cluster's resource group",
        );
  const networkResourceGroupName = config.networkResourceGroupName ?? resourceGroupName;
  const bootstrapVMSize =
    config.bootstrapVMSize ?? (context.architecture === "aarch64" ? "Standard_D4ps_v5" : "Standard_D4as_v5");
  checkNodeSubnets(config, context);
  checkFamilies(config, context);
  checkPriorities(config, context);
  checkPools(config, context);
  checkImage(config, context);
  checkSize(bootstrapVMSize, context);
  checkPointer(config, cloud, context);
  checkTags(context);
  const networkSecurityGroup = config.networkSecurityGroup ?? `${infraId}-nsg`;
  warnOfInlineRules(config, networkSecurityGroup, context);
  warnOfWorld("azure", config, context);
  return {
    ...rest,
    ...clouds[cloud],
    region,
    resourceGroupName,
    networkResourceGroupName,
    virtualNetwork: config.virtualNetwork ?? `${infraId}-vnet`,
    controlPlaneSubnet: config.controlPlaneSubnet ?? `${infraId}-master-subnet`,
    networkSecurityGroup,
    networkSecurityGroupResourceGroupName: config.networkSecurityGroupResourceGroupName ?? networkResourceGroupName,
    image: imageOf(infraId, imageId, marketplaceImage),
    bootstrapVMSize,
    sshKeyData: config.sshKeyData ?? coreKey(context),
    pointer:
      pointer === "sas"
        ? { by: "sas", hours: sasHours ?? 24 }
        : // Azure documents up to ten minutes; usually it takes one or two.
          { by: "identity", waitSeconds: identityWaitSeconds ?? 300 },
  };
}

/** Azure creates no machine without a key; destroying one needs none. */
function coreKey(context: PlatformContext): string | undefined {
  if (context.sshKeys === undefined) return undefined;
  const key = acceptedKey(context.sshKeys);
  if (key === undefined)
    invalid(context, "azure.sshKeyData", "missing", "an RSA or ED25519 public key (bootstrap.ign has none for core)");
  return key;
}

function warnOfInlineRules(config: AzureConfig, networkSecurityGroup: string, context: PlatformContext): void {
  const extras = (["allowedBootstrapSshCidr", "allowedBootstrapJournalCidr"] as const).filter(
    (option) => config[option] !== undefined,
  );
  if (context.tunnelPort === undefined && extras.length === 0) return;
  const advice = [
    ...(context.tunnelPort === undefined ? [] : [`use \`firewall: external\` and open ${context.tunnelPort} there`]),
    ...(extras.length > 0 ? [`leave ${extras.map((option) => `azure.${option}`).join(" and ")} out`] : []),
  ];
  context.warn({
    code: "rules-in-shared-group",
    message: `The rules of the bootstrap machine go into ${networkSecurityGroup}. If other code describes that group with its rules inside (an azurerm_network_security_group with security_rule, or a template), its next run deletes them: ${advice.join(", and ")}.`,
  });
}

function cloudOf({ cloudName }: AzureConfig, context: Context): CloudName {
  const ofMetadata = context.metadata?.cloudName;
  if (cloudName !== undefined) return cloudName;
  if (ofMetadata === undefined || ofMetadata === "" || ofMetadata === "AzurePublicCloud") return "AzurePublicCloud";
  const found = required({ given: undefined, ofMetadata }, context, "azure.cloudName", "the cluster's cloud");
  const known = cloudNames.find((name) => name === found);
  if (known === undefined) invalid(context, "azure.cloudName", `${found} (metadata.json)`, cloudNames.join(" or "));
  return known ?? "AzurePublicCloud";
}

function imageOf(infraId: string, id: string | undefined, marketplace: AzureConfig["marketplaceImage"]): AzureImage {
  if (id !== undefined) return { id };
  if (marketplace !== undefined) return { marketplace };
  return { gallery: `gallery_${infraId.replaceAll("-", "_")}`, name: `${infraId}-gen2` };
}

function checkNodeSubnets({ nodeSubnets }: AzureConfig, context: PlatformContext): void {
  const { machineNetworks } = context;
  for (const [index, subnet] of nodeSubnets.entries()) {
    const bad = (expected: string) => {
      invalid(context, `azure.nodeSubnets.${index}`, subnet, expected);
    };
    const known = machineNetworks.filter((network) => isIpv6Network(network) === isIpv6Network(subnet));
    if (Number(subnet.split("/")[1]) < (isIpv6Network(subnet) ? 16 : 8))
      bad("a network of nodes: the rule is never for everybody");
    else if (known.length > 0 && !known.some((network) => networkContains(network, subnet)))
      bad(`a part of the machine networks (${known.join(", ")})`);
    const other = nodeSubnets.slice(0, index).find((earlier) => networksOverlap(earlier, subnet));
    if (other !== undefined) bad(`a network of its own: it overlaps ${other}`);
  }
}

/** Every machine has an IPv4 address in Azure; an IPv6 address too, if there are nodes that have one. */
function checkFamilies(config: AzureConfig, context: PlatformContext): void {
  const { fixedAddress } = context;
  const has6 = config.nodeSubnets.some(isIpv6Network);
  const has4 = !config.nodeSubnets.every(isIpv6Network);
  if (fixedAddress !== undefined && !(isIpv6(fixedAddress) ? has6 : has4))
    refuse(
      context,
      { "tunnel.address": fixedAddress, "azure.nodeSubnets": undefined },
      `no node has an IPv${isIpv6(fixedAddress) ? 6 : 4} address to dial it from; give their networks of that family`,
    );
  for (const option of ["allowedBootstrapSshCidr", "allowedBootstrapJournalCidr"] as const) {
    const from = config[option];
    if (from !== undefined && isIpv6Network(from) && !has6)
      refuse(
        context,
        { [`azure.${option}`]: from, "azure.nodeSubnets": undefined },
        "without an IPv6 network among the nodes' the machine has no IPv6 address",
      );
  }
}

function checkPriorities(config: AzureConfig, context: PlatformContext): void {
  const { nodeSubnets, firewallPriority, allowedBootstrapSshCidr, allowedBootstrapJournalCidr } = config;
  const last = Math.max(
    context.tunnelPort !== undefined ? rulePlaces.agents + nodeSubnets.length - 1 : 0,
    allowedBootstrapSshCidr === undefined ? 0 : rulePlaces.ssh,
    allowedBootstrapJournalCidr === undefined ? 0 : rulePlaces.journal,
  );
  const highest = 4096 - last;
  if (firewallPriority > highest)
    invalid(
      context,
      "azure.firewallPriority",
      String(firewallPriority),
      `at most ${highest}: the last rule has ${last} more, and the last priority is 4096`,
    );
}

function checkPools({ backendAddressPoolIds, subscriptionId }: AzureConfig, context: PlatformContext): void {
  for (const [index, pool] of backendAddressPoolIds.entries()) {
    const path = `azure.backendAddressPoolIds.${index}`;
    const same = (other: string) => other.toLowerCase() === pool.toLowerCase();
    if (backendAddressPoolIds.slice(0, index).some(same)) invalid(context, path, pool, "each pool once");
    const found = pool.split("/")[2] ?? "";
    if (subscriptionId !== undefined && found.toLowerCase() !== subscriptionId.toLowerCase())
      refuse(context, [path, "azure.subscriptionId"], `the pool is in ${found}, the cluster in ${subscriptionId}`);
  }
}

function checkImage({ imageId, marketplaceImage }: AzureConfig, context: PlatformContext): void {
  if (imageId !== undefined && marketplaceImage !== undefined)
    refuse(context, ["azure.imageId", "azure.marketplaceImage"], "the machine has one image; give at most one of them");
  if (marketplaceImage?.sku.endsWith("gen1") === true)
    invalid(context, "azure.marketplaceImage.sku", marketplaceImage.sku, "a SKU of generation 2");
}

/** The letters after the number of CPUs say what a size can: p is Arm, s takes premium disks (DS and GS in old names). */
function checkSize(size: string, context: PlatformContext): void {
  const [, family = "", features = ""] = /^Standard_([A-Z]+)\d+(?:-\d+)?([a-z]*)/.exec(size) ?? [];
  const found = features.includes("p") ? "aarch64" : "x86_64";
  if (found !== context.architecture)
    refuse(context, { "azure.bootstrapVMSize": size, architecture: context.architecture }, `that size is ${found}`);
  if (!features.includes("s") && !/^[DG]S$/.test(family))
    invalid(
      context,
      "azure.bootstrapVMSize",
      size,
      "a size that takes premium disks: one with an s, like Standard_D4as_v5",
    );
}

function checkPointer(config: AzureConfig, cloud: CloudName, context: PlatformContext): void {
  const { pointer, sasHours, bootstrapIdentityId, identityWaitSeconds } = config;
  if (pointer === "identity") {
    if (sasHours !== undefined)
      refuse(
        context,
        { "azure.sasHours": undefined, "azure.pointer": pointer },
        "there is no signed URL then; leave it out",
      );
    if (identityWaitSeconds !== undefined && bootstrapIdentityId !== undefined)
      refuse(
        context,
        ["azure.identityWaitSeconds", "azure.bootstrapIdentityId"],
        "a given identity has its permission already; leave the wait out",
      );
    // Ignition looks at the host name before it takes the machine's identity.
    if (cloud !== "AzurePublicCloud")
      refuse(
        context,
        { "azure.pointer": pointer, "azure.cloudName": cloud },
        "Ignition uses the machine's identity in the public cloud only; use `pointer: sas`",
      );
    return;
  }
  if (identityWaitSeconds !== undefined)
    refuse(
      context,
      { "azure.identityWaitSeconds": undefined, "azure.pointer": pointer },
      "no identity is made then; leave it out",
    );
  if (!context.destroyOnly)
    context.warn({
      code: "secrets-in-azure-state",
      message:
        "azure.pointer is sas: until teardown Terraform's state, and its backup beside a local one, hold the storage account's keys and the signed URL, which open the payload. `pointer: identity` avoids that, with an image that has Ignition 2.21.",
    });
}

/** Name of the tag that marks resources as the cluster's. */
export const azureClusterTag = (infraId: string) => `kubernetes.io_cluster.${infraId}`;

function checkTags(context: PlatformContext): void {
  const { tags, infraId } = context;
  const bad = (path: string, found: string, expected: string) => {
    invalid(context, path, found, expected);
  };
  const names = Object.keys(tags);
  const ours = azureClusterTag(infraId);
  // Two tags are ours: the cluster's and the digest.
  if (names.length > 48) bad("tags", `a list of ${names.length}`, "at most 48 (Azure)");
  for (const [index, key] of names.entries()) {
    const value = tags[key] ?? "";
    // A storage account takes shorter names than other resources do.
    if (!/^[^<>%&\\?/]{1,128}$/.test(key) || /^(microsoft|azure|windows)/i.test(key))
      bad(
        `tags.${key}`,
        "a name that Azure does not take",
        "1 to 128 characters, none of < > % & \\ ? /, not microsoft, azure or windows in front",
      );
    if (value.length > 256) bad(`tags.${key}`, `a text of ${value.length}`, "at most 256 characters (Azure)");
    const same = [ours, ...names.slice(0, index)].find((other) => other.toLowerCase() === key.toLowerCase());
    if (same !== undefined)
      bad(`tags.${key}`, `the same as ${same}`, "another name: Azure ignores upper and lower case");
  }
}

const noUuid = "00000000-0000-0000-0000-000000000000";

export const azure = definePlatform({
  name: "azure",
  description: "Microsoft Azure: docs/azure.md.",
  schema,
  resolve,
  provider: { name: "azurerm", source: "hashicorp/azurerm", versions: ">= 4.77.0, < 6.0.0" },
  metadata: { key: "azure", schema: metadata },
  placeholders: { nodeSubnets: [], backendAddressPoolIds: [] },
  usualOptions: ["backendAddressPoolIds"],
  firewallCommands,
  reportedFacts: ({ region, bootstrapVMSize }) => ({ region, bootstrapVMSize }),
  example: (infraId) => {
    const resourceGroupName = `${infraId}-rg`;
    const balancers = `/subscriptions/${noUuid}/resourceGroups/${resourceGroupName}/providers/Microsoft.Network/loadBalancers`;
    return {
      options: {
        nodeSubnets: ["10.0.0.0/24", "10.0.1.0/24"],
        backendAddressPoolIds: [
          `${balancers}/${infraId}/backendAddressPools/${infraId}`,
          `${balancers}/${infraId}-internal-lb/backendAddressPools/internal-lb-backend`,
        ],
      },
      metadata: { region: "westeurope", resourceGroupName, cloudName: "AzurePublicCloud" },
    };
  },
});
