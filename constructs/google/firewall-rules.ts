import { ComputeFirewall } from "@cdktf/provider-google/lib/compute-firewall/index.js";
import { Construct } from "constructs";
import {
  checkPortOf,
  createRules,
  type Ingress,
  type NetworkSource,
  type RuleIds,
  type RuleSpec,
} from "../shared/ingress.ts";
import { addressOf } from "../shared/terraform-address.ts";

export type Source = { readonly networkTag: string } | NetworkSource;

export interface FirewallRulesProps {
  readonly name: string;
  readonly ingress: readonly Ingress<Source>[];
  /** The network's project: the rules of a shared VPC belong to the host project. */
  readonly project: string;
  readonly network: string;
  /** A network tag that only the bootstrap machine has. */
  readonly targetTag: string;
  /** The machine's. */
  readonly spec: RuleSpec;
}

/** Firewall rules that apply only to the bootstrap machine, one for each port and source. */
export class FirewallRules extends Construct {
  readonly ruleIds: RuleIds;

  constructor(scope: Construct, id: string, props: FirewallRulesProps) {
    super(scope, id);
    const { name, ingress, project, network, targetTag, spec } = props;
    this.ruleIds = createRules(ingress, (ingressRule) => {
      const { id: ruleId, source } = ingressRule;
      const { description, port, keepsPort } = ingressRule.ingress;
      const rule = new ComputeFirewall(this, ruleId, {
        name: `${name}-${ruleId}`,
        description,
        project,
        network: `projects/${project}/global/networks/${network}`,
        direction: "INGRESS",
        allow: [{ protocol: "tcp", ports: [String(port)] }],
        ...("networkTag" in source ? { sourceTags: [source.networkTag] } : { sourceRanges: [source.network] }),
        targetTags: [targetTag],
        ...(keepsPort && { lifecycle: spec.lifecycle(["allow"]) }),
      });
      if (keepsPort)
        checkPortOf(
          spec,
          ingressRule,
          `contains(flatten([for one in ${addressOf(rule)}.allow : one.ports]), "${port}")`,
        );
      return rule.id;
    });
  }
}
