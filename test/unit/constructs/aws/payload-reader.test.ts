import { IamInstanceProfile } from "@cdktf/provider-aws/lib/iam-instance-profile/index.js";
import { IamRolePolicy } from "@cdktf/provider-aws/lib/iam-role-policy/index.js";
import { IamRole } from "@cdktf/provider-aws/lib/iam-role/index.js";
import { DataResource } from "cdktf";
import { describe, expect, it } from "vitest";
import { PayloadReader, type PayloadReaderProps } from "../../../../constructs/aws/payload-reader.ts";
import { synthScope, withoutHash } from "../../../support/constructs.ts";
import { only, waitsOf } from "../../../support/stacks.ts";

const objectArn = "arn:aws:s3:::bucket/payload.ign";
const key = "arn:aws:kms:eu-central-1:123456789012:key/0123";

const stackWith = (props: Partial<PayloadReaderProps> = {}) =>
  synthScope((scope) => {
    const reader = new PayloadReader(scope, "payload-reader", {
      name: "sample-bootstrap",
      objectArn,
      waitSeconds: 30,
      tags: { team: "platform" },
      ...props,
    });
    new DataResource(scope, "machine", { dependsOn: [reader.granted], input: { profile: reader.instanceProfile } });
  });
const statements = (props?: Partial<PayloadReaderProps>) =>
  (JSON.parse(only(stackWith(props), IamRolePolicy.tfResourceType).policy as string) as { Statement: object[] })
    .Statement;
const machineIn = (stack: ReturnType<typeof stackWith>) => stack.resource.terraform_data?.machine ?? {};

describe("the identity that reads the payload on AWS", () => {
  it("can read only that object", () => {
    expect(statements()).toEqual([{ Effect: "Allow", Action: "s3:GetObject", Resource: objectArn }]);
  });

  it("can decrypt the object with its key", () => {
    expect(statements({ kmsKey: key })).toEqual([
      ...statements(),
      { Effect: "Allow", Action: "kms:Decrypt", Resource: key },
    ]);
  });

  it("is a role for EC2, with a permissions boundary if one is given", () => {
    const permissionsBoundaryArn = "arn:aws:iam::123456789012:policy/boundary";
    const role = only(stackWith({ permissionsBoundaryArn }), IamRole.tfResourceType);
    expect(role.permissions_boundary).toBe(permissionsBoundaryArn);
    expect(JSON.parse(role.assume_role_policy as string)).toMatchObject({
      Statement: [{ Effect: "Allow", Principal: { Service: "ec2.amazonaws.com" }, Action: "sts:AssumeRole" }],
    });
    expect(only(stackWith(), IamRole.tfResourceType)).not.toHaveProperty("permissions_boundary");
  });

  it("has time to propagate, all of it, before the machine boots", () => {
    const stack = stackWith();
    const address = ({ tfResourceType: type }: { tfResourceType: string }) =>
      `${type}.${Object.keys(stack.resource[type] ?? {})[0] ?? ""}`;
    const all = [address(IamRolePolicy), address(IamInstanceProfile)];
    expect(waitsOf(stack)).toEqual([
      expect.objectContaining({ depends_on: all, lifecycle: { replace_triggered_by: all } }),
    ]);
    expect(waitsOf(stack)).toMatchObject([
      { provisioner: [{ "local-exec": { environment: { WAIT_SECONDS: "30" } } }] },
    ]);
    expect((machineIn(stack).depends_on as string[]).map(withoutHash)).toEqual(["terraform_data.payload-reader_wait"]);
  });

  it("is used without a wait if that is 0 seconds", () => {
    const stack = stackWith({ waitSeconds: 0 });
    expect(waitsOf(stack)).toEqual([]);
    expect((machineIn(stack).depends_on as string[]).map(withoutHash)).toEqual([
      "aws_iam_role_policy.payload-reader_policy",
    ]);
  });

  it("is an instance profile for the machine", () => {
    const stack = stackWith();
    expect(stack).toHaveResourceWithProperties(IamInstanceProfile, { name: "sample-bootstrap" });
    expect(machineIn(stack).input).toEqual({
      profile: expect.stringMatching(/^\$\{aws_iam_instance_profile\.[\w-]+\.name\}$/) as string,
    });
  });
});
