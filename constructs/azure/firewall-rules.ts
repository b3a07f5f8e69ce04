import { DataAzurermNetworkSecurityGroup } from "@cdktf/provider-azurerm/lib/data-azurerm-network-security-group/index.js";
import { NetworkSecurityRule } from "@cdktf/provider-azurerm/lib/network-security-rule/index.js";
import { Construct } from "constructs";
import {
  checkPortOf,
  createRules,
  type Ingress,
  type IngressRule,
  type NetworkSource,
  type RuleIds,
  type RuleSpec,
} from "../shared/ingress.ts";
import { addressOf } from "../shared/terraform-address.ts";
import { rulePlaces } from "./config.ts";
import type { NetworkInterface } from "./network-interface.ts";

export type Source = NetworkSource;

export interface FirewallRulesProps {
  readonly name: string;
  readonly ingress: readonly Ingress<Source>[];
  readonly networkSecurityGroup: string;
  /** The network security group's. */
  readonly resourceGroupName: string;
  /** The lowest priority that a rule gets. */
  readonly firstPriority: number;
  /** The bootstrap machine's. */
  readonly networkInterface: NetworkInterface;
  /** The machine's. */
  readonly spec: RuleSpec;
}

/** Rules in the cluster's network security group that apply only to the bootstrap machine, one for each port and source. */
export class FirewallRules extends Construct {
  readonly ruleIds: RuleIds;

  constructor(scope: Construct, id: string, props: FirewallRulesProps) {
    super(scope, id);
    const { name, ingress, networkSecurityGroup, resourceGroupName, networkInterface, spec } = props;
    const group = new DataAzurermNetworkSecurityGroup(this, "group", { name: networkSecurityGroup, resourceGroupName });
    const priorityIsFree = priorityCheck(addressOf(group), props);
    this.ruleIds = createRules(ingress, (ingressRule) => {
      const { ingress: of, source } = ingressRule;
      const priority = priorityOf(ingressRule, props);
      const rule = new NetworkSecurityRule(this, ruleIdOf(ingressRule), {
        name: `${name}-${ruleIdOf(ingressRule)}`,
        resourceGroupName,
        networkSecurityGroupName: networkSecurityGroup,
        description: of.description,
        direction: "Inbound",
        access: "Allow",
        priority,
        protocol: "Tcp",
        sourceAddressPrefix: source.network,
        sourcePortRange: "*",
        destinationAddressPrefix: networkInterface.addressFor(source.network),
        destinationPortRange: String(of.port),
        lifecycle: {
          ...(of.keepsPort && spec.lifecycle(["destination_port_range"])),
          precondition: [priorityIsFree(priority)],
        },
      });
      if (of.keepsPort) checkPortOf(spec, ingressRule, `${addressOf(rule)}.destination_port_range == "${of.port}"`);
      return rule.id;
    });
  }
}

type Rule = Pick<IngressRule<Source>, "id" | "ingress" | "index">;

/** Agents' rules always have an index, so that a rule keeps its name when another network is added. */
const ruleIdOf = ({ id, ingress, index }: Rule) => (ingress.id === "konnectivity" ? `${ingress.id}-${index}` : id);

/** A rule keeps its priority when others are added or removed: the new priority could be taken. */
function priorityOf({ ingress, index }: Rule, { firstPriority }: FirewallRulesProps): number {
  const places = { konnectivity: rulePlaces.agents, ssh: rulePlaces.ssh, journal: rulePlaces.journal };
  return firstPriority + places[ingress.id] + index;
}

/** Creates a precondition for each priority: no other rule of the group has it. */
function priorityCheck(group: string, props: FirewallRulesProps) {
  const { name, ingress, networkSecurityGroup, firstPriority } = props;
  const rules = ingress.flatMap((one) => one.sources.map((_, index) => ({ id: one.id, ingress: one, index })));
  const ours = JSON.stringify(rules.map((rule) => `${name}-${ruleIdOf(rule)}`));
  const last = Math.max(...rules.map((rule) => priorityOf(rule, props)));
  return (priority: number) => {
    const others = `[for r in ${group}.security_rule : r.name if r.direction == "Inbound" && r.priority == ${priority} && !contains(${ours}, r.name)]`;
    return {
      condition: `\${length(${others}) == 0}`,
      errorMessage: `Priority ${priority} of ${networkSecurityGroup} is taken by \${join(", ", ${others})}: give another azure.firewallPriority; the rules are between ${firstPriority} and ${last}.`,
    };
  };
}
