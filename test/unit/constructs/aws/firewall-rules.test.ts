import { SecurityGroup } from "@cdktf/provider-aws/lib/security-group/index.js";
import { VpcSecurityGroupIngressRule } from "@cdktf/provider-aws/lib/vpc-security-group-ingress-rule/index.js";
import { describe, expect, it } from "vitest";
import { FirewallRules, type Source } from "../../../../constructs/aws/firewall-rules.ts";
import { bootstrapIngress, type IngressProps, type RuleIds } from "../../../../constructs/shared/ingress.ts";
import { machineSpecIn, synthScope } from "../../../support/constructs.ts";
import { only, resources } from "../../../support/stacks.ts";

const [controlPlane, workers] = ["sg-0123456789abcdef0", "sg-0123456789abcdef1"];

function stackWith(props: Partial<IngressProps<Source>> = {}) {
  let ruleIds: RuleIds = {};
  const stack = synthScope((scope) => {
    const rules = new FirewallRules(scope, "firewall-rule", {
      name: "sample-bootstrap",
      ingress: bootstrapIngress<Source>({
        nodes: [controlPlane, workers].map((securityGroupId) => ({ securityGroupId })),
        tunnelPort: 8091,
        ...props,
      }),
      vpcId: "vpc-0123456789abcdef0",
      spec: machineSpecIn(scope),
      tags: { team: "platform" },
    });
    ({ ruleIds } = rules);
  });
  return { stack, ruleIds, rules: resources(stack, VpcSecurityGroupIngressRule.tfResourceType) };
}

describe("the firewall rules on AWS", () => {
  it("allow 8091 from the control plane's and the workers' security group, to the machine's own group", () => {
    const group = expect.stringMatching(/^\$\{aws_security_group\.[\w-]+\.id\}$/) as string;
    const rule = (source: string) =>
      expect.objectContaining({
        referenced_security_group_id: source,
        security_group_id: group,
        from_port: 8091,
        to_port: 8091,
        ip_protocol: "tcp",
      }) as object;
    expect(stackWith().rules).toEqual([rule(controlPlane), rule(workers)]);
  });

  it("are tagged with their names, with a number if there are several for a port", () => {
    expect(stackWith().rules.map(({ tags }) => tags)).toEqual([
      { team: "platform", Name: "sample-bootstrap-konnectivity-0" },
      { team: "platform", Name: "sample-bootstrap-konnectivity-1" },
    ]);
    expect(stackWith({ nodes: [{ securityGroupId: workers }] }).rules).toEqual([
      expect.objectContaining({ tags: { team: "platform", Name: "sample-bootstrap-konnectivity" } }),
    ]);
  });

  it("are in a group without egress rules in the cluster's VPC", () => {
    const group = only(stackWith().stack, SecurityGroup.tfResourceType);
    expect(group).not.toHaveProperty("egress");
    expect(group).toMatchObject({ vpc_id: "vpc-0123456789abcdef0", tags: { Name: "sample-bootstrap" } });
  });

  it("allow ssh and the journal from IPv4 and IPv6 networks", () => {
    const { rules } = stackWith({
      tunnelPort: undefined,
      allowedBootstrapSshCidr: "192.0.2.0/24",
      allowedBootstrapJournalCidr: "2001:db8::/32",
    });
    expect(rules).toEqual([
      expect.objectContaining({ from_port: 19531, to_port: 19531, cidr_ipv6: "2001:db8::/32" }),
      expect.objectContaining({ from_port: 22, to_port: 22, cidr_ipv4: "192.0.2.0/24" }),
    ]);
  });

  it("keep another port than 8091 as long as the machine, and a plan says if the config's is another", () => {
    const { rules, stack } = stackWith({ tunnelPort: 9591 });
    for (const rule of rules)
      expect(rule).toMatchObject({
        from_port: 9591,
        to_port: 9591,
        lifecycle: {
          ignore_changes: ["from_port", "to_port"],
          replace_triggered_by: [expect.stringMatching(/^terraform_data\.payload_replacement_/)],
        },
      });
    expect(Object.values(stack.check)).toEqual(
      [0, 1].map((index) => ({
        assert: [
          {
            condition: expect.stringMatching(
              new RegExp(
                `^\\$\\{aws_vpc_security_group_ingress_rule\\.[\\w-]*konnectivity-${index}_\\w+\\.to_port == 9591\\}$`,
              ),
            ) as string,
            error_message: expect.stringMatching(/it is 9591 in the config now\. .*replaceMachine: true/) as string,
          },
        ],
      })),
    );
    for (const rule of stackWith().rules) expect(rule).not.toHaveProperty("lifecycle");
    expect(stackWith().stack.check).toEqual({});
  });

  it("have their IDs by what they are for", () => {
    const { ruleIds } = stackWith({ allowedBootstrapSshCidr: "192.0.2.0/24" });
    expect(ruleIds.konnectivity).toHaveLength(2);
    expect(ruleIds.ssh).toHaveLength(1);
    expect(ruleIds).not.toHaveProperty("journal");
  });
});
