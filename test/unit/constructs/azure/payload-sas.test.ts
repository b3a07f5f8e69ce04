import { DataAzurermStorageAccountBlobContainerSas } from "@cdktf/provider-azurerm/lib/data-azurerm-storage-account-blob-container-sas/index.js";
import { describe, expect, it } from "vitest";
import { PayloadSas } from "../../../../constructs/azure/payload-sas.ts";
import type { PayloadStore } from "../../../../constructs/azure/payload-store.ts";
import { payloadContent, payloadIn, synthScope } from "../../../support/constructs.ts";

function stackWith(hours: number) {
  const store = { connectionString: "the connection string", containerName: "ignition" } as PayloadStore;
  const stack = synthScope((scope) => {
    new PayloadSas(scope, "payload-sas", { store, payload: payloadIn(scope), hours });
  });
  const [sas] = Object.values(stack.data?.[DataAzurermStorageAccountBlobContainerSas.tfResourceType] ?? {});
  const [[id, window] = ["", {}]] = Object.entries(stack.resource.terraform_data ?? {});
  return { stack, sas, id, window };
}

describe("the payload's shared access signature", () => {
  const { stack, sas, id, window } = stackWith(24);

  it("allows only reading that container, over HTTPS", () => {
    expect(sas).toMatchObject({
      connection_string: "the connection string",
      container_name: "ignition",
      https_only: true,
      permissions: { read: true, add: false, create: false, write: false, delete: false, list: false },
    });
  });

  it("is valid from a time in the state, which later runs do not change", () => {
    expect(window.input).toEqual({ start: "${plantimestamp()}" });
    expect(window.lifecycle).toEqual({ ignore_changes: ["input"] });
    expect(sas).toMatchObject({
      start: `\${timeadd(terraform_data.${id}.output.start, "-15m")}`,
      expiry: `\${timeadd(terraform_data.${id}.output.start, "24h")}`,
    });
    expect(stackWith(3).sas?.expiry).toContain('"3h"');
  });

  it("is renewed for a new payload", () => {
    expect(window.triggers_replace).toEqual({ payload: payloadContent.sha512 });
  });

  it("is reported in a plan when it has expired", () => {
    expect(stack.check.signed_url_is_good?.assert).toEqual([
      {
        condition: `\${timecmp(plantimestamp(), timeadd(terraform_data.${id}.output.start, "24h")) < 0}`,
        error_message: expect.stringContaining("has expired") as string,
      },
    ]);
  });
});
