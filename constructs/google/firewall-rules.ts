import { ComputeFirewall } from "@cdktf/provider-google/lib/compute-firewall/index.js";
import { Construct } from "constructs";
import { createRules, type Ingress, type NetworkSource, type RuleIds } from "../shared/ingress.ts";

export type Source = { readonly networkTag: string } | NetworkSource;

export interface FirewallRulesProps {
  readonly name: string;
  readonly ingress: readonly Ingress<Source>[];
  /** The network's project: the rules of a shared VPC belong to the host project. */
  readonly project: string;
  readonly network: string;
  /** A network tag that only the bootstrap machine has. */
  readonly targetTag: string;
}

/** Firewall rules that apply only to the bootstrap machine, one for each port and source. */
export class FirewallRules extends Construct {
  readonly ruleIds: RuleIds;

  constructor(scope: Construct, id: string, props: FirewallRulesProps) {
    super(scope, id);
    const { name, ingress, project, network, targetTag } = props;
    this.ruleIds = createRules(ingress, ({ id: ruleId, ingress: { description, port }, source }) => {
      const rule = new ComputeFirewall(this, ruleId, {
        name: `${name}-${ruleId}`,
        description,
        project,
        network: `projects/${project}/global/networks/${network}`,
        direction: "INGRESS",
        allow: [{ protocol: "tcp", ports: [String(port)] }],
        ...("networkTag" in source ? { sourceTags: [source.networkTag] } : { sourceRanges: [source.network] }),
        targetTags: [targetTag],
      });
      return rule.id;
    });
  }
}
