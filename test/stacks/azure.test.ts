import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sampleConfig, sampleText } from "../../src/core/sample/sample.ts";
import { withoutHash } from "../support/constructs.ts";
import {
  afterOf,
  type Block,
  changedExample,
  exampleStack,
  metadata,
  only,
  Project,
  type ProjectProps,
  replacementOf,
  resources,
  type StackJson,
  waitsOf,
} from "../support/stacks.ts";

const { infraID } = metadata;
const machineOf = (options?: object, rest?: object, props?: ProjectProps) =>
  only(exampleStack("azure", options, rest, props), "azurerm_linux_virtual_machine");
const nicOf = (options?: object, rest?: object, props?: ProjectProps) =>
  only(exampleStack("azure", options, rest, props), "azurerm_network_interface") as Block & {
    ip_configuration: Block[];
  };
const provider = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg/providers";
const identityId = `${provider}/Microsoft.ManagedIdentity/userAssignedIdentities/mine`;

describe("azure-bootstrap", () => {
  const stack = exampleStack("azure");

  it("of the example creates these resources, and no others", () => {
    expect(Object.entries(stack.resource).map(([type, byId]) => [type, Object.keys(byId).length])).toEqual([
      ["azurerm_linux_virtual_machine", 1],
      ["azurerm_network_interface", 1],
      ["azurerm_network_interface_backend_address_pool_association", 2],
      ["azurerm_network_security_rule", 2],
      ["azurerm_storage_account", 1],
      ["azurerm_storage_blob", 1],
      ["azurerm_storage_container", 1],
      ["terraform_data", 4],
    ]);
  });

  it("registers no resource providers, and deletes the disk with the machine", () => {
    expect(stack.provider.azurerm).toEqual([
      {
        environment: "public",
        resource_provider_registrations: "none",
        storage_use_azuread: false,
        features: [
          { storage: [{ data_plane_available: false }], virtual_machine: [{ delete_os_disk_on_deletion: true }] },
        ],
      },
    ]);
  });

  it("uses the config's subscription and cloud", () => {
    const subscriptionId = "00000000-0000-0000-0000-000000000000";
    const other = exampleStack("azure", { subscriptionId, cloudName: "AzureUSGovernmentCloud" });
    expect(other.provider.azurerm).toMatchObject([{ subscription_id: subscriptionId, environment: "usgovernment" }]);
    expect(other.data).not.toHaveProperty("azurerm_client_config");
  });

  it("accepts provider versions from the first that takes the container's ID to the last that was tested", () => {
    expect(stack.terraform.required_providers).toEqual({
      azurerm: { source: "hashicorp/azurerm", version: ">= 4.77.0, < 6.0.0" },
    });
  });

  it("tags everything that takes tags with the cluster's and the user's", () => {
    const { resource } = exampleStack("azure", { pointer: "identity", publicIp: true });
    const tags = { team: "platform", [`kubernetes.io_cluster.${infraID}`]: "owned" };
    for (const type of [
      "azurerm_linux_virtual_machine",
      "azurerm_network_interface",
      "azurerm_public_ip",
      "azurerm_storage_account",
      "azurerm_user_assigned_identity",
    ])
      for (const block of Object.values(resource[type] ?? { missing: {} }))
        expect(block.tags, type).toMatchObject(tags);
  });

  it("prints what the operator needs next, but never the signature", () => {
    const { output } = stack;
    const address = "${azurerm_network_interface.network-interface.private_ip_addresses[0]}";
    expect(Object.fromEntries(Object.entries(output).map(([name, { value }]) => [name, value]))).toMatchObject({
      bootstrap_private_ip: address,
      bootstrap_machine_id: "${azurerm_linux_virtual_machine.machine.id}",
      payload_url: "https://samplex7k2p3e9f8b1c.blob.core.windows.net/ignition/payload.ign",
      ssh: `ssh core@${address}`,
      teardown: "npx cdktf destroy 'azure-*'",
    });
    expect(output).not.toHaveProperty("bootstrap_public_ip");
    expect(JSON.stringify(output)).not.toContain("sas.");
  });

  it("without the install folder has the same resources", () => {
    const given = { region: "westeurope", resourceGroupName: `${infraID}-rg` };
    const without = exampleStack("azure", given, { infrastructureName: infraID }, { shape: "none", metadata: null });
    const addresses = ({ resource }: StackJson) =>
      Object.entries(resource).flatMap(([type, byId]) => Object.keys(byId).map((id) => `${type}.${id}`));
    expect(addresses(without)).toEqual(addresses(exampleStack("azure", given)));
  });

  it.each([
    [{}, 1],
    [{ firewall: "external" }, 0],
  ])("warns that code which describes the group with its rules deletes ours: %j", (rest, count) => {
    const project = new Project(changedExample("azure", {}, rest));
    try {
      const messages = project.inputs().warnings.map(({ message }) => message);
      expect(messages.filter((text) => text.includes("the next run of that code deletes them"))).toHaveLength(count);
    } finally {
      project.remove();
    }
  });
});

describe("the machine of azure-bootstrap", () => {
  const machine = machineOf();
  /** bootstrap.ign with these keys for core. */
  const withKeys = (sshAuthorizedKeys: unknown, name = "core"): ProjectProps => ({
    files: {
      "ocp/bootstrap.ign": JSON.stringify({
        ...sampleConfig("4.18"),
        passwd: { users: [{ name, sshAuthorizedKeys }] },
      }),
    },
  });

  it("takes its size from the architecture or from the config", () => {
    expect(machine.size).toBe("Standard_D4as_v5");
    expect(machineOf({}, { architecture: "aarch64" }).size).toBe("Standard_D4ps_v5");
    expect(machineOf({ bootstrapVMSize: "Standard_D8s_v5" }).size).toBe("Standard_D8s_v5");
  });

  it("boots from the UPI template's image or the config's", () => {
    expect(machine.source_image_id).toBe(
      `/subscriptions/\${data.azurerm_client_config.client.subscription_id}/resourceGroups/${infraID}-rg/providers/Microsoft.Compute/galleries/gallery_sample_x7k2p/images/${infraID}-gen2`,
    );
    const imageId = `${provider}/Microsoft.Compute/images/rhcos`;
    expect(machineOf({ imageId }).source_image_id).toBe(imageId);
    const marketplaceImage = { publisher: "redhat", offer: "o", sku: "s", version: "1" };
    expect(machineOf({ marketplaceImage })).toMatchObject({
      source_image_reference: marketplaceImage,
      plan: { publisher: "redhat", product: "o", name: "s" },
    });
    expect(machineOf({ marketplaceImage: { ...marketplaceImage, plan: "NoPurchasePlan" } })).not.toHaveProperty("plan");
  });

  it("has the config's disk and encryption", () => {
    expect(machine).toMatchObject({ os_disk: { disk_size_gb: 128 }, encryption_at_host_enabled: false });
    const diskEncryptionSetId = `${provider}/Microsoft.Compute/diskEncryptionSets/mine`;
    expect(machineOf({ osDiskSizeGB: 500, diskEncryptionSetId, encryptionAtHost: true })).toMatchObject({
      os_disk: { disk_size_gb: 500, disk_encryption_set_id: diskEncryptionSetId },
      encryption_at_host_enabled: true,
    });
  });

  it("has an ssh key that bootstrap.ign has for core, preferably RSA, or the config's", () => {
    const keyOf = (found: Record<string, unknown>) => found.admin_ssh_key;
    const key = (public_key: string) => [{ username: "core", public_key }];
    expect(keyOf(machine)).toEqual(
      key("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICMBUt5XhXmq2yuVcsa1vJbV5bX79Hynd+Un9o/7EqM4 core@example.com"),
    );
    expect(
      keyOf(machineOf({}, {}, withKeys(["ssh-ed25519 AAAAb x\n", "", "ecdsa AAAA", "ssh-rsa AAAAa y\n"]))),
    ).toEqual(key("ssh-rsa AAAAa y"));
    expect(keyOf(machineOf({ sshKeyData: "ssh-rsa AAAAB3 mine" }))).toEqual(key("ssh-rsa AAAAB3 mine"));
    expect(keyOf(machineOf({ sshKeyData: "ssh-rsa AAAAB3" }, {}, withKeys([])))).toEqual(key("ssh-rsa AAAAB3"));
  });

  it.each([
    ["none", withKeys([])],
    ["null", withKeys(null)],
    ["another kind only", withKeys(["ecdsa-sha2-nistp256 AAAA"])],
    ["another user's only", withKeys(["ssh-rsa AAAA"], "root")],
    ["something else there", withKeys("ssh-rsa AAAA")],
  ])("is refused without an ssh key: bootstrap.ign has %s", (_, props) => {
    expect(() => machineOf({}, {}, props)).toThrow(
      "azure.sshKeyData is missing; expected an RSA or ED25519 public key (bootstrap.ign has none for core).",
    );
  });

  it("can be destroyed without an ssh key", () => {
    expect(machineOf({}, {}, { shape: "none" })).not.toHaveProperty("admin_ssh_key");
  });

  it("boots after the payload is stored and its interface is attached to the load balancers", () => {
    const pool = "azurerm_network_interface_backend_address_pool_association.api-membership_pool";
    expect(afterOf(machine).map(withoutHash)).toEqual([
      "azurerm_storage_blob.payload-store_blob",
      `${pool}-0`,
      `${pool}-1`,
    ]);
    expect(resources(exampleStack("azure"), pool.split(".")[0] ?? "")).toEqual(
      ["prod-x7k2p", "internal-lb-backend"].map(
        (name) =>
          expect.objectContaining({
            backend_address_pool_id: expect.stringMatching(new RegExp(`/backendAddressPools/${name}$`)) as string,
          }) as object,
      ),
    );
    expect(afterOf(machineOf({ backendAddressPoolIds: [] })).map(withoutHash)).toEqual([
      "azurerm_storage_blob.payload-store_blob",
    ]);
  });

  it("is replaced by a new payload, or gets another public address, only with replaceMachine", () => {
    expect(replacementOf(exampleStack("azure"))).toEqual({ ignore_changes: ["triggers_replace"] });
    expect(replacementOf(exampleStack("azure", {}, { replaceMachine: true }))).not.toHaveProperty("ignore_changes");
    expect(machine.lifecycle).toMatchObject({ precondition: [{}] });
    expect(machineOf({}, { replaceMachine: true }).lifecycle).toMatchObject({ precondition: [] });
  });
});

describe("the network interface of azure-bootstrap", () => {
  const dual = { nodeSubnets: ["10.0.0.0/24", "fd00:10::/64"] };
  const networks = { machine: ["10.0.0.0/16", "fd00:10::/48"], cluster: ["10.128.0.0/14"], service: ["172.30.0.0/16"] };
  const files = { "ocp/bootstrap.ign": sampleText("4.18", { networks }) };

  it("is in the cluster's subnet by default, or in the config's", () => {
    const subnetOf = (options: object) => nicOf(options).ip_configuration[0]?.subnet_id;
    expect(subnetOf({ subscriptionId: "00000000-0000-0000-0000-000000000000" })).toBe(
      `/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/${infraID}-rg/providers/Microsoft.Network/virtualNetworks/${infraID}-vnet/subnets/${infraID}-master-subnet`,
    );
    expect(subnetOf({ networkResourceGroupName: "net", virtualNetwork: "v", controlPlaneSubnet: "s" })).toBe(
      "/subscriptions/${data.azurerm_client_config.client.subscription_id}/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/v/subnets/s",
    );
  });

  it("has an IPv6 address if a network of nodes has, and tunnel.address", () => {
    expect(nicOf().ip_configuration).toHaveLength(1);
    expect(nicOf(dual).ip_configuration).toHaveLength(2);
    expect(nicOf({}, { tunnel: { address: "10.0.0.9" } }).ip_configuration).toMatchObject([
      { private_ip_address: "10.0.0.9" },
    ]);
    const fixed = exampleStack("azure", dual, { tunnel: { address: "fd00:10::00:0009" } }, { files });
    expect(only(fixed, "azurerm_network_interface").ip_configuration).toMatchObject([
      { private_ip_address_allocation: "Dynamic" },
      { private_ip_address: "fd00:10::9" },
    ]);
    expect(fixed.output.bootstrap_private_ip?.value).toBe(
      '${try(azurerm_network_interface.network-interface.private_ip_addresses[1], "::")}',
    );
  });

  it("has a public address, which is printed, if the config says so", () => {
    const { output } = exampleStack("azure", { publicIp: true });
    expect(output.bootstrap_public_ip?.value).toMatch(/^\$\{azurerm_public_ip\.[\w-]+\.ip_address\}$/);
  });
});

describe("the firewall of azure-bootstrap", () => {
  const rulesOf = (options?: object, rest?: object) =>
    resources(exampleStack("azure", options, rest), "azurerm_network_security_rule").sort(
      (a, b) => Number(a.priority) - Number(b.priority),
    );

  it("allows 8091 from the config's node subnets, in the cluster's network security group", () => {
    expect(rulesOf()).toMatchObject(
      ["10.0.0.0/24", "10.0.1.0/24"].map((source_address_prefix, index) => ({
        name: `${infraID}-bootstrap-konnectivity-${index}`,
        network_security_group_name: `${infraID}-nsg`,
        resource_group_name: `${infraID}-rg`,
        priority: 300 + index,
        source_address_prefix,
        destination_port_range: "8091",
      })),
    );
  });

  it("is in the config's network security group, from the config's priority", () => {
    const group = { networkSecurityGroup: "nsg", networkSecurityGroupResourceGroupName: "net", firewallPriority: 1000 };
    expect(rulesOf(group)).toMatchObject(
      [1000, 1001].map((priority) => ({
        network_security_group_name: "nsg",
        resource_group_name: "net",
        priority,
      })),
    );
  });

  it.each([
    ["firewall: external", { firewall: "external" }],
    ["tunnel: off", { tunnel: "off" }],
  ])("does not exist with %s, and the group is not read", (_, rest) => {
    const stack = exampleStack("azure", {}, rest);
    expect(resources(stack, "azurerm_network_security_rule")).toEqual([]);
    expect(stack.data).not.toHaveProperty("azurerm_network_security_group");
    expect(stack.output).not.toHaveProperty("firewall_rules");
  });

  it("with firewall: external, prints the required rule instead", () => {
    const stack = exampleStack("azure", {}, { firewall: "external" });
    expect(stack.output.firewall_rule_needed?.value).toMatchObject({
      protocol: "tcp",
      port: 8091,
      destination: { address: "${azurerm_network_interface.network-interface.private_ip_addresses[0]}" },
    });
    expect(exampleStack("azure").output).not.toHaveProperty("firewall_rule_needed");
  });

  it("allows ssh and the journal from the config's networks, and prints the IDs of the rules for 8091 only", () => {
    const networks = { allowedBootstrapSshCidr: "192.0.2.0/24", allowedBootstrapJournalCidr: "198.51.100.0/24" };
    expect(rulesOf(networks, { tunnel: "off" })).toMatchObject([
      { name: `${infraID}-bootstrap-ssh`, source_address_prefix: "192.0.2.0/24" },
      { name: `${infraID}-bootstrap-journal`, source_address_prefix: "198.51.100.0/24" },
    ]);
    expect(exampleStack("azure", networks, { tunnel: "off" }).output).not.toHaveProperty("firewall_rules");
    expect(exampleStack("azure", networks).output.firewall_rules?.value).toEqual([
      expect.stringContaining("konnectivity-0"),
      expect.stringContaining("konnectivity-1"),
    ]);
  });
});

describe("the payload of azure-bootstrap", () => {
  it.each([
    ["sample-x7k2p", "samplex7k2p3e9f8b1c"],
    ["a", "a3e9f8b1c"],
    ["a-cluster-with-long-name-27", "aclusterwithlong3e9f8b1c"],
  ])("of %s is in a storage account with a valid literal name", (infraId, name) => {
    const stack = exampleStack("azure", {}, {}, { metadata: { ...metadata, infraID: infraId } });
    expect(only(stack, "azurerm_storage_account").name).toBe(name);
    expect(name).toMatch(/^[a-z0-9]{3,24}$/);
  });

  it("is stored with the hash of the file that is written", () => {
    const project = new Project(changedExample("azure"));
    try {
      const stack = project.synth()["azure-bootstrap"];
      const file = join(project.outdir, "stacks/azure-bootstrap/payload.ign");
      expect(only(stack, "azurerm_storage_blob").content_md5).toBe(
        createHash("md5").update(readFileSync(file)).digest("hex"),
      );
    } finally {
      project.remove();
    }
  });

  it("is fetched from the store of the config's cloud", () => {
    expect(machineOf({ cloudName: "AzureChinaCloud" }).custom_data).toContain(".blob.core.chinacloudapi.cn/ignition/");
  });
});

describe("azure-bootstrap with a signed URL", () => {
  const stack = exampleStack("azure");
  const sasOf = ({ data }: StackJson) => Object.values(data?.azurerm_storage_account_blob_container_sas ?? {})[0];
  const windowOf = ({ resource }: StackJson) =>
    Object.entries(resource.terraform_data ?? {}).find(([id]) => id.startsWith("payload-sas_window"))?.[1];

  it("is the default: the machine's pointer has the signature, which is valid for the config's hours", () => {
    expect(only(stack, "azurerm_linux_virtual_machine").custom_data).toMatch(
      /data\.azurerm_storage_account_blob_container_sas\.[\w-]+\.sas/,
    );
    expect(sasOf(stack)).toMatchObject({
      container_name: "ignition",
      connection_string: expect.stringMatching(
        /^\$\{azurerm_storage_account\.[\w-]+\.primary_blob_connection_string\}$/,
      ) as string,
      expiry: expect.stringContaining('"24h"') as string,
    });
    expect(sasOf(exampleStack("azure", { sasHours: 3 }))?.expiry).toContain('"3h"');
  });

  it("renews the signature for a new payload only, even if the machine may be replaced", () => {
    const other = exampleStack("azure", {}, {}, { shape: "4.14" });
    expect(windowOf(other)?.triggers_replace).not.toEqual(windowOf(stack)?.triggers_replace);
    expect(windowOf(exampleStack("azure", {}, { replaceMachine: true }))?.lifecycle).toEqual({
      ignore_changes: ["input"],
    });
  });

  it("accepts the account's keys, and says that the state contains secrets", () => {
    expect(only(stack, "azurerm_storage_account").shared_access_key_enabled).toBe(true);
    expect(stack.output.secrets_in_state?.value).toContain("the storage account's keys and the payload's signed URL");
  });

  it("gives the machine the config's identity, or none", () => {
    expect(resources(stack, "azurerm_user_assigned_identity")).toEqual([]);
    expect(only(stack, "azurerm_linux_virtual_machine")).not.toHaveProperty("identity");
    expect(machineOf({ bootstrapIdentityId: identityId })).toMatchObject({ identity: { identity_ids: [identityId] } });
  });
});

describe("azure-bootstrap with pointer: identity", () => {
  const stack = exampleStack("azure", { pointer: "identity" });

  it("gives the machine a new identity that can read the container", () => {
    expect(only(stack, "azurerm_user_assigned_identity").name).toBe(`${infraID}-bootstrap`);
    expect(only(stack, "azurerm_linux_virtual_machine").identity).toEqual({
      type: "UserAssigned",
      identity_ids: [expect.stringMatching(/^\$\{azurerm_user_assigned_identity\.[\w-]+\.id\}$/)],
    });
    expect(only(stack, "azurerm_role_assignment").scope).toMatch(/^\$\{azurerm_storage_container\.[\w-]+\.id\}$/);
  });

  it("gives the identity as much time to propagate as the config says", () => {
    const secondsOf = (options: object) =>
      waitsOf(exampleStack("azure", { pointer: "identity", ...options })).map((wait) =>
        JSON.stringify(wait.provisioner),
      );
    expect(secondsOf({})).toEqual([expect.stringContaining('"WAIT_SECONDS":"300"')]);
    expect(secondsOf({ identityWaitSeconds: 600 })).toEqual([expect.stringContaining('"WAIT_SECONDS":"600"')]);
    expect(afterOf(only(stack, "azurerm_linux_virtual_machine")).map(withoutHash)).toContain(
      "terraform_data.payload-reader_wait",
    );
  });

  it("uses Entra ID for the store too, and no keys", () => {
    expect(stack.provider.azurerm?.[0]?.storage_use_azuread).toBe(true);
    expect(only(stack, "azurerm_storage_account").shared_access_key_enabled).toBe(false);
  });

  it("has a pointer without a signature, and no secrets", () => {
    const text = Buffer.from(only(stack, "azurerm_linux_virtual_machine").custom_data as string, "base64").toString();
    expect(JSON.parse(text)).toMatchObject({
      ignition: {
        config: {
          replace: { source: "https://samplex7k2p3e9f8b1c.blob.core.windows.net/ignition/payload.ign" },
        },
      },
    });
    expect(stack.data).not.toHaveProperty("azurerm_storage_account_blob_container_sas");
    expect(stack.check).not.toHaveProperty("signed_url_is_good");
    expect(stack.output).not.toHaveProperty("secrets_in_state");
    expect(JSON.stringify(stack)).not.toMatch(/connection_string|access_key\b|plantimestamp/);
  });

  it("takes the config's identity: then no permission is created", () => {
    const given = exampleStack("azure", { pointer: "identity", bootstrapIdentityId: identityId });
    expect(only(given, "azurerm_linux_virtual_machine").identity).toEqual({
      type: "UserAssigned",
      identity_ids: [identityId],
    });
    for (const type of ["azurerm_user_assigned_identity", "azurerm_role_assignment"])
      expect(resources(given, type)).toEqual([]);
    expect(waitsOf(given)).toEqual([]);
  });
});
