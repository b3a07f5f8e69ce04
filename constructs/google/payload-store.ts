import { StorageBucketObject } from "@cdktf/provider-google/lib/storage-bucket-object/index.js";
import { StorageBucket } from "@cdktf/provider-google/lib/storage-bucket/index.js";
import type { ITerraformDependable } from "cdktf";
import { Construct } from "constructs";
import type { PayloadFile } from "../shared/payload-file.ts";

export interface PayloadStoreProps {
  readonly bucketName: string;
  readonly region: string;
  readonly payload: PayloadFile;
  /** Path of the key that encrypts the payload. @default - Google's own key */
  readonly kmsKey?: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A private bucket with the payload in it. Both are deleted with the stack. */
export class PayloadStore extends Construct {
  readonly url: string;
  readonly bucket: string;
  /** Must exist before a machine can fetch the payload. */
  readonly stored: ITerraformDependable;

  constructor(scope: Construct, id: string, props: PayloadStoreProps) {
    super(scope, id);
    const { bucketName, region, payload, kmsKey, labels } = props;
    this.url = `gs://${bucketName}/${payload.name}`;
    const bucket = new StorageBucket(this, "bucket", {
      name: bucketName,
      // The API returns it in upper case: another spelling would show as a change in every plan.
      location: region.toUpperCase(),
      uniformBucketLevelAccess: true,
      publicAccessPrevention: "enforced",
      versioning: { enabled: false },
      // Google's default keeps deleted objects for a week.
      softDeletePolicy: { retentionDurationSeconds: 0 },
      forceDestroy: true,
      ...(kmsKey !== undefined && { encryption: { defaultKmsKeyName: kmsKey } }),
      labels,
    });
    this.bucket = bucket.name;
    this.stored = new StorageBucketObject(this, "object", {
      bucket: bucket.name,
      name: payload.name,
      source: payload.name,
      contentType: payload.contentType,
      lifecycle: { precondition: payload.preconditions },
    });
  }
}
