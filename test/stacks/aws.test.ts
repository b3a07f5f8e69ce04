import { describe, expect, it } from "vitest";
import { exampleStack, metadata, only, resources } from "../support/stacks.ts";

const { infraID } = metadata;
const made = (...args: [object?, object?]) =>
  Object.entries(exampleStack("aws", ...args).resource).map(([type, byId]) => [type, Object.keys(byId).length]);

describe("aws-bootstrap", () => {
  it("of the example makes this, and nothing else", () => {
    expect(made()).toEqual([
      ["aws_iam_instance_profile", 1],
      ["aws_iam_role", 1],
      ["aws_iam_role_policy", 1],
      ["aws_instance", 1],
      ["aws_lb_target_group_attachment", 3],
      ["aws_s3_bucket", 1],
      ["aws_s3_bucket_ownership_controls", 1],
      ["aws_s3_bucket_policy", 1],
      ["aws_s3_bucket_public_access_block", 1],
      ["aws_s3_bucket_server_side_encryption_configuration", 1],
      ["aws_s3_object", 1],
      ["aws_security_group", 1],
      ["aws_vpc_security_group_ingress_rule", 2],
      ["terraform_data", 4],
    ]);
  });

  it("works in the cluster's region, with a range of providers that was read", () => {
    const { provider, terraform } = exampleStack("aws");
    expect(provider.aws).toEqual([{ region: "eu-central-1" }]);
    expect(terraform.required_providers).toEqual({
      aws: { source: "hashicorp/aws", version: ">= 6.25.0, < 7.0.0" },
    });
    expect(terraform.required_version).toBe(">= 1.10.0");
  });

  it("has no group and no rule where nothing is opened", () => {
    const stack = exampleStack("aws", {}, { firewall: "external" });
    expect(resources(stack, "aws_security_group")).toEqual([]);
    expect(resources(stack, "aws_vpc_security_group_ingress_rule")).toEqual([]);
    expect(only(stack, "aws_instance").vpc_security_group_ids).toEqual(["sg-0123456789abcdef0"]);
    expect(stack.output.firewall_rule_needed?.value).toMatchObject({
      sources: { securityGroups: ["sg-0123456789abcdef0", "sg-0123456789abcdef1"] },
    });
    expect(stack.output).not.toHaveProperty("firewall_rules");
  });

  it("with ssh and `firewall: external` opens ssh alone", () => {
    const stack = exampleStack("aws", { allowedBootstrapSshCidr: "192.0.2.0/24" }, { firewall: "external" });
    expect(only(stack, "aws_vpc_security_group_ingress_rule")).toMatchObject({ from_port: 22, to_port: 22 });
  });

  it("says what to do next, in command lines that can be copied", () => {
    const { output } = exampleStack("aws");
    const commands = Object.fromEntries(Object.entries(output).map(([name, { value }]) => [name, value]));
    expect(commands).toMatchObject({
      ssh: expect.stringMatching(/^ssh core@\$\{aws_instance\./) as string,
      gather: expect.stringMatching(/^openshift-install gather bootstrap --dir ocp --bootstrap \$/) as string,
      next: "openshift-install wait-for bootstrap-complete --dir ocp",
      teardown: "npx cdktf destroy 'aws-*'",
      payload_url: `s3://${infraID}-bootstrap-3e9f8b1c/payload.ign`,
    });
  });

  it("without the install folder describes the same resources", () => {
    const given = { region: "eu-central-1" };
    const without = exampleStack(
      "aws",
      given,
      { infrastructureName: infraID },
      { shape: "none", metadata: null, files: {} },
    );
    expect(Object.keys(without.resource)).toEqual(Object.keys(exampleStack("aws").resource));
  });
});
