import { S3BucketOwnershipControls } from "@cdktf/provider-aws/lib/s3-bucket-ownership-controls/index.js";
import { S3BucketPolicy } from "@cdktf/provider-aws/lib/s3-bucket-policy/index.js";
import { S3BucketPublicAccessBlock } from "@cdktf/provider-aws/lib/s3-bucket-public-access-block/index.js";
import { S3BucketServerSideEncryptionConfigurationA } from "@cdktf/provider-aws/lib/s3-bucket-server-side-encryption-configuration/index.js";
import { S3Bucket } from "@cdktf/provider-aws/lib/s3-bucket/index.js";
import { S3Object } from "@cdktf/provider-aws/lib/s3-object/index.js";
import type { ITerraformDependable } from "cdktf";
import { Construct } from "constructs";
import type { PayloadFile } from "../shared/payload-file.ts";

export interface PayloadStoreProps {
  readonly bucketName: string;
  readonly payload: PayloadFile;
  readonly partition: string;
  /** ARN of the key that encrypts the payload. @default - S3's own key */
  readonly kmsKey?: string;
  /** The object's tags. S3 allows at most ten on an object, so it does not get the user's. */
  readonly clusterTags: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

/** A private bucket with the payload in it. Both are deleted with the stack. */
export class PayloadStore extends Construct {
  readonly url: string;
  readonly objectArn: string;
  /** Must exist before a machine can fetch the payload. */
  readonly stored: ITerraformDependable;

  constructor(scope: Construct, id: string, props: PayloadStoreProps) {
    super(scope, id);
    const { bucketName, payload, partition, kmsKey } = props;
    const bucketArn = `arn:${partition}:s3:::${bucketName}`;
    this.url = `s3://${bucketName}/${payload.name}`;
    this.objectArn = `${bucketArn}/${payload.name}`;

    const bucket = new S3Bucket(this, "bucket", { bucket: bucketName, forceDestroy: true, tags: props.tags });
    // Each depends on the one before: S3 refuses simultaneous changes to a bucket.
    const owner = new S3BucketOwnershipControls(this, "owner", {
      bucket: bucket.id,
      rule: { objectOwnership: "BucketOwnerEnforced" },
    });
    const notPublic = new S3BucketPublicAccessBlock(this, "not-public", {
      bucket: bucket.id,
      blockPublicAcls: true,
      blockPublicPolicy: true,
      ignorePublicAcls: true,
      restrictPublicBuckets: true,
      dependsOn: [owner],
    });
    const encryption = new S3BucketServerSideEncryptionConfigurationA(this, "encryption", {
      bucket: bucket.id,
      rule: [
        {
          applyServerSideEncryptionByDefault:
            kmsKey === undefined ? { sseAlgorithm: "AES256" } : { sseAlgorithm: "aws:kms", kmsMasterKeyId: kmsKey },
          bucketKeyEnabled: kmsKey !== undefined,
        },
      ],
      dependsOn: [notPublic],
    });
    const tlsOnly = new S3BucketPolicy(this, "tls-only", {
      bucket: bucket.id,
      policy: JSON.stringify({
        Version: "2012-10-17",
        Statement: [
          {
            Sid: "TlsOnly",
            Effect: "Deny",
            Principal: "*",
            Action: "s3:*",
            Resource: [bucketArn, `${bucketArn}/*`],
            Condition: { Bool: { "aws:SecureTransport": "false" } },
          },
        ],
      }),
      dependsOn: [encryption],
    });
    this.stored = new S3Object(this, "object", {
      bucket: bucket.id,
      key: payload.name,
      source: payload.name,
      sourceHash: payload.sha512,
      contentType: payload.contentType,
      tags: props.clusterTags,
      lifecycle: { precondition: payload.preconditions },
      dependsOn: [tlsOnly],
    });
  }
}
