import { SecurityGroup } from "@cdktf/provider-aws/lib/security-group/index.js";
import { VpcSecurityGroupIngressRule } from "@cdktf/provider-aws/lib/vpc-security-group-ingress-rule/index.js";
import { Construct } from "constructs";
import { isIpv6Network } from "../../src/core/addresses.ts";
import {
  checkPortOf,
  createRules,
  type Ingress,
  type NetworkSource,
  type RuleIds,
  type RuleSpec,
} from "../shared/ingress.ts";
import { addressOf } from "../shared/terraform-address.ts";

export type Source = { readonly securityGroupId: string } | NetworkSource;

export interface FirewallRulesProps {
  readonly name: string;
  readonly ingress: readonly Ingress<Source>[];
  readonly vpcId: string;
  /** The machine's. */
  readonly spec: RuleSpec;
  readonly tags: Readonly<Record<string, string>>;
}

/** A security group that only the bootstrap machine is in, with one rule for each port and source. */
export class FirewallRules extends Construct {
  readonly ruleIds: RuleIds;
  readonly securityGroupId: string;

  constructor(scope: Construct, id: string, props: FirewallRulesProps) {
    super(scope, id);
    const { name, ingress, vpcId, spec, tags } = props;
    const { id: securityGroupId } = new SecurityGroup(this, "group", {
      name,
      description: "The bootstrap machine alone",
      vpcId,
      tags: { ...tags, Name: name },
    });
    this.securityGroupId = securityGroupId;
    this.ruleIds = createRules(ingress, (ingressRule) => {
      const { id: ruleId, source } = ingressRule;
      const { description, port, keepsPort } = ingressRule.ingress;
      const rule = new VpcSecurityGroupIngressRule(this, ruleId, {
        securityGroupId,
        description,
        ipProtocol: "tcp",
        fromPort: port,
        toPort: port,
        ...sourceArguments(source),
        tags: { ...tags, Name: `${name}-${ruleId}` },
        ...(keepsPort && { lifecycle: spec.lifecycle(["from_port", "to_port"]) }),
      });
      if (keepsPort) checkPortOf(spec, ingressRule, `${addressOf(rule)}.to_port == ${port}`);
      return rule.securityGroupRuleId;
    });
  }
}

function sourceArguments(source: Source) {
  if ("securityGroupId" in source) return { referencedSecurityGroupId: source.securityGroupId };
  return isIpv6Network(source.network) ? { cidrIpv6: source.network } : { cidrIpv4: source.network };
}
