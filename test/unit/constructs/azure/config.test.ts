import { describe, expect, it } from "vitest";
import { changedExample, metadata, mistakesOf, Project, type ProjectProps } from "../../../support/stacks.ts";

const mistakes = (azure: object, rest: object = {}, props: ProjectProps = {}) =>
  mistakesOf(changedExample("azure", azure, rest), props);

/** The Azure part with its defaults filled in, and the warnings. */
const read = (azure: object = {}, rest: object = {}, props: ProjectProps = {}) => {
  const project = new Project(changedExample("azure", azure, rest), props);
  try {
    return project.inputs();
  } finally {
    project.remove();
  }
};

const { infraID } = metadata;
const subscription = "00000000-0000-0000-0000-000000000000";
const other = "11111111-1111-1111-1111-111111111111";
const id = (path: string, of = subscription) => `/subscriptions/${of}/resourceGroups/prod-rg/providers/${path}`;
const pool = (name: string, of?: string) => id(`Microsoft.Network/loadBalancers/lb/backendAddressPools/${name}`, of);
const identity = id("Microsoft.ManagedIdentity/userAssignedIdentities/mine");
const image = id("Microsoft.Compute/galleries/mine/images/rhcos");
const marketplaceImage = { publisher: "redhat", offer: "rh-ocp-worker", sku: "rh-ocp-worker", version: "413.92.1" };

describe("the azure part of a config", () => {
  it("of the example is valid", () => {
    expect(mistakes({})).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["subscriptionId", "mine", 'azure.subscriptionId is "mine"; expected a subscription ID.'],
    ["cloudName", "public", "expected AzurePublicCloud or AzureUSGovernmentCloud or AzureChinaCloud"],
    ["region", "West Europe", 'azure.region is "West Europe"; expected a region like westeurope.'],
    ["resourceGroupName", "a/b", "expected a resource group's name"],
    ["resourceGroupName", "ends.", "expected a resource group's name"],
    ["networkResourceGroupName", "", "expected a resource group's name"],
    ["virtualNetwork", id("Microsoft.Network/virtualNetworks/x"), "expected a virtual network's name"],
    ["controlPlaneSubnet", "-x", "expected a subnet's name"],
    ["networkSecurityGroup", "a b", "expected a network security group's name"],
    ["networkSecurityGroupResourceGroupName", "a b", "expected a resource group's name"],
    ["nodeSubnets", undefined, "azure.nodeSubnets is missing; expected a list of 1 to 50 networks."],
    ["nodeSubnets", [], "azure.nodeSubnets is []; expected a list of 1 to 50 networks."],
    ["nodeSubnets", Array(51).fill("10.0.0.0/24"), "expected a list of 1 to 50 networks"],
    ["nodeSubnets", ["*"], 'azure.nodeSubnets.0 is "*"; expected a network with its first address'],
    ["nodeSubnets", ["VirtualNetwork"], "expected a network with its first address"],
    ["nodeSubnets", ["10.0.3.7/16"], "expected a network with its first address"],
    [
      "nodeSubnets",
      ["0.0.0.0/0"],
      "azure.nodeSubnets.0 is 0.0.0.0/0; expected a smaller network, because the rule must not be open to everyone.",
    ],
    ["nodeSubnets", ["10.0.0.0/24", "::/0"], "azure.nodeSubnets.1 is ::/0; expected a smaller network"],
    [
      "nodeSubnets",
      ["10.0.0.0/24", "10.0.0.0/24"],
      "azure.nodeSubnets.1 is 10.0.0.0/24; expected a network that does not overlap 10.0.0.0/24.",
    ],
    ["nodeSubnets", ["10.0.0.0/24", "10.0.0.0/16"], "expected a network that does not overlap 10.0.0.0/24"],
    ["firewallPriority", 99, "expected a whole number from 100 to 4096"],
    ["firewallPriority", 4097, "expected a whole number from 100 to 4096"],
    [
      "firewallPriority",
      4096,
      "azure.firewallPriority is 4096; expected at most 4095, because the last rule has this priority plus 1, and 4096 is the highest.",
    ],
    [
      "backendAddressPoolIds",
      undefined,
      "azure.backendAddressPoolIds is missing; expected a list of at most 10 IDs of backend pools (empty, if the API has another load balancer).",
    ],
    ["backendAddressPoolIds", Array(11).fill(pool("a")), "expected a list of at most 10 IDs"],
    [
      "backendAddressPoolIds",
      [id("Microsoft.Network/loadBalancers/lb")],
      "expected the ID of a load balancer's backend",
    ],
    ["backendAddressPoolIds", [pool("a"), pool("A")], "expected each pool only once"],
    ["imageId", "rhcos", "expected the ID of a generation 2 image, like /subscriptions/…"],
    ["imageId", id("Microsoft.Compute/disks/x"), "expected the ID of a generation 2 image"],
    ["marketplaceImage", "redhat", "expected an object with publisher, offer, sku, version"],
    ["marketplaceImage", { ...marketplaceImage, publisher: "" }, "expected a publisher, like redhat"],
    ["marketplaceImage", { ...marketplaceImage, publisher: "red hat" }, "expected a publisher, like redhat"],
    ["marketplaceImage", { ...marketplaceImage, offer: 1 }, "expected an offer, like rh-ocp-worker"],
    ["marketplaceImage", { ...marketplaceImage, sku: undefined }, "azure.marketplaceImage.sku is missing"],
    [
      "marketplaceImage",
      { ...marketplaceImage, sku: "rh-ocp-worker-gen1" },
      "azure.marketplaceImage.sku is rh-ocp-worker-gen1; expected a SKU of generation 2.",
    ],
    ["marketplaceImage", { ...marketplaceImage, version: 4 }, "expected a version, like"],
    ["marketplaceImage", { ...marketplaceImage, plan: true }, "expected WithPurchasePlan or NoPurchasePlan"],
    ["bootstrapVMSize", "D4as_v5", "expected a size like Standard_D4as_v5"],
    [
      "bootstrapVMSize",
      "Standard_D4_v5",
      "azure.bootstrapVMSize is Standard_D4_v5; expected a size that supports premium",
    ],
    ["osDiskSizeGB", 64, "expected a whole number from 100 to 4095"],
    ["diskEncryptionSetId", "x", "expected the ID of a disk encryption set, like"],
    ["encryptionAtHost", "yes", "expected true or false"],
    ["sshKeyData", "ecdsa-sha2-nistp256 AAAA", "expected an RSA or ED25519 public key in one line"],
    ["sshKeyData", "Unused", "expected an RSA or ED25519 public key in one line"],
    ["publicIp", 1, "expected true or false"],
    ["allowedBootstrapSshCidr", "10.0.3.7/16", "expected a network with its first address"],
    ["allowedBootstrapJournalCidr", "*", "expected a network with its first address"],
    ["pointer", "url", "expected sas or identity"],
    ["sasHours", 0, "expected a whole number from 1 to 168"],
    ["bootstrapIdentityId", "mine", "expected the ID of a user-assigned identity, like"],
    ["vnet", "x", "azure.vnet is not an option"],
    ["nodeSubnet", [], "azure.nodeSubnet is not an option; did you mean nodeSubnets."],
  ])("refuses %s: %j", (option, value, sentence) => {
    expect(mistakes({ [option]: value })).toEqual([expect.stringContaining(sentence)]);
  });

  it.each<[string, object, object, string]>([
    [
      "two images",
      { imageId: image, marketplaceImage },
      {},
      "azure.imageId and azure.marketplaceImage cannot be combined: the machine has one image; set at most one of them.",
    ],
    [
      "a pool of another subscription",
      { subscriptionId: other, backendAddressPoolIds: [pool("a")] },
      {},
      `azure.backendAddressPoolIds.0 and azure.subscriptionId cannot be combined: the pool is in ${subscription}, but the cluster is in ${other}.`,
    ],
    [
      "an Arm size on x86_64",
      { bootstrapVMSize: "Standard_D4ps_v5" },
      {},
      "azure.bootstrapVMSize Standard_D4ps_v5 and architecture x86_64 cannot be combined: that size is aarch64.",
    ],
    [
      "an x86 size on aarch64",
      { bootstrapVMSize: "Standard_D4as_v5" },
      { architecture: "aarch64" },
      "azure.bootstrapVMSize Standard_D4as_v5 and architecture aarch64 cannot be combined: that size is x86_64.",
    ],
    [
      "ssh from IPv6 to a machine without",
      { allowedBootstrapSshCidr: "2001:db8::/32" },
      {},
      "azure.allowedBootstrapSshCidr 2001:db8::/32 and azure.nodeSubnets cannot be combined: the machine has an IPv6 address only if nodeSubnets contains an IPv6 network.",
    ],
    [
      "the journal from IPv6 to a machine without",
      { allowedBootstrapJournalCidr: "2001:db8::/32" },
      {},
      "the machine has an IPv6 address only if",
    ],
    [
      "a fixed IPv4 address that no node can dial",
      { nodeSubnets: ["fd00::/64"] },
      { tunnel: { address: "10.0.0.9" } },
      "tunnel.address 10.0.0.9 and azure.nodeSubnets cannot be combined: no node has an IPv4 address from which to dial it",
    ],
    [
      "too many rules for the priority",
      { firewallPriority: 4046, allowedBootstrapSshCidr: "192.0.2.0/24", allowedBootstrapJournalCidr: "192.0.2.0/24" },
      {},
      "azure.firewallPriority is 4046; expected at most 4045, because the last rule has this priority plus 51",
    ],
    [
      "hours of a signed URL that there is not",
      { pointer: "identity", sasHours: 5 },
      {},
      "azure.sasHours and azure.pointer identity cannot be combined: an identity needs no signed URL; remove sasHours.",
    ],
    [
      "a wait for no identity",
      { identityWaitSeconds: 5 },
      {},
      "azure.identityWaitSeconds and azure.pointer sas cannot be combined: a signed URL needs no identity; remove identityWaitSeconds.",
    ],
    [
      "a wait for a given identity",
      { pointer: "identity", bootstrapIdentityId: identity, identityWaitSeconds: 5 },
      {},
      "azure.identityWaitSeconds and azure.bootstrapIdentityId cannot be combined",
    ],
    [
      "an identity where Ignition does not use it",
      { pointer: "identity", cloudName: "AzureUSGovernmentCloud" },
      {},
      "azure.pointer identity and azure.cloudName AzureUSGovernmentCloud cannot be combined: Ignition uses the machine's identity only in the public cloud; use `pointer: sas`.",
    ],
    [
      "too many tags",
      {},
      { tags: Object.fromEntries(Array.from({ length: 49 }, (_, n) => [`t${n}`, ""])) },
      "tags is an object with 49 tags; expected at most 48 tags (Azure).",
    ],
    ["a tag with a /", {}, { tags: { "a/b": "" } }, "tags.a/b is a name that Azure does not accept"],
    ["a tag of Azure's own", {}, { tags: { "Azure-x": "" } }, "tags.Azure-x is a name that Azure does not accept"],
    ["a long tag name", {}, { tags: { ["x".repeat(129)]: "" } }, "expected 1 to 128 characters"],
    [
      "a long tag",
      {},
      { tags: { a: "x".repeat(257) } },
      "tags.a is a value with 257 characters; expected at most 256 characters",
    ],
    [
      "tags that differ in case",
      {},
      { tags: { team: "", Team: "" } },
      "tags.Team is the same as team; expected another",
    ],
  ])("refuses %s", (_, azure, rest, sentence) => {
    expect(mistakes(azure, rest)).toEqual([expect.stringContaining(sentence)]);
  });

  it("refuses a fixed IPv6 address that no node can dial", () => {
    const found = mistakes({}, { tunnel: { address: "fd00::9" } });
    expect(found).toContainEqual(expect.stringContaining("no node has an IPv6 address from which to dial it"));
  });

  it("reports everything together", () => {
    const found = mistakes({ nodeSubnets: ["10.0.0.0/8", "0.0.0.0/0"], pointer: "identity", sasHours: 1 });
    expect(found).toHaveLength(4);
  });

  it.each([undefined, ""])("wants region if metadata.json has it as %j", (region) => {
    const without = { ...metadata, azure: { ...metadata.azure, region } };
    expect(mistakes({}, {}, { metadata: without })).toEqual([
      "azure.region is missing; expected the cluster's region (metadata.json does not contain it).",
    ]);
    expect(mistakes({ region: "given" }, {}, { metadata: without })).toEqual([]);
  });

  it.each([undefined, ""])(
    "is in the installer's resource group if metadata.json has it as %j",
    (resourceGroupName) => {
      const without = { ...metadata, azure: { ...metadata.azure, resourceGroupName } };
      expect(read({}, {}, { metadata: without }).platforms.azure?.resourceGroupName).toBe(`${metadata.infraID}-rg`);
    },
  );

  it("takes a resource group in any script, as Azure does", () => {
    const group = "größe-本番_(1)";
    const named = { ...metadata, azure: { ...metadata.azure, resourceGroupName: group } };
    expect(read({}, {}, { metadata: named }).platforms.azure?.resourceGroupName).toBe(group);
    expect(read({ resourceGroupName: group }).platforms.azure?.resourceGroupName).toBe(group);
  });

  it("knows the clouds that metadata.json may name", () => {
    const inCloud = (cloudName?: string) => ({ metadata: { ...metadata, azure: { ...metadata.azure, cloudName } } });
    expect(read({}, {}, inCloud()).platforms.azure).toMatchObject({
      environment: "public",
      blobDomain: "blob.core.windows.net",
    });
    expect(read({}, {}, inCloud("AzureUSGovernmentCloud")).platforms.azure).toMatchObject({
      environment: "usgovernment",
      blobDomain: "blob.core.usgovcloudapi.net",
    });
    expect(read({ cloudName: "AzureChinaCloud" }).platforms.azure).toMatchObject({
      environment: "china",
      blobDomain: "blob.core.chinacloudapi.cn",
    });
    expect(mistakes({}, {}, inCloud("AzureStackCloud"))).toEqual([
      "azure.cloudName is AzureStackCloud (metadata.json); expected AzurePublicCloud or AzureUSGovernmentCloud or AzureChinaCloud.",
    ]);
    const shared = { state: { s3: { bucket: "team-state", region: "eu-central-1", keyPrefix: "prod" } } };
    const given = { region: "r1", resourceGroupName: "g" };
    expect(
      mistakes(given, { infrastructureName: infraID, ...shared }, inCloud("AzureChinaCloud")).filter((text) =>
        text.startsWith("azure"),
      ),
    ).toEqual([
      expect.stringContaining("azure.cloudName is missing; expected the cluster's cloud (required with a shared state"),
    ]);
  });

  it("fills in what the UPI templates name", () => {
    expect(read().platforms.azure).toMatchObject({
      region: "westeurope",
      resourceGroupName: `${infraID}-rg`,
      networkResourceGroupName: `${infraID}-rg`,
      virtualNetwork: `${infraID}-vnet`,
      controlPlaneSubnet: `${infraID}-master-subnet`,
      networkSecurityGroup: `${infraID}-nsg`,
      networkSecurityGroupResourceGroupName: `${infraID}-rg`,
      image: { gallery: "gallery_sample_x7k2p", name: `${infraID}-gen2` },
      bootstrapVMSize: "Standard_D4as_v5",
      pointer: { by: "sas", hours: 24 },
    });
    expect(read({ networkResourceGroupName: "net" }).platforms.azure).toMatchObject({
      resourceGroupName: `${infraID}-rg`,
      networkSecurityGroupResourceGroupName: "net",
    });
    expect(read({}, { architecture: "aarch64" }).platforms.azure?.bootstrapVMSize).toBe("Standard_D4ps_v5");
    expect(read({ pointer: "identity" }).platforms.azure?.pointer).toEqual({ by: "identity", waitSeconds: 300 });
    expect(read({ imageId: image }).platforms.azure?.image).toEqual({ id: image });
  });

  it.each(["Standard_DS3_v2", "Standard_E16-4as_v5", "Standard_NC4as_T4_v3", "Standard_B4ms"])("takes %s", (size) => {
    expect(mistakes({ bootstrapVMSize: size })).toEqual([]);
  });

  it.each([image, `${image}/versions/9.6.1`, id("Microsoft.Compute/images/rhcos")])("takes the image %s", (imageId) => {
    expect(mistakes({ imageId })).toEqual([]);
  });

  it("warns of secrets in the state, unless an identity is used or nothing can be deployed", () => {
    const codes = (azure: object, props: ProjectProps = {}) => read(azure, {}, props).warnings.map(({ code }) => code);
    expect(codes({})).toContain("secrets-in-azure-state");
    expect(codes({ pointer: "identity" })).not.toContain("secrets-in-azure-state");
    expect(codes({}, { shape: "none" })).not.toContain("secrets-in-azure-state");
  });

  it("warns of ssh and journal that are open to the world", () => {
    const { warnings } = read({ allowedBootstrapSshCidr: "0.0.0.0/0", allowedBootstrapJournalCidr: "0.0.0.0/0" });
    expect(warnings.filter(({ code }) => code === "open-to-the-world")).toHaveLength(2);
  });
});
