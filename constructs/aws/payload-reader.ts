import { IamInstanceProfile } from "@cdktf/provider-aws/lib/iam-instance-profile/index.js";
import { IamRolePolicy } from "@cdktf/provider-aws/lib/iam-role-policy/index.js";
import { IamRole } from "@cdktf/provider-aws/lib/iam-role/index.js";
import type { ITerraformDependable } from "cdktf";
import { Construct } from "constructs";
import { Wait } from "../shared/wait.ts";

export interface PayloadReaderProps {
  readonly name: string;
  readonly objectArn: string;
  /** ARN of the key that encrypts the payload. @default - S3's own key */
  readonly kmsKey?: string;
  /** @default - the role has no permissions boundary */
  readonly permissionsBoundaryArn?: string;
  /** How long a new role, policy and profile take to propagate. 0: no wait. */
  readonly waitSeconds: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** A least-privilege identity that can read only the payload. */
export class PayloadReader extends Construct {
  readonly instanceProfile: string;
  /** Must exist before a machine can fetch the payload. */
  readonly granted: ITerraformDependable;

  constructor(scope: Construct, id: string, props: PayloadReaderProps) {
    super(scope, id);
    const { name, objectArn, kmsKey, waitSeconds, tags } = props;
    const role = new IamRole(this, "role", {
      name,
      description: "Reads the payload of the bootstrap machine",
      assumeRolePolicy: JSON.stringify({
        Version: "2012-10-17",
        Statement: [{ Effect: "Allow", Principal: { Service: "ec2.amazonaws.com" }, Action: "sts:AssumeRole" }],
      }),
      permissionsBoundary: props.permissionsBoundaryArn,
      tags,
    });
    const policy = new IamRolePolicy(this, "policy", {
      name: "read-payload",
      role: role.id,
      policy: JSON.stringify({
        Version: "2012-10-17",
        Statement: [
          { Effect: "Allow", Action: "s3:GetObject", Resource: objectArn },
          ...(kmsKey === undefined ? [] : [{ Effect: "Allow", Action: "kms:Decrypt", Resource: kmsKey }]),
        ],
      }),
    });
    const profile = new IamInstanceProfile(this, "profile", { name, role: role.name, tags });
    this.instanceProfile = profile.name;
    this.granted =
      waitSeconds === 0 ? policy : new Wait(this, "wait", { seconds: waitSeconds, dependsOn: [policy, profile] }).done;
  }
}
