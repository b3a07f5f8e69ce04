import { StorageBucketObject } from "@cdktf/provider-google/lib/storage-bucket-object/index.js";
import { StorageBucket } from "@cdktf/provider-google/lib/storage-bucket/index.js";
import { describe, expect, it } from "vitest";
import { PayloadStore, type PayloadStoreProps } from "../../../../constructs/google/payload-store.ts";
import type { PayloadContent } from "../../../../constructs/shared/payload-file.ts";
import { absentPayload, payloadContent, payloadIn, stopsDeploy, synthScope } from "../../../support/constructs.ts";
import { only } from "../../../support/stacks.ts";

function stackWith(props: Partial<PayloadStoreProps> = {}, content: PayloadContent = payloadContent) {
  let store: PayloadStore | undefined;
  const stack = synthScope((scope) => {
    store = new PayloadStore(scope, "payload-store", {
      bucketName: "sample-bucket",
      payload: payloadIn(scope, content),
      region: "europe-west1",
      labels: { team: "platform" },
      ...props,
    });
  });
  return { stack, store, bucket: only(stack, StorageBucket.tfResourceType) };
}

describe("the payload store on Google Cloud", () => {
  const { stack, store, bucket } = stackWith();

  it("is a bucket with a literal name that is deleted with everything in it", () => {
    expect(stack).toHaveResourceWithProperties(StorageBucket, {
      name: "sample-bucket",
      force_destroy: true,
      labels: { team: "platform" },
    });
    expect(store?.url).toBe("gs://sample-bucket/payload.ign");
  });

  it("is in the cluster's region, in upper case as the API returns it", () => {
    expect(bucket.location).toBe("EUROPE-WEST1");
  });

  it("prevents all public access", () => {
    expect(bucket).toMatchObject({ uniform_bucket_level_access: true, public_access_prevention: "enforced" });
  });

  it("keeps no deleted or overwritten objects", () => {
    expect(bucket).toMatchObject({
      soft_delete_policy: { retention_duration_seconds: 0 },
      versioning: { enabled: false },
    });
  });

  it("is encrypted with Google's key or with the given one", () => {
    expect(bucket).not.toHaveProperty("encryption");
    const kmsKey = "projects/my-project/locations/europe-west1/keyRings/ring/cryptoKeys/key";
    expect(stackWith({ kmsKey }).bucket.encryption).toEqual({ default_kms_key_name: kmsKey });
  });

  it("contains the payload by path", () => {
    expect(stack).toHaveResourceWithProperties(StorageBucketObject, {
      bucket: expect.stringMatching(/^\$\{google_storage_bucket\./) as string,
      name: "payload.ign",
      source: "payload.ign",
      content_type: "application/vnd.coreos.ignition+json",
    });
    expect(only(stack, StorageBucketObject.tfResourceType)).not.toHaveProperty("content");
  });

  it("stops a deploy without a payload", () => {
    const { lifecycle } = only(stackWith({}, absentPayload).stack, StorageBucketObject.tfResourceType);
    expect(lifecycle).toEqual(stopsDeploy);
    expect(only(stack, StorageBucketObject.tfResourceType).lifecycle).toEqual({ precondition: [] });
  });
});
