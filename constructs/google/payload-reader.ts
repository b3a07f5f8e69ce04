import { ServiceAccount } from "@cdktf/provider-google/lib/service-account/index.js";
import { StorageBucketIamMember } from "@cdktf/provider-google/lib/storage-bucket-iam-member/index.js";
import type { ITerraformDependable } from "cdktf";
import { Construct } from "constructs";

export interface PayloadReaderProps {
  /** ID of a service account to create: 6 to 30 lower case letters, digits and -. */
  readonly accountId: string;
  /** Email of an existing service account to use instead. @default - one is created */
  readonly serviceAccount?: string;
  readonly bucket: string;
}

/**
 * A least-privilege identity that can read only the payload's bucket. An existing service account gets that permission too:
 * it cannot exist before, because the bucket is new.
 */
export class PayloadReader extends Construct {
  readonly email: string;
  /** Must exist before a machine can fetch the payload. */
  readonly granted: ITerraformDependable;

  constructor(scope: Construct, id: string, props: PayloadReaderProps) {
    super(scope, id);
    const { accountId, serviceAccount, bucket } = props;
    this.email =
      serviceAccount ??
      new ServiceAccount(this, "account", { accountId, displayName: "Reads the payload of the bootstrap machine" })
        .email;
    this.granted = new StorageBucketIamMember(this, "read-payload", {
      bucket,
      role: "roles/storage.objectViewer",
      member: `serviceAccount:${this.email}`,
    });
  }
}
