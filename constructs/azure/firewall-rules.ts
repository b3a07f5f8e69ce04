import { DataAzurermNetworkSecurityGroup } from "@cdktf/provider-azurerm/lib/data-azurerm-network-security-group/index.js";
import { NetworkSecurityRule } from "@cdktf/provider-azurerm/lib/network-security-rule/index.js";
import { Construct } from "constructs";
import { addressOf } from "../shared/terraform-address.ts";

export interface Ingress {
  /** Part of the rule's name. */
  readonly id: string;
  readonly description: string;
  /** Its priority, counted from the first one. A rule keeps its place when others come or go: a move could meet a taken one. */
  readonly place: number;
  readonly port: number;
  readonly source: string;
  /** The bootstrap machine's address of the source's family. */
  readonly destination: string;
}

export interface FirewallRulesProps {
  readonly name: string;
  readonly networkSecurityGroup: string;
  readonly resourceGroupName: string;
  /** The first one that a rule may have. */
  readonly priority: number;
  readonly ingress: readonly Ingress[];
}

/** Rules in the cluster's network security group, one for each port and source, for the bootstrap machine's address only. */
export class FirewallRules extends Construct {
  /** Of the rules for this port. */
  readonly idsFor: (port: number) => string[];

  constructor(scope: Construct, id: string, props: FirewallRulesProps) {
    super(scope, id);
    const { name, networkSecurityGroup, resourceGroupName, priority, ingress } = props;
    const group = new DataAzurermNetworkSecurityGroup(this, "group", { name: networkSecurityGroup, resourceGroupName });
    const nameOf = (rule: Ingress) => `${name}-${rule.id}`;
    const ours = JSON.stringify(ingress.map(nameOf));
    const last = priority + Math.max(...ingress.map(({ place }) => place));
    const rules = ingress.map((rule) => {
      const own = priority + rule.place;
      const others = `[for r in ${addressOf(group)}.security_rule : r.name if r.direction == "Inbound" && r.priority == ${own} && !contains(${ours}, r.name)]`;
      const made = new NetworkSecurityRule(this, rule.id, {
        name: nameOf(rule),
        resourceGroupName,
        networkSecurityGroupName: networkSecurityGroup,
        description: rule.description,
        direction: "Inbound",
        access: "Allow",
        priority: own,
        protocol: "Tcp",
        sourceAddressPrefix: rule.source,
        sourcePortRange: "*",
        destinationAddressPrefix: rule.destination,
        destinationPortRange: String(rule.port),
        lifecycle: {
          precondition: [
            {
              condition: `\${length(${others}) == 0}`,
              errorMessage: `Priority ${own} of ${networkSecurityGroup} is taken by \${join(", ", ${others})}: give another azure.firewallPriority; the rules are between ${priority} and ${last}.`,
            },
          ],
        },
      });
      return { port: rule.port, id: made.id };
    });
    this.idsFor = (port) => rules.filter((rule) => rule.port === port).map(({ id: ruleId }) => ruleId);
  }
}
