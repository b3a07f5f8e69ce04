import { describe, expect, it } from "vitest";
import { exampleStack, only, resources } from "../../../support/stacks.ts";

const rulesOf = (options?: object, rest?: object) =>
  resources(exampleStack("aws", options, rest), "aws_vpc_security_group_ingress_rule");

describe("the rule for 8091 on AWS", () => {
  it("is two: from the control plane's and from the workers' security group, to a group of its own", () => {
    const group = expect.stringMatching(/^\$\{aws_security_group\.[\w-]+\.id\}$/) as string;
    const rule = (source: string) =>
      expect.objectContaining({
        referenced_security_group_id: source,
        security_group_id: group,
        from_port: 8091,
        to_port: 8091,
        ip_protocol: "tcp",
      }) as object;
    expect(rulesOf()).toEqual([rule("sg-0123456789abcdef0"), rule("sg-0123456789abcdef1")]);
  });

  it("is one if both are the same group", () => {
    expect(rulesOf({ workerSecurityGroupId: "sg-0123456789abcdef0" })).toHaveLength(1);
  });

  it("its group has no way out of its own, and is in the cluster's VPC", () => {
    expect(only(exampleStack("aws"), "aws_security_group")).not.toHaveProperty("egress");
    expect(only(exampleStack("aws"), "aws_security_group").vpc_id).toBe("vpc-0123456789abcdef0");
  });

  it.each([
    ["firewall: external", { firewall: "external" }],
    ["tunnel: off", { tunnel: "off" }],
  ])("is not made with %s, nor is the group", (_, rest) => {
    const stack = exampleStack("aws", {}, rest);
    expect(resources(stack, "aws_vpc_security_group_ingress_rule")).toEqual([]);
    expect(resources(stack, "aws_security_group")).toEqual([]);
    expect(only(stack, "aws_instance").vpc_security_group_ids).toEqual(["sg-0123456789abcdef0"]);
  });

  it("external: the rule that is needed is an output, and the machine takes your group", () => {
    const stack = exampleStack(
      "aws",
      { bootstrapSecurityGroupIds: ["sg-0123456789abcdef9"] },
      { firewall: "external" },
    );
    expect(stack.output.firewall_rule_needed?.value).toMatchObject({
      protocol: "tcp",
      port: 8091,
      direction: "ingress",
      sources: { networks: ["10.0.0.0/16"], securityGroups: ["sg-0123456789abcdef0", "sg-0123456789abcdef1"] },
      destination: { address: "${aws_instance.machine.private_ip}" },
    });
    expect(only(stack, "aws_instance").vpc_security_group_ids).toEqual([
      "sg-0123456789abcdef0",
      "sg-0123456789abcdef9",
    ]);
    expect(exampleStack("aws").output).not.toHaveProperty("firewall_rule_needed");
  });

  it("ssh and journal are open to whom the config says, and else to nobody", () => {
    const open = rulesOf(
      { allowedBootstrapSshCidr: "192.0.2.0/24", allowedBootstrapJournalCidr: "2001:db8::/32" },
      { tunnel: "off" },
    );
    expect(open.reverse()).toEqual([
      expect.objectContaining({ from_port: 22, to_port: 22, cidr_ipv4: "192.0.2.0/24" }),
      expect.objectContaining({ from_port: 19531, to_port: 19531, cidr_ipv6: "2001:db8::/32" }),
    ]);
    for (const rule of rulesOf()) expect(rule.from_port).toBe(8091);
  });
});
