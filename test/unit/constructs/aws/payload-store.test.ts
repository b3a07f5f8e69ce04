import { S3BucketOwnershipControls } from "@cdktf/provider-aws/lib/s3-bucket-ownership-controls/index.js";
import { S3BucketPolicy } from "@cdktf/provider-aws/lib/s3-bucket-policy/index.js";
import { S3BucketPublicAccessBlock } from "@cdktf/provider-aws/lib/s3-bucket-public-access-block/index.js";
import { S3BucketServerSideEncryptionConfigurationA as S3BucketEncryption } from "@cdktf/provider-aws/lib/s3-bucket-server-side-encryption-configuration/index.js";
import { S3Bucket } from "@cdktf/provider-aws/lib/s3-bucket/index.js";
import { S3Object } from "@cdktf/provider-aws/lib/s3-object/index.js";
import { describe, expect, it } from "vitest";
import { PayloadStore, type PayloadStoreProps } from "../../../../constructs/aws/payload-store.ts";
import type { PayloadContent } from "../../../../constructs/shared/payload-file.ts";
import { absentPayload, payloadContent, payloadIn, stopsDeploy, synthScope } from "../../../support/constructs.ts";
import { only } from "../../../support/stacks.ts";

const clusterTags = { "kubernetes.io/cluster/sample-x7k2p": "owned" };

function stackWith(props: Partial<PayloadStoreProps> = {}, content: PayloadContent = payloadContent) {
  let store: PayloadStore | undefined;
  const stack = synthScope((scope) => {
    store = new PayloadStore(scope, "payload-store", {
      bucketName: "sample-bucket",
      payload: payloadIn(scope, content),
      partition: "aws",
      clusterTags,
      tags: { team: "platform", ...clusterTags },
      ...props,
    });
  });
  return { stack, store };
}

describe("the payload store on AWS", () => {
  const { stack, store } = stackWith();

  it("is a bucket with a literal name that is deleted with everything in it", () => {
    expect(stack).toHaveResourceWithProperties(S3Bucket, {
      bucket: "sample-bucket",
      force_destroy: true,
      tags: { team: "platform", ...clusterTags },
    });
    expect(store?.url).toBe("s3://sample-bucket/payload.ign");
  });

  it("blocks all public access", () => {
    expect(stack).toHaveResourceWithProperties(S3BucketPublicAccessBlock, {
      block_public_acls: true,
      block_public_policy: true,
      ignore_public_acls: true,
      restrict_public_buckets: true,
    });
  });

  it("disables ACLs", () => {
    expect(stack).toHaveResourceWithProperties(S3BucketOwnershipControls, {
      rule: { object_ownership: "BucketOwnerEnforced" },
    });
  });

  it("denies access without TLS", () => {
    const { policy } = only(stack, S3BucketPolicy.tfResourceType);
    expect(JSON.parse(policy as string)).toMatchObject({
      Statement: [
        {
          Effect: "Deny",
          Principal: "*",
          Action: "s3:*",
          Resource: ["arn:aws:s3:::sample-bucket", "arn:aws:s3:::sample-bucket/*"],
          Condition: { Bool: { "aws:SecureTransport": "false" } },
        },
      ],
    });
  });

  it.each([
    [undefined, { sse_algorithm: "AES256" }],
    [
      "arn:aws:kms:eu-central-1:123456789012:key/0123",
      { sse_algorithm: "aws:kms", kms_master_key_id: "arn:aws:kms:eu-central-1:123456789012:key/0123" },
    ],
  ])("is encrypted by default, with key %s", (kmsKey, encryption) => {
    const { rule } = only(stackWith({ kmsKey }).stack, S3BucketEncryption.tfResourceType) as {
      rule: { apply_server_side_encryption_by_default: object }[];
    };
    expect(rule[0]?.apply_server_side_encryption_by_default).toEqual(encryption);
  });

  it("contains the payload by path and hash, with the cluster's tag alone", () => {
    expect(stack).toHaveResourceWithProperties(S3Object, {
      key: "payload.ign",
      source: "payload.ign",
      source_hash: payloadContent.sha512,
      content_type: "application/vnd.coreos.ignition+json",
      tags: clusterTags,
    });
    expect(only(stack, S3Object.tfResourceType)).not.toHaveProperty("content");
  });

  it("is completely configured before the payload is stored", () => {
    const dependsOn = ({ tfResourceType }: { tfResourceType: string }) =>
      (only(stack, tfResourceType).depends_on as string[]).map((address) => address.split(".")[0]);
    expect(dependsOn(S3Object)).toEqual([S3BucketPolicy.tfResourceType]);
    expect(dependsOn(S3BucketPolicy)).toEqual([S3BucketEncryption.tfResourceType]);
    expect(dependsOn(S3BucketEncryption)).toEqual([S3BucketPublicAccessBlock.tfResourceType]);
    expect(dependsOn(S3BucketPublicAccessBlock)).toEqual([S3BucketOwnershipControls.tfResourceType]);
  });

  it("names its partition in ARNs", () => {
    expect(store?.objectArn).toBe("arn:aws:s3:::sample-bucket/payload.ign");
    expect(stackWith({ partition: "aws-cn" }).store?.objectArn).toBe("arn:aws-cn:s3:::sample-bucket/payload.ign");
  });

  it("stops a deploy without a payload", () => {
    const { lifecycle } = only(stackWith({}, absentPayload).stack, S3Object.tfResourceType);
    expect(lifecycle).toEqual(stopsDeploy);
    expect(only(stack, S3Object.tfResourceType).lifecycle).toEqual({ precondition: [] });
  });
});
