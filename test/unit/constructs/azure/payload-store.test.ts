import { createHash } from "node:crypto";
import { StorageAccount } from "@cdktf/provider-azurerm/lib/storage-account/index.js";
import { StorageBlob } from "@cdktf/provider-azurerm/lib/storage-blob/index.js";
import { StorageContainer } from "@cdktf/provider-azurerm/lib/storage-container/index.js";
import { describe, expect, it } from "vitest";
import { PayloadStore, type PayloadStoreProps } from "../../../../constructs/azure/payload-store.ts";
import type { PayloadContent } from "../../../../constructs/shared/payload-file.ts";
import { place } from "../../../support/azure.ts";
import { absentPayload, payloadContent, payloadIn, stopsDeploy, synthScope } from "../../../support/constructs.ts";
import { only } from "../../../support/stacks.ts";

function stackWith(props: Partial<PayloadStoreProps> = {}, content: PayloadContent = payloadContent) {
  let store: PayloadStore | undefined;
  const stack = synthScope((scope) => {
    store = new PayloadStore(scope, "payload-store", {
      ...place,
      accountName: "sampleaccount",
      payload: payloadIn(scope, content),
      blobDomain: "blob.core.windows.net",
      sharedKeys: true,
      ...props,
    });
  });
  return { stack, store, blob: only(stack, StorageBlob.tfResourceType) };
}

describe("the payload store on Azure", () => {
  const { stack, store, blob } = stackWith();

  it("is a storage account that requires TLS 1.2 and allows no public access", () => {
    expect(stack).toHaveResourceWithProperties(StorageAccount, {
      name: "sampleaccount",
      resource_group_name: "sample-rg",
      location: "westeurope",
      min_tls_version: "TLS1_2",
      https_traffic_only_enabled: true,
      allow_nested_items_to_be_public: false,
      cross_tenant_replication_enabled: false,
      local_user_enabled: false,
      tags: { team: "platform" },
    });
    expect(only(stack, StorageContainer.tfResourceType).container_access_type).toBe("private");
  });

  it("has a URL in its own cloud", () => {
    expect(store?.url).toBe("https://sampleaccount.blob.core.windows.net/ignition/payload.ign");
    expect(stackWith({ blobDomain: "blob.core.chinacloudapi.cn" }).store?.url).toContain(
      "https://sampleaccount.blob.core.chinacloudapi.cn/",
    );
  });

  it("accepts its keys only for a signed URL", () => {
    expect(stack).toHaveResourceWithProperties(StorageAccount, {
      shared_access_key_enabled: true,
      default_to_oauth_authentication: false,
    });
    expect(stackWith({ sharedKeys: false }).stack).toHaveResourceWithProperties(StorageAccount, {
      shared_access_key_enabled: false,
      default_to_oauth_authentication: true,
    });
  });

  it("contains the payload by path, with the hash that shows a change", () => {
    expect(blob).toMatchObject({
      name: "payload.ign",
      source: "payload.ign",
      type: "Block",
      content_md5: createHash("md5").update(payloadContent.text).digest("hex"),
    });
    expect(blob).not.toHaveProperty("source_content");
  });

  it("refers to the container in the way that provider 4 and provider 5 accept", () => {
    expect(blob.storage_container_id).toMatch(/^\$\{azurerm_storage_container\.[\w-]+\.id\}$/);
    expect(blob).not.toHaveProperty("storage_account_name");
    expect(blob).not.toHaveProperty("storage_container_name");
    expect(only(stack, StorageContainer.tfResourceType).storage_account_id).toMatch(
      /^\$\{azurerm_storage_account\.[\w-]+\.id\}$/,
    );
  });

  it("stops a deploy without a payload", () => {
    expect(stackWith({}, absentPayload).blob.lifecycle).toEqual(stopsDeploy);
    expect(blob.lifecycle).toEqual({ precondition: [] });
  });
});
