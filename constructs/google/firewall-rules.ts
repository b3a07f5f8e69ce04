import { ComputeFirewall } from "@cdktf/provider-google/lib/compute-firewall/index.js";
import { Construct } from "constructs";

/** Who may come: machines with a network tag, or a network. */
export type Source = { readonly tag: string } | { readonly network: string };

export interface Ingress {
  /** Part of the rule's name; with its number if there are several sources. */
  readonly id: string;
  readonly description: string;
  readonly port: number;
  readonly sources: readonly Source[];
}

export interface FirewallRulesProps {
  readonly name: string;
  /** The network's project: rules of a shared VPC are the host project's. */
  readonly project: string;
  readonly network: string;
  /** The bootstrap machine's own network tag. No other machine has it. */
  readonly targetTag: string;
  readonly ingress: readonly Ingress[];
}

/** The bootstrap machine's own firewall rules: one for each port and source. */
export class FirewallRules extends Construct {
  /** By the ingress that they are for. */
  readonly ruleIds: Readonly<Record<string, readonly string[]>>;

  constructor(scope: Construct, id: string, props: FirewallRulesProps) {
    super(scope, id);
    const { ingress } = props;
    this.ruleIds = Object.fromEntries(ingress.map((one) => [one.id, this.#make(one, props)]));
  }

  #make({ id, description, port, sources }: Ingress, props: FirewallRulesProps): string[] {
    const { name, project, network, targetTag } = props;
    return sources.map((source, index) => {
      const ruleId = sources.length === 1 ? id : `${id}-${index}`;
      return new ComputeFirewall(this, ruleId, {
        name: `${name}-${ruleId}`,
        description,
        project,
        network: `projects/${project}/global/networks/${network}`,
        direction: "INGRESS",
        allow: [{ protocol: "tcp", ports: [String(port)] }],
        ...("tag" in source ? { sourceTags: [source.tag] } : { sourceRanges: [source.network] }),
        targetTags: [targetTag],
      }).id;
    });
  }
}
