import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makePayload } from "../../../../src/core/bootstrap.ts";
import { readTunnel } from "../../../../src/core/konnectivity/options.ts";
import { sampleText } from "../../../../src/core/sample/sample.ts";
import { afterOf, exampleStack, metadata, only } from "../../../support/stacks.ts";

const bucketName = `${metadata.infraID}-bootstrap-${metadata.clusterID.slice(0, 8)}`;

describe("the payload's bucket on AWS", () => {
  const stack = exampleStack("aws");

  it("has a literal name, and goes with everything in it", () => {
    expect(only(stack, "aws_s3_bucket")).toMatchObject({ bucket: bucketName, force_destroy: true });
  });

  it("is not public in any way", () => {
    expect(only(stack, "aws_s3_bucket_public_access_block")).toMatchObject({
      block_public_acls: true,
      block_public_policy: true,
      ignore_public_acls: true,
      restrict_public_buckets: true,
    });
  });

  it("belongs to its owner alone", () => {
    expect(only(stack, "aws_s3_bucket_ownership_controls")).toMatchObject({
      rule: { object_ownership: "BucketOwnerEnforced" },
    });
  });

  it("answers over TLS only", () => {
    const { policy } = only(stack, "aws_s3_bucket_policy");
    expect(JSON.parse(policy as string)).toMatchObject({
      Statement: [
        {
          Effect: "Deny",
          Principal: "*",
          Action: "s3:*",
          Resource: [`arn:aws:s3:::${bucketName}`, `arn:aws:s3:::${bucketName}/*`],
          Condition: { Bool: { "aws:SecureTransport": "false" } },
        },
      ],
    });
  });

  it.each([
    [undefined, "AES256", undefined],
    ["arn:aws:kms:eu-central-1:123456789012:key/0123", "aws:kms", "arn:aws:kms:eu-central-1:123456789012:key/0123"],
  ])("is encrypted, key %s", (payloadKmsKeyArn, algorithm, key) => {
    const { rule } = only(
      exampleStack("aws", { payloadKmsKeyArn }),
      "aws_s3_bucket_server_side_encryption_configuration",
    ) as { rule: { apply_server_side_encryption_by_default: object }[] };
    expect(rule[0]?.apply_server_side_encryption_by_default).toEqual({
      sse_algorithm: algorithm,
      ...(key !== undefined && { kms_master_key_id: key }),
    });
  });

  it("holds the payload by its path, with its hash and the cluster's tag alone", () => {
    const { sha512 } = makePayload(sampleText("4.18"), readTunnel({}), new Date());
    expect(only(stack, "aws_s3_object")).toMatchObject({
      key: "payload.ign",
      source: "payload.ign",
      source_hash: sha512,
    });
    expect(only(stack, "aws_s3_object").tags).toEqual({ [`kubernetes.io/cluster/${metadata.infraID}`]: "owned" });
    expect(only(stack, "aws_s3_object")).not.toHaveProperty("content");
    expect(
      createHash("sha512")
        .update(makePayload(sampleText("4.18"), readTunnel({}), new Date()).text)
        .digest("hex"),
    ).toBe(sha512);
  });

  it("is ready in every respect before the payload comes", () => {
    const after = (type: string) => afterOf(only(stack, type)).map((address) => address.split(".")[0]);
    expect(after("aws_s3_object")).toEqual(["aws_s3_bucket_policy"]);
    expect(after("aws_s3_bucket_policy")).toEqual(["aws_s3_bucket_server_side_encryption_configuration"]);
    expect(after("aws_s3_bucket_server_side_encryption_configuration")).toEqual(["aws_s3_bucket_public_access_block"]);
    expect(after("aws_s3_bucket_public_access_block")).toEqual(["aws_s3_bucket_ownership_controls"]);
  });

  it.each([
    ["cn-north-1", "aws-cn"],
    ["us-gov-west-1", "aws-us-gov"],
    ["us-isob-east-1", "aws-iso-b"],
  ])("names its partition in %s", (region, partition) => {
    const own = exampleStack("aws", {
      region,
      rhcosAmi: "ami-0123456789abcdef0",
      autoRegisterELB: false,
      externalApiTargetGroupArn: undefined,
      internalApiTargetGroupArn: undefined,
      internalServiceTargetGroupArn: undefined,
    });
    expect(only(own, "aws_iam_role_policy").policy).toContain(`arn:${partition}:s3:::${bucketName}/payload.ign`);
  });
});
