import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { changedExample, exampleStack, metadata, only, Project, type ProjectProps } from "../../../support/stacks.ts";

const store = (options?: object, rest?: object, props?: ProjectProps) => {
  const stack = exampleStack("azure", options, rest, props);
  return {
    account: only(stack, "azurerm_storage_account"),
    container: only(stack, "azurerm_storage_container"),
    blob: only(stack, "azurerm_storage_blob"),
  };
};

describe("the payload's store on Azure", () => {
  const { account, container, blob } = store();

  it("is an account that takes TLS 1.2 only and gives nothing to the public", () => {
    expect(account).toMatchObject({
      resource_group_name: `${metadata.infraID}-rg`,
      location: "westeurope",
      min_tls_version: "TLS1_2",
      https_traffic_only_enabled: true,
      allow_nested_items_to_be_public: false,
      cross_tenant_replication_enabled: false,
      local_user_enabled: false,
    });
    expect(container.container_access_type).toBe("private");
  });

  it.each([
    ["sample-x7k2p", "samplex7k2p3e9f8b1c"],
    ["a", "a3e9f8b1c"],
    ["a-cluster-with-long-name-27", "aclusterwithlong3e9f8b1c"],
  ])("has a literal name that Azure takes: %s", (infraID, name) => {
    const found = store({}, {}, { metadata: { ...metadata, infraID } }).account.name;
    expect(found).toBe(name);
    expect(found).toMatch(/^[a-z0-9]{3,24}$/);
  });

  it("has keys that open it only if a signed URL is made with them", () => {
    expect(account).toMatchObject({ shared_access_key_enabled: true, default_to_oauth_authentication: false });
    expect(store({ pointer: "identity" }).account).toMatchObject({
      shared_access_key_enabled: false,
      default_to_oauth_authentication: true,
    });
  });

  it("gets the payload by its path, with the hash by which a change shows", () => {
    const project = new Project(changedExample("azure"));
    try {
      project.synth();
      const file = join(project.outdir, "stacks/azure-bootstrap/payload.ign");
      expect(blob).toMatchObject({
        name: "payload.ign",
        source: "payload.ign",
        type: "Block",
        content_md5: createHash("md5").update(readFileSync(file)).digest("hex"),
      });
    } finally {
      project.remove();
    }
    expect(blob).not.toHaveProperty("source_content");
  });

  it("names the container as both provider 4 and provider 5 take it", () => {
    expect(blob.storage_container_id).toMatch(/^\$\{azurerm_storage_container\.[\w-]+\.id\}$/);
    expect(blob).not.toHaveProperty("storage_account_name");
    expect(blob).not.toHaveProperty("storage_container_name");
    expect(container.storage_account_id).toMatch(/^\$\{azurerm_storage_account\.[\w-]+\.id\}$/);
  });

  it("stops a deploy without bootstrap.ign", () => {
    const { lifecycle } = store({}, {}, { shape: "none" }).blob as { lifecycle: { precondition: object[] } };
    expect(lifecycle.precondition).toEqual([
      expect.objectContaining({ error_message: expect.stringContaining("Nothing can be deployed") as string }),
    ]);
  });
});
