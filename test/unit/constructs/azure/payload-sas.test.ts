import { describe, expect, it } from "vitest";
import { type Block, exampleStack, type StackJson } from "../../../support/stacks.ts";

const sasOf = (stack: StackJson): Block =>
  Object.values(stack.data?.azurerm_storage_account_blob_container_sas ?? {})[0] ?? {};
const windowOf = (stack: StackJson): [string, Block] =>
  Object.entries(stack.resource.terraform_data ?? {}).find(([id]) => id.startsWith("payload-sas_window")) ?? ["", {}];

describe("the payload's signed URL", () => {
  const stack = exampleStack("azure");
  const [id, window] = windowOf(stack);

  it("reads that container over https, and does nothing else", () => {
    expect(sasOf(stack)).toMatchObject({
      container_name: "ignition",
      https_only: true,
      permissions: { read: true, add: false, create: false, write: false, delete: false, list: false },
      connection_string: expect.stringMatching(
        /^\$\{azurerm_storage_account\.[\w-]+\.primary_blob_connection_string\}$/,
      ) as string,
    });
  });

  it("is good from when the state says, which no later run changes", () => {
    expect(window.input).toEqual({ start: "${plantimestamp()}" });
    expect(window.lifecycle).toEqual({ ignore_changes: ["input"] });
    expect(sasOf(stack)).toMatchObject({
      start: `\${timeadd(terraform_data.${id}.output.start, "-15m")}`,
      expiry: `\${timeadd(terraform_data.${id}.output.start, "24h")}`,
    });
    expect(sasOf(exampleStack("azure", { sasHours: 3 })).expiry).toContain('"3h"');
  });

  it("does not change with each run where the machine may be replaced either", () => {
    expect(windowOf(exampleStack("azure", {}, { replaceMachine: true }))[1].lifecycle).toEqual({
      ignore_changes: ["input"],
    });
  });

  it("is a new one for a new payload", () => {
    const [, other] = windowOf(exampleStack("azure", {}, {}, { shape: "4.14" }));
    expect(window.triggers_replace).toEqual({ payload: expect.stringMatching(/^[0-9a-f]{128}$/) as string });
    expect(other.triggers_replace).not.toEqual(window.triggers_replace);
  });

  it("warns when it has expired", () => {
    expect(stack.check.signed_url_is_good?.assert).toEqual([
      {
        condition: `\${timecmp(plantimestamp(), timeadd(terraform_data.${id}.output.start, "24h")) < 0}`,
        error_message: expect.stringContaining("has expired") as string,
      },
    ]);
  });

  it("and its secrets are not there with an identity", () => {
    const without = exampleStack("azure", { pointer: "identity" });
    expect(without.data).not.toHaveProperty("azurerm_storage_account_blob_container_sas");
    expect(without.check).not.toHaveProperty("signed_url_is_good");
    expect(without.output).not.toHaveProperty("secrets_in_state");
    expect(JSON.stringify(without)).not.toMatch(/connection_string|access_key\b|plantimestamp/);
  });

  it("the plan says what the state holds", () => {
    expect(stack.output.secrets_in_state?.value).toContain("the storage account's keys and the payload's signed URL");
  });
});
