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
// Azure accepts letters and digits of every script.
const group = "[\\p{L}\\p{N}_.()\\-]{0,89}[\\p{L}\\p{N}_()\\-]";
const name = "[a-zA-Z0-9]([\\w.\\-]{0,78}\\w)?";

const resourceGroup = () => pattern("a resource group's name", new RegExp(`^${group}$`, "u"));
const azureRegion = () => pattern("a region like westeurope", /^[a-z][a-z0-9]+$/);
const named = (what: string) => pattern(`a ${what}'s name`, new RegExp(`^${name}$`));
const idOf = (what: string, ...types: string[]) =>
  pattern(
    `the ID of ${what}, like /subscriptions/…/providers/${types[0]?.replaceAll("/*", "/…") ?? ""}`,
    new RegExp(
      `^/subscriptions/${uuid}/resourceGroups/${group}/providers/(${types.map((type) => type.replaceAll(".", "\\.").replaceAll("*", name)).join("|")})$`,
      "u",
    ),
  );
const listOf = <T extends z.ZodType>(item: T, from: number, to: number, error: string) =>
  z.array(item, { error }).min(from, { error }).max(to, { error });

const mostNodeSubnets = 50;
/** Priorities of the rules, counted from `firewallPriority`. The priority of a rule does not depend on the other rules. */
export const rulePlaces = { agents: 0, ssh: mostNodeSubnets, journal: mostNodeSubnets + 1 } as const;

/** Names are those of the UPI template `04_bootstrap.json` and of install-config.yaml, where they have one. */
const schema = z.strictObject(
  {
    subscriptionId: pattern("a subscription ID", new RegExp(`^${uuid}$`))
      .optional()
      .describe("The cluster's subscription. Default: the environment's ARM_SUBSCRIPTION_ID."),
    cloudName: oneOf(...cloudNames)
      .optional()
      .describe("The Azure cloud. Default: the one in metadata.json, or AzurePublicCloud."),
    region: azureRegion().optional().describe("The cluster's region. Default: the one in metadata.json."),
    resourceGroupName: resourceGroup()
      .optional()
      .describe(
        "The cluster's resource group, in which everything is created. Default: the one in metadata.json, or <infra ID>-rg.",
      ),
    networkResourceGroupName: resourceGroup()
      .optional()
      .describe("The virtual network's resource group. Default: resourceGroupName."),
    virtualNetwork: named("virtual network")
      .optional()
      .describe("The cluster's virtual network. Default: <infra ID>-vnet."),
    controlPlaneSubnet: named("subnet")
      .optional()
      .describe("The subnet of the control plane and of the machine. Default: <infra ID>-master-subnet."),
    networkSecurityGroup: named("network security group")
      .optional()
      .describe("The cluster's network security group, in which the rules are created. Default: <infra ID>-nsg."),
    networkSecurityGroupResourceGroupName: resourceGroup()
      .optional()
      .describe("The network security group's resource group. Default: networkResourceGroupName."),
    nodeSubnets: listOf(network(), 1, mostNodeSubnets, `a list of 1 to ${mostNodeSubnets} networks`).describe(
      "The networks of all nodes, IPv4 and IPv6, from which agents dial the tunnel's port. The stack creates one rule for each.",
    ),
    firewallPriority: integer(100, 4096)
      .default(300)
      .describe(
        "Priority of the first rule for the tunnel's port; further rules follow it. The ssh rule has this priority plus 50, the journal rule plus 51. Azure rejects a priority that is already in use.",
      ),
    backendAddressPoolIds: listOf(
      idOf("a load balancer's backend pool", "Microsoft.Network/loadBalancers/*/backendAddressPools/*"),
      0,
      10,
      "a list of at most 10 IDs of backend pools (empty, if the API has another load balancer)",
    ).describe("Backend pools of the API's public and internal load balancers, which the machine joins."),
    imageId: idOf(
      "a generation 2 image",
      "Microsoft.Compute/galleries/*/images/*",
      "Microsoft.Compute/galleries/*/images/*/versions/*",
      "Microsoft.Compute/images/*",
    )
      .optional()
      .describe(
        "The machine's image, of generation 2. Default: the gallery image of the UPI template, gallery_<infra_ID>/<infra ID>-gen2.",
      ),
    marketplaceImage: z
      .strictObject(
        {
          publisher: pattern("a publisher, like redhat", /^[\w.-]+$/).describe("Publisher of the image."),
          offer: pattern("an offer, like rh-ocp-worker", /^[\w.-]+$/).describe("Offer of the publisher."),
          sku: pattern("a SKU of generation 2, like rh-ocp-worker", /^[\w.-]+$/).describe(
            "SKU of the offer, of generation 2.",
          ),
          version: pattern("a version, like 413.92.2023101700", /^[\w.-]+$/).describe("Version of the image."),
          plan: oneOf("WithPurchasePlan", "NoPurchasePlan")
            .default("WithPurchasePlan")
            .describe("Whether the image has a purchase plan, whose terms must then have been accepted."),
        },
        { error: "an object with publisher, offer, sku, version" },
      )
      .optional()
      .describe("A marketplace image for the machine, instead of imageId. Default: none."),
    bootstrapVMSize: pattern("a size like Standard_D4as_v5", /^Standard_[A-Z]+\d+(-\d+)?[a-z]*(_[A-Za-z0-9]+)*$/)
      .optional()
      .describe("The machine's size. Default: Standard_D4as_v5, or Standard_D4ps_v5 for aarch64."),
    osDiskSizeGB: integer(100, 4095).default(128).describe("Size of the machine's disk, which is Premium_LRS."),
    diskEncryptionSetId: idOf("a disk encryption set", "Microsoft.Compute/diskEncryptionSets/*")
      .optional()
      .describe("Disk encryption set with your own key for the disk. Default: the platform's key."),
    encryptionAtHost: boolean()
      .default(false)
      .describe(
        "Whether caches and the temporary disk are encrypted too. The subscription needs the feature EncryptionAtHost.",
      ),
    sshKeyData: sshKey()
      .optional()
      .describe("A public key for the user core, which Azure requires. Default: a key of core in bootstrap.ign."),
    publicIp: boolean().default(false).describe("Whether the machine gets a public IP address."),
    ...accessOptions(network),
    pointer: oneOf("sas", "identity")
      .default("sas")
      .describe(
        "How the machine gets access to the payload. `sas`: with a signed URL, which works with every release and is stored in Terraform's state. `identity`: with a managed identity, which needs an image with Ignition 2.21.",
      ),
    sasHours: integer(1, 168)
      .optional()
      .describe("How long the signed URL is valid, from the first deploy of a payload. Default: 24."),
    bootstrapIdentityId: idOf("a user-assigned identity", "Microsoft.ManagedIdentity/userAssignedIdentities/*")
      .optional()
      .describe(
        "Your own identity for the machine. With `pointer: identity`, it must be able to read the payload. Default: with `pointer: identity` a new one that can read only the payload's container, otherwise none.",
      ),
    identityWaitSeconds: integer(0, 1800)
      .optional()
      .describe(
        "How long a deploy waits between granting the new identity access and creating the machine, because a new permission does not work everywhere at once. Default: 300.",
      ),
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

/** How the machine gets access to the payload. */
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

/** Azure creates no machine without a key. A destroy needs none. */
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
    ...(extras.length > 0 ? [`remove ${extras.map((option) => `azure.${option}`).join(" and ")}`] : []),
  ];
  context.warn({
    code: "rules-in-shared-group",
    message: `The bootstrap machine's rules are created in ${networkSecurityGroup}; if other code manages that group with its rules inline (an azurerm_network_security_group with security_rule, or a template), the next run of that code deletes them: in that case, ${advice.join(", and ")}.`,
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
      bad("a smaller network, because the rule must not be open to everyone");
    else if (known.length > 0 && !known.some((network) => networkContains(network, subnet)))
      bad(`a network within the machine networks (${known.join(", ")})`);
    const other = nodeSubnets.slice(0, index).find((earlier) => networksOverlap(earlier, subnet));
    if (other !== undefined) bad(`a network that does not overlap ${other}`);
  }
}

/** Every machine in Azure has an IPv4 address. It also has an IPv6 address if nodes have one. */
function checkFamilies(config: AzureConfig, context: PlatformContext): void {
  const { fixedAddress } = context;
  const has6 = config.nodeSubnets.some(isIpv6Network);
  const has4 = !config.nodeSubnets.every(isIpv6Network);
  if (fixedAddress !== undefined && !(isIpv6(fixedAddress) ? has6 : has4))
    refuse(
      context,
      { "tunnel.address": fixedAddress, "azure.nodeSubnets": undefined },
      `no node has an IPv${isIpv6(fixedAddress) ? 6 : 4} address from which to dial it; add the nodes' networks of that family`,
    );
  for (const option of ["allowedBootstrapSshCidr", "allowedBootstrapJournalCidr"] as const) {
    const from = config[option];
    if (from !== undefined && isIpv6Network(from) && !has6)
      refuse(
        context,
        { [`azure.${option}`]: from, "azure.nodeSubnets": undefined },
        "the machine has an IPv6 address only if nodeSubnets contains an IPv6 network",
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
      `at most ${highest}, because the last rule has this priority plus ${last}, and 4096 is the highest`,
    );
}

function checkPools({ backendAddressPoolIds, subscriptionId }: AzureConfig, context: PlatformContext): void {
  for (const [index, pool] of backendAddressPoolIds.entries()) {
    const path = `azure.backendAddressPoolIds.${index}`;
    const same = (other: string) => other.toLowerCase() === pool.toLowerCase();
    if (backendAddressPoolIds.slice(0, index).some(same)) invalid(context, path, pool, "each pool only once");
    const found = pool.split("/")[2] ?? "";
    if (subscriptionId !== undefined && found.toLowerCase() !== subscriptionId.toLowerCase())
      refuse(
        context,
        [path, "azure.subscriptionId"],
        `the pool is in ${found}, but the cluster is in ${subscriptionId}`,
      );
  }
}

function checkImage({ imageId, marketplaceImage }: AzureConfig, context: PlatformContext): void {
  if (imageId !== undefined && marketplaceImage !== undefined)
    refuse(context, ["azure.imageId", "azure.marketplaceImage"], "the machine has one image; set at most one of them");
  if (marketplaceImage?.sku.endsWith("gen1") === true)
    invalid(context, "azure.marketplaceImage.sku", marketplaceImage.sku, "a SKU of generation 2");
}

/** The letters after the number of CPUs describe the size: p is Arm, s supports premium disks (DS and GS in old names). */
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
      "a size that supports premium disks, with an s like Standard_D4as_v5",
    );
}

function checkPointer(config: AzureConfig, cloud: CloudName, context: PlatformContext): void {
  const { pointer, sasHours, bootstrapIdentityId, identityWaitSeconds } = config;
  if (pointer === "identity") {
    if (sasHours !== undefined)
      refuse(
        context,
        { "azure.sasHours": undefined, "azure.pointer": pointer },
        "an identity needs no signed URL; remove sasHours",
      );
    if (identityWaitSeconds !== undefined && bootstrapIdentityId !== undefined)
      refuse(
        context,
        ["azure.identityWaitSeconds", "azure.bootstrapIdentityId"],
        "an existing identity already has its permission; remove the wait",
      );
    // Ignition uses the machine's identity only for host names of the public cloud.
    if (cloud !== "AzurePublicCloud")
      refuse(
        context,
        { "azure.pointer": pointer, "azure.cloudName": cloud },
        "Ignition uses the machine's identity only in the public cloud; use `pointer: sas`",
      );
    return;
  }
  if (identityWaitSeconds !== undefined)
    refuse(
      context,
      { "azure.identityWaitSeconds": undefined, "azure.pointer": pointer },
      "a signed URL needs no identity; remove identityWaitSeconds",
    );
  if (!context.destroyOnly)
    context.warn({
      code: "secrets-in-azure-state",
      message:
        "azure.pointer is sas: until the teardown, Terraform's state (and the backup of a local state) contains the storage account's keys and the signed URL, which give access to the payload; `pointer: identity` avoids that, but needs an image with Ignition 2.21.",
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
  // The stack adds two tags: the cluster's and the digest.
  if (names.length > 48) bad("tags", `an object with ${names.length} tags`, "at most 48 tags (Azure)");
  for (const [index, key] of names.entries()) {
    const value = tags[key] ?? "";
    // A storage account accepts only shorter names than other resources.
    if (!/^[^<>%&\\?/]{1,128}$/.test(key) || /^(microsoft|azure|windows)/i.test(key))
      bad(
        `tags.${key}`,
        "a name that Azure does not accept",
        "1 to 128 characters without < > % & \\ ? /, not starting with microsoft, azure or windows",
      );
    if (value.length > 256)
      bad(`tags.${key}`, `a value with ${value.length} characters`, "at most 256 characters (Azure)");
    const same = [ours, ...names.slice(0, index)].find((other) => other.toLowerCase() === key.toLowerCase());
    if (same !== undefined)
      bad(
        `tags.${key}`,
        `the same as ${same}`,
        "another name, because Azure does not distinguish upper and lower case",
      );
  }
}

const noUuid = "00000000-0000-0000-0000-000000000000";

export const azure = definePlatform({
  name: "azure",
  description: "Microsoft Azure; see docs/azure.md.",
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
