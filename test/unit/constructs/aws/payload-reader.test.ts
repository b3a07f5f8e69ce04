import { describe, expect, it } from "vitest";
import { exampleStack, only, resources, waitsOf } from "../../../support/stacks.ts";

const key = "arn:aws:kms:eu-central-1:123456789012:key/0123";
const statements = (options: object) =>
  (JSON.parse(only(exampleStack("aws", options), "aws_iam_role_policy").policy as string) as { Statement: object[] })
    .Statement;

describe("the machine's identity on AWS", () => {
  it("can read that one object, and nothing else", () => {
    expect(statements({})).toEqual([
      {
        Effect: "Allow",
        Action: "s3:GetObject",
        Resource: expect.stringMatching(/^arn:aws:s3:::[a-z0-9-]+\/payload\.ign$/) as string,
      },
    ]);
  });

  it("can decrypt it with that one key", () => {
    expect(statements({ payloadKmsKeyArn: key })).toHaveLength(2);
    expect(statements({ payloadKmsKeyArn: key })[1]).toEqual({ Effect: "Allow", Action: "kms:Decrypt", Resource: key });
  });

  it("is EC2's to take, within a boundary if one is given", () => {
    const permissionsBoundaryArn = "arn:aws:iam::123456789012:policy/boundary";
    const role = only(exampleStack("aws", { permissionsBoundaryArn }), "aws_iam_role");
    expect(role.permissions_boundary).toBe(permissionsBoundaryArn);
    expect(JSON.parse(role.assume_role_policy as string)).toMatchObject({
      Statement: [{ Effect: "Allow", Principal: { Service: "ec2.amazonaws.com" }, Action: "sts:AssumeRole" }],
    });
  });

  it("has time to spread, all of it, before the machine boots", () => {
    const waitOf = (options?: object) => waitsOf(exampleStack("aws", options));
    const address = (type: string) => `${type}.${Object.keys(exampleStack("aws").resource[type] ?? {})[0] ?? ""}`;
    const all = [address("aws_iam_role_policy"), address("aws_iam_instance_profile")];
    expect(waitOf()).toEqual([
      expect.objectContaining({
        depends_on: [...all, "terraform_data.report"],
        lifecycle: { replace_triggered_by: all },
      }),
    ]);
    expect(waitOf()).toMatchObject([{ provisioner: [{ "local-exec": { environment: { WAIT_SECONDS: "30" } } }] }]);
    expect(waitOf({ identityWaitSeconds: 90 })).toMatchObject([
      { provisioner: [{ "local-exec": { environment: { WAIT_SECONDS: "90" } } }] },
    ]);
    expect(waitOf({ identityWaitSeconds: 0 })).toEqual([]);
  });

  it("can be a given one: then none is made, and nothing waits", () => {
    const stack = exampleStack("aws", { bootstrapInstanceProfile: "mine" });
    for (const type of ["aws_iam_role", "aws_iam_role_policy", "aws_iam_instance_profile"])
      expect(resources(stack, type)).toEqual([]);
    expect(only(stack, "aws_instance").iam_instance_profile).toBe("mine");
    expect(waitsOf(stack)).toEqual([]);
  });
});
