import { describe, expect, it } from "vitest";
import { sampleConfig } from "../../../../src/core/sample/sample.ts";
import { exampleStack, metadata, only, type ProjectProps, replacementOf } from "../../../support/stacks.ts";

const { infraID } = metadata;
const machineOf = (options?: object, rest?: object, props?: ProjectProps) =>
  only(exampleStack("azure", options, rest, props), "azurerm_linux_virtual_machine");
const sub = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg/providers";
const url = "https://samplex7k2p3e9f8b1c.blob.core.windows.net/ignition/payload.ign";

/** What Terraform makes of `base64encode(join("", […]))`, with the reference to the signature replaced. */
function evaluated(customData: unknown, signature: string): unknown {
  const [, list = ""] = /^\$\{base64encode\(join\("", \[(.*)\]\)\)\}$/s.exec(String(customData)) ?? [];
  const reference = /data\.azurerm_storage_account_blob_container_sas\.[\w-]+\.sas/;
  const parts = JSON.parse(`[${list.replace(reference, JSON.stringify(signature))}]`) as string[];
  return JSON.parse(parts.join(""));
}

/** bootstrap.ign with these keys for core. */
const withKeys = (sshAuthorizedKeys: unknown, name = "core"): ProjectProps => ({
  files: {
    "ocp/bootstrap.ign": JSON.stringify({
      ...sampleConfig("4.18"),
      passwd: { users: [{ name, sshAuthorizedKeys }] },
    }),
  },
});

describe("the machine on Azure", () => {
  const machine = machineOf();

  it("has a disk of at least 100 GB, which is enough for /var behind 50 GB", () => {
    expect(machine.os_disk).toEqual({
      name: `${infraID}-bootstrap_OSDisk`,
      caching: "ReadWrite",
      storage_account_type: "Premium_LRS",
      disk_size_gb: 128,
    });
    const diskEncryptionSetId = `${sub}/Microsoft.Compute/diskEncryptionSets/mine`;
    expect(machineOf({ osDiskSizeGB: 500, diskEncryptionSetId }).os_disk).toMatchObject({
      disk_size_gb: 500,
      disk_encryption_set_id: diskEncryptionSetId,
    });
  });

  it("is encrypted at the host if the config says so", () => {
    expect(machine.encryption_at_host_enabled).toBe(false);
    expect(machineOf({ encryptionAtHost: true }).encryption_at_host_enabled).toBe(true);
  });

  it("lets nobody in by password, and its console shows in the portal", () => {
    expect(machine).toMatchObject({ admin_username: "core", disable_password_authentication: true });
    expect(machine).not.toHaveProperty("admin_password");
    expect(machine.boot_diagnostics).toEqual({});
  });

  it("has a key that bootstrap.ign has for core, RSA if there is one, or the given one", () => {
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
  ])("refuses to be made without a key: bootstrap.ign has %s", (_, props) => {
    expect(() => machineOf({}, {}, props)).toThrow(
      "azure.sshKeyData is missing; expected an RSA or ED25519 public key (bootstrap.ign has none for core).",
    );
  });

  it("can be destroyed without a key", () => {
    expect(machineOf({}, {}, { shape: "none" })).not.toHaveProperty("admin_ssh_key");
  });

  it("has the image of the UPI template, or the given one, or one of the marketplace", () => {
    expect(machine.source_image_id).toBe(
      `/subscriptions/\${data.azurerm_client_config.client.subscription_id}/resourceGroups/${infraID}-rg/providers/Microsoft.Compute/galleries/gallery_sample_x7k2p/images/${infraID}-gen2`,
    );
    const imageId = `${sub}/Microsoft.Compute/images/rhcos`;
    expect(machineOf({ imageId }).source_image_id).toBe(imageId);
    const marketplaceImage = { publisher: "redhat", offer: "o", sku: "s", version: "1" };
    const bought = machineOf({ marketplaceImage });
    expect(bought).not.toHaveProperty("source_image_id");
    expect(bought).toMatchObject({
      source_image_reference: marketplaceImage,
      plan: { publisher: "redhat", product: "o", name: "s" },
    });
    expect(machineOf({ marketplaceImage: { ...marketplaceImage, plan: "NoPurchasePlan" } })).not.toHaveProperty("plan");
  });

  it("takes its size by the architecture, or as given", () => {
    expect(machine.size).toBe("Standard_D4as_v5");
    expect(machineOf({}, { architecture: "aarch64" }).size).toBe("Standard_D4ps_v5");
    expect(machineOf({ bootstrapVMSize: "Standard_D8s_v5" }).size).toBe("Standard_D8s_v5");
  });

  const pointer = (source: string) => ({
    ignition: {
      version: "3.2.0",
      config: {
        replace: { source, verification: { hash: expect.stringMatching(/^sha512-[0-9a-f]{128}$/) as string } },
      },
      timeouts: { httpTotal: 1800 },
    },
  });

  it("gets a pointer with the payload's hash and the signature as custom data", () => {
    const signature = "?sv=2018-11-09&sr=c&st=2026-11-16T11:45:00Z&sig=a%2Bb%2Fc%3D";
    expect(evaluated(machine.custom_data, signature)).toEqual(pointer(`${url}${signature}`));
    expect(machine).not.toHaveProperty("user_data");
  });

  it("gets one without a signature if its identity is enough", () => {
    const text = Buffer.from(machineOf({ pointer: "identity" }).custom_data as string, "base64").toString();
    expect(JSON.parse(text)).toEqual(pointer(url));
  });

  it("fetches from the store of its own cloud", () => {
    expect(machineOf({ cloudName: "AzureChinaCloud" }).custom_data).toContain(".blob.core.chinacloudapi.cn/ignition/");
  });

  it("boots after its payload is there", () => {
    expect(machine.depends_on).toContainEqual(expect.stringMatching(/^azurerm_storage_blob\./));
  });

  it("is left alone by another image or key, and replaced only with what remembers its payload", () => {
    expect(machine.lifecycle).toMatchObject({
      ignore_changes: [
        ...["source_image_id", "source_image_reference", "plan", "custom_data", "admin_ssh_key", "size", "os_disk"],
        ...["encryption_at_host_enabled", 'tags["konnectivity-bootstrap-made-of"]'],
      ],
      replace_triggered_by: [expect.stringMatching(/^terraform_data\.payload_replacement_/)],
    });
    expect(replacementOf(exampleStack("azure"))).toEqual({ ignore_changes: ["triggers_replace"] });
    expect(replacementOf(exampleStack("azure", {}, { replaceMachine: true }))).not.toHaveProperty("ignore_changes");
  });

  it.each([
    [false, "azure.publicIp is false now, but the machine was made with a public address"],
    [true, "azure.publicIp is true now, but the machine was made without a public address"],
  ])("keeps the interface that it has: publicIp %s", (publicIp, sentence) => {
    const { precondition } = machineOf({ publicIp }).lifecycle as {
      precondition: { condition: string; error_message: string }[];
    };
    expect(precondition).toEqual([
      {
        condition: `\${(try(coalesce(azurerm_network_interface.network-interface.ip_configuration[0].public_ip_address_id), "") != "") == ${publicIp}}`,
        error_message: expect.stringContaining(sentence) as string,
      },
    ]);
    expect(machineOf({ publicIp }, { replaceMachine: true }).lifecycle).toMatchObject({ precondition: [] });
  });
});
