import { describe, expect, it } from "vitest";
import { exampleStack, metadata, only } from "../../../support/stacks.ts";

const bucketName = `${metadata.infraID}-bootstrap-${metadata.clusterID.slice(0, 8)}`;

describe("the payload's bucket on Google", () => {
  const stack = exampleStack("google");
  const bucket = only(stack, "google_storage_bucket");

  it("has a literal name, and goes with everything in it", () => {
    expect(bucket).toMatchObject({ name: bucketName, force_destroy: true });
    const named = exampleStack("google", { bucketName: "mine" });
    expect(only(named, "google_storage_bucket").name).toBe("mine");
    expect(named.output.payload_url?.value).toBe("gs://mine/payload.ign");
  });

  it("is in the cluster's region, spelled as the API does", () => {
    expect(bucket.location).toBe("EUROPE-WEST1");
  });

  it("is not public in any way", () => {
    expect(bucket).toMatchObject({ uniform_bucket_level_access: true, public_access_prevention: "enforced" });
  });

  it("keeps nothing that was deleted or overwritten", () => {
    expect(bucket).toMatchObject({
      soft_delete_policy: { retention_duration_seconds: 0 },
      versioning: { enabled: false },
    });
  });

  it("is encrypted with Google's key, or with a given one", () => {
    expect(bucket).not.toHaveProperty("encryption");
    const payloadKmsKey = "projects/my-project/locations/europe-west1/keyRings/ring/cryptoKeys/key";
    expect(only(exampleStack("google", { payloadKmsKey }), "google_storage_bucket").encryption).toEqual({
      default_kms_key_name: payloadKmsKey,
    });
  });

  it("holds the payload by its path", () => {
    const object = only(stack, "google_storage_bucket_object");
    expect(object).toMatchObject({
      bucket: expect.stringMatching(/^\$\{google_storage_bucket\./) as string,
      name: "payload.ign",
      source: "payload.ign",
      content_type: "application/vnd.coreos.ignition+json",
    });
    expect(object).not.toHaveProperty("content");
  });

  it("without a bootstrap.ign nothing is stored, and the deploy stops", () => {
    const without = exampleStack("google", {}, {}, { shape: "none", files: {} });
    const { lifecycle } = only(without, "google_storage_bucket_object") as {
      lifecycle: { precondition: { error_message: string }[] };
    };
    expect(lifecycle.precondition[0]?.error_message).toContain("Nothing can be deployed: there is no bootstrap.ign");
    expect(only(stack, "google_storage_bucket_object").lifecycle).toEqual({ precondition: [] });
  });
});
