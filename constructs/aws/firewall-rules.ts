import { SecurityGroup } from "@cdktf/provider-aws/lib/security-group/index.js";
import { VpcSecurityGroupIngressRule } from "@cdktf/provider-aws/lib/vpc-security-group-ingress-rule/index.js";
import { Construct } from "constructs";
import { isIpv6 } from "../../src/core/addresses.ts";

/** Who may come: a security group, or a network. */
export type Source = { readonly securityGroupId: string } | { readonly network: string };

export interface Ingress {
  /** Part of the rule's name; with its number if there are several sources. */
  readonly id: string;
  readonly description: string;
  readonly port: number;
  readonly sources: readonly Source[];
}

export interface FirewallRulesProps {
  readonly name: string;
  readonly vpcId: string;
  readonly ingress: readonly Ingress[];
  readonly tags: Readonly<Record<string, string>>;
}

/** The bootstrap machine's own security group, with one rule for each port and source. No other machine is in it. */
export class FirewallRules extends Construct {
  readonly securityGroupId: string;
  /** By the ingress that they are for. */
  readonly ruleIds: Readonly<Record<string, readonly string[]>>;

  constructor(scope: Construct, id: string, props: FirewallRulesProps) {
    super(scope, id);
    const { name, vpcId, ingress, tags } = props;
    const group = new SecurityGroup(this, "group", {
      name,
      description: "The bootstrap machine alone",
      vpcId,
      tags: { ...tags, Name: name },
    });
    this.securityGroupId = group.id;
    this.ruleIds = Object.fromEntries(ingress.map((one) => [one.id, this.#make(one, props)]));
  }

  #make({ id, description, port, sources }: Ingress, { name, tags }: FirewallRulesProps): string[] {
    return sources.map((source, index) => {
      const ruleId = sources.length === 1 ? id : `${id}-${index}`;
      return new VpcSecurityGroupIngressRule(this, ruleId, {
        securityGroupId: this.securityGroupId,
        description,
        ipProtocol: "tcp",
        fromPort: port,
        toPort: port,
        ...sourceArguments(source),
        tags: { ...tags, Name: `${name}-${ruleId}` },
      }).securityGroupRuleId;
    });
  }
}

function sourceArguments(source: Source) {
  if ("securityGroupId" in source) return { referencedSecurityGroupId: source.securityGroupId };
  return isIpv6(source.network.split("/")[0] ?? "") ? { cidrIpv6: source.network } : { cidrIpv4: source.network };
}
