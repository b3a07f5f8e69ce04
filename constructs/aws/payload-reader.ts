import { IamInstanceProfile } from "@cdktf/provider-aws/lib/iam-instance-profile/index.js";
import { IamRolePolicy } from "@cdktf/provider-aws/lib/iam-role-policy/index.js";
import { IamRole } from "@cdktf/provider-aws/lib/iam-role/index.js";
import type { ITerraformDependable } from "cdktf";
import { Construct } from "constructs";
import { Wait } from "../shared/wait.ts";

export interface PayloadReaderProps {
  readonly name: string;
  readonly objectArn: string;
  /** @default - the object is encrypted with S3's own key */
  readonly kmsKeyArn?: string;
  readonly permissionsBoundaryArn?: string;
  /** For role, policy and profile to spread. 0: no wait. */
  readonly waitSeconds: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** An identity that can read the payload, and nothing else. */
export class PayloadReader extends Construct {
  readonly instanceProfile: string;
  /** What must be there before a machine can fetch. */
  readonly granted: ITerraformDependable;

  constructor(scope: Construct, id: string, props: PayloadReaderProps) {
    super(scope, id);
    const { name, objectArn, kmsKeyArn, waitSeconds, tags } = props;
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
          ...(kmsKeyArn === undefined ? [] : [{ Effect: "Allow", Action: "kms:Decrypt", Resource: kmsKeyArn }]),
        ],
      }),
    });
    const profile = new IamInstanceProfile(this, "profile", { name, role: role.name, tags });
    this.instanceProfile = profile.name;
    this.granted =
      waitSeconds === 0 ? policy : new Wait(this, "wait", { seconds: waitSeconds, dependsOn: [policy, profile] }).done;
  }
}
