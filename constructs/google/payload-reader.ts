import { ServiceAccount } from "@cdktf/provider-google/lib/service-account/index.js";
import { StorageBucketIamMember } from "@cdktf/provider-google/lib/storage-bucket-iam-member/index.js";
import type { ITerraformDependable } from "cdktf";
import { Construct } from "constructs";

export interface PayloadReaderProps {
  /** ID of the service account that is made: 6 to 30 lower case letters, digits and -. */
  readonly accountId: string;
  /** Email of a given service account. @default - one is made */
  readonly serviceAccount?: string;
  readonly bucket: string;
}

/**
 * An identity that can read the payload's bucket; one that is made here can do nothing else. A given one gets that
 * permission too: the bucket is new, so nobody can have given it before.
 */
export class PayloadReader extends Construct {
  readonly email: string;
  /** What must be there before a machine can fetch. */
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
