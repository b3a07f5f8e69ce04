import { ServiceAccount } from "@cdktf/provider-google/lib/service-account/index.js";
import { StorageBucketIamMember } from "@cdktf/provider-google/lib/storage-bucket-iam-member/index.js";
import { DataResource } from "cdktf";
import { describe, expect, it } from "vitest";
import { PayloadReader, type PayloadReaderProps } from "../../../../constructs/google/payload-reader.ts";
import { synthScope, withoutHash } from "../../../support/constructs.ts";
import { resources } from "../../../support/stacks.ts";

const stackWith = (props: Partial<PayloadReaderProps> = {}) =>
  synthScope((scope) => {
    const reader = new PayloadReader(scope, "payload-reader", {
      accountId: "sample-3e9f8b1c",
      bucket: "sample-bucket",
      ...props,
    });
    new DataResource(scope, "machine", { dependsOn: [reader.granted], input: { account: reader.email } });
  });

describe("the identity that reads the payload on Google Cloud", () => {
  it("can read only that bucket", () => {
    const stack = stackWith();
    expect(stack).toHaveResourceWithProperties(StorageBucketIamMember, {
      bucket: "sample-bucket",
      role: "roles/storage.objectViewer",
      member: expect.stringMatching(/^serviceAccount:\$\{google_service_account\.[\w-]+\.email\}$/) as string,
    });
    expect(Object.keys(stack.resource).filter((type) => type.includes("iam"))).toEqual([
      StorageBucketIamMember.tfResourceType,
    ]);
  });

  it("is a new service account", () => {
    const stack = stackWith();
    expect(stack).toHaveResourceWithProperties(ServiceAccount, { account_id: "sample-3e9f8b1c" });
    expect(stack.resource.terraform_data?.machine?.input).toEqual({
      account: expect.stringMatching(/^\$\{google_service_account\.[\w-]+\.email\}$/) as string,
    });
  });

  it("can be an existing service account, which gets the permission too", () => {
    const serviceAccount = "mine@my-project.iam.gserviceaccount.com";
    const stack = stackWith({ serviceAccount });
    expect(resources(stack, ServiceAccount.tfResourceType)).toEqual([]);
    expect(stack).toHaveResourceWithProperties(StorageBucketIamMember, {
      bucket: "sample-bucket",
      member: `serviceAccount:${serviceAccount}`,
    });
    expect(stack.resource.terraform_data?.machine?.input).toEqual({ account: serviceAccount });
  });

  it("has the permission before the machine boots", () => {
    const { depends_on: dependsOn } = stackWith().resource.terraform_data?.machine ?? {};
    expect((dependsOn as string[]).map(withoutHash)).toEqual([
      "google_storage_bucket_iam_member.payload-reader_read-payload",
    ]);
  });
});
