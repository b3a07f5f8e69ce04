import { LinuxVirtualMachine } from "@cdktf/provider-azurerm/lib/linux-virtual-machine/index.js";
import { DataResource, TerraformStack } from "cdktf";
import { describe, expect, it } from "vitest";
import type { MachineOptions } from "../../../../constructs/azure/machine-spec.ts";
import { Machine, type MachineProps } from "../../../../constructs/azure/machine.ts";
import { networkInterfaceIn, place, specIn, subscriptionId } from "../../../support/azure.ts";
import { payloadContent, payloadIn, resourceIn, synthScope } from "../../../support/constructs.ts";
import { only } from "../../../support/stacks.ts";

const url = "https://sampleaccount.blob.core.windows.net/ignition/payload.ign";
const provider = `/subscriptions/${subscriptionId}/resourceGroups/rg/providers`;

/** A machine alone, with its network interface. */
function stackWith(changed: Partial<MachineOptions> = {}, props: Partial<MachineProps> = {}, replaceMachine = false) {
  const stack = synthScope((scope) => {
    const spec = specIn(scope, payloadIn(scope), changed, replaceMachine);
    new Machine(scope, "machine", {
      ...place,
      name: "sample-bootstrap",
      spec,
      payloadUrl: url,
      subscriptionId,
      networkInterface: networkInterfaceIn(scope, spec),
      sshKey: "ssh-ed25519 AAAA core@example.com",
      dependsOn: [resourceIn(scope, "stored")],
      ...props,
    });
  });
  return { stack, vm: only(stack, LinuxVirtualMachine.tfResourceType) };
}

/** What Terraform makes of `base64encode(join("", […]))`, with the reference to the query replaced. */
function evaluated(customData: unknown, query: string): unknown {
  const [, list = ""] = /^\$\{base64encode\(join\("", \[(.*)\]\)\)\}$/s.exec(String(customData)) ?? [];
  const parts = JSON.parse(`[${list.replace("terraform_data.sas.id", JSON.stringify(query))}]`) as string[];
  return JSON.parse(parts.join(""));
}

const pointer = (source: string) => ({
  ignition: {
    version: "3.2.0",
    config: { replace: { source, verification: { hash: `sha512-${payloadContent.sha512}` } } },
    timeouts: { httpTotal: 1800 },
  },
});

describe("the machine on Azure", () => {
  const { stack, vm } = stackWith();

  it("has an OS disk on Premium_LRS", () => {
    expect(vm.os_disk).toEqual({
      name: "sample-bootstrap_OSDisk",
      caching: "ReadWrite",
      storage_account_type: "Premium_LRS",
      disk_size_gb: 128,
    });
    const diskEncryptionSetId = `${provider}/Microsoft.Compute/diskEncryptionSets/mine`;
    expect(stackWith({ rootVolume: { sizeGiB: 500, diskEncryptionSetId } }).vm.os_disk).toMatchObject({
      disk_size_gb: 500,
      disk_encryption_set_id: diskEncryptionSetId,
    });
  });

  it("is encrypted at the host only if wanted", () => {
    expect(vm.encryption_at_host_enabled).toBe(false);
    expect(stackWith({ encryptionAtHost: true }).vm.encryption_at_host_enabled).toBe(true);
  });

  it("allows no password login and has boot diagnostics", () => {
    expect(vm).toMatchObject({ admin_username: "core", disable_password_authentication: true });
    expect(vm).not.toHaveProperty("admin_password");
    expect(vm.boot_diagnostics).toEqual({});
  });

  it("has the ssh key for core; without one it can still be destroyed", () => {
    expect(vm.admin_ssh_key).toEqual([{ username: "core", public_key: "ssh-ed25519 AAAA core@example.com" }]);
    expect(stackWith({}, { sshKey: undefined }).vm).not.toHaveProperty("admin_ssh_key");
  });

  it("boots from an image of the gallery, by ID, or from the marketplace", () => {
    expect(vm.source_image_id).toBe(
      `/subscriptions/${subscriptionId}/resourceGroups/sample-rg/providers/Microsoft.Compute/galleries/gallery_sample/images/sample-gen2`,
    );
    const id = `${provider}/Microsoft.Compute/images/rhcos`;
    expect(stackWith({ image: { id } }).vm.source_image_id).toBe(id);
    const reference = { publisher: "redhat", offer: "o", sku: "s", version: "1" };
    const bought = stackWith({ image: { marketplace: { ...reference, plan: "WithPurchasePlan" } } }).vm;
    expect(bought).not.toHaveProperty("source_image_id");
    expect(bought).toMatchObject({
      source_image_reference: reference,
      plan: { publisher: "redhat", product: "o", name: "s" },
    });
    expect(stackWith({ image: { marketplace: { ...reference, plan: "NoPurchasePlan" } } }).vm).not.toHaveProperty(
      "plan",
    );
  });

  it("has the size, tags and network interface that it is given", () => {
    expect(stack).toHaveResourceWithProperties(LinuxVirtualMachine, {
      name: "sample-bootstrap",
      computer_name: "sample-bootstrap",
      resource_group_name: "sample-rg",
      location: "westeurope",
      size: "Standard_D4as_v5",
      network_interface_ids: ["${azurerm_network_interface.network-interface.id}"],
      tags: {
        team: "platform",
        "konnectivity-bootstrap-made-of": expect.stringMatching(/^[0-9a-f]{16}-[0-9a-f]{16}$/) as string,
      },
    });
  });

  it("has only the identity that it is given: with two, Azure would not know which to use", () => {
    expect(vm).not.toHaveProperty("identity");
    expect(stackWith({}, { identityId: "identity" }).vm.identity).toEqual({
      type: "UserAssigned",
      identity_ids: ["identity"],
    });
  });

  it("gets a pointer with the payload's hash as custom data", () => {
    const text = Buffer.from(vm.custom_data as string, "base64").toString();
    expect(JSON.parse(text)).toEqual(pointer(url));
    expect(vm).not.toHaveProperty("user_data");
  });

  it("gets a pointer with a signed URL", () => {
    const signed = synthScope((scope) => {
      const spec = specIn(scope, payloadIn(scope));
      new Machine(scope, "machine", {
        ...place,
        name: "sample-bootstrap",
        spec,
        payloadUrl: url,
        payloadQuery: new DataResource(TerraformStack.of(scope), "sas").id,
        subscriptionId,
        networkInterface: networkInterfaceIn(scope, spec),
        dependsOn: [],
      });
    });
    const query = "?sv=2018-11-09&sr=c&st=2026-11-16T11:45:00Z&sig=a%2Bb%2Fc%3D";
    expect(evaluated(only(signed, LinuxVirtualMachine.tfResourceType).custom_data, query)).toEqual(
      pointer(`${url}${query}`),
    );
  });

  it("boots after what it depends on", () => {
    expect(vm.depends_on).toEqual(["terraform_data.stored"]);
  });

  it("is changed neither by another payload nor by other options, and replaced only by its spec", () => {
    expect(vm.lifecycle).toMatchObject({
      ignore_changes: [
        ...["source_image_id", "source_image_reference", "plan", "custom_data", "admin_ssh_key", "size", "os_disk"],
        ...["encryption_at_host_enabled", 'tags["konnectivity-bootstrap-made-of"]'],
      ],
      replace_triggered_by: [expect.stringMatching(/^terraform_data\.payload_replacement_/)],
    });
  });

  it("is compared with its spec in every plan", () => {
    expect(Object.keys(stack.check)).toEqual(["machine_has_this_payload", "machine_is_as_configured"]);
    expect(JSON.stringify(stack.check)).toContain("azurerm_linux_virtual_machine.machine.tags[");
  });

  it.each([
    [false, "azure.publicIp is false now, but the machine was made with a public address"],
    [true, "azure.publicIp is true now, but the machine was made without a public address"],
  ])("refuses another publicIp for an existing interface, unless it may be replaced: %s", (publicIp, sentence) => {
    expect(stackWith({ publicIp }).vm.lifecycle).toMatchObject({
      precondition: [
        {
          condition: `\${(try(coalesce(azurerm_network_interface.network-interface.ip_configuration[0].public_ip_address_id), "") != "") == ${publicIp}}`,
          error_message: expect.stringContaining(sentence) as string,
        },
      ],
    });
    expect(stackWith({ publicIp }, {}, true).vm.lifecycle).toMatchObject({ precondition: [] });
  });
});
