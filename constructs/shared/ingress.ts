import { defaultAgentPort } from "../../src/core/konnectivity/agent-port.ts";
import { machinePorts } from "./machine-ports.ts";
import type { MachineSpec } from "./machine-spec.ts";

/** A network in CIDR notation. */
export interface NetworkSource {
  readonly network: string;
}

/** Traffic to one port of the bootstrap machine. */
export interface Ingress<Source> {
  readonly id: "konnectivity" | "ssh" | "journal";
  readonly description: string;
  readonly port: number;
  readonly sources: readonly Source[];
  /**
   * Whether a rule keeps its port as long as the machine exists. The machine keeps the payload that it booted with, so a
   * rule for a new port would shut its agents out.
   */
  readonly keepsPort: boolean;
}

export interface IngressProps<Node> {
  /** How the cloud's firewall identifies the nodes, whose agents dial the tunnel's port. */
  readonly nodes: readonly Node[];
  /** The tunnel's port, to which the nodes may connect. @default - they may not */
  readonly tunnelPort?: number;
  /** @default - no rule for ssh */
  readonly allowedBootstrapSshCidr?: string;
  /** @default - no rule for the journal */
  readonly allowedBootstrapJournalCidr?: string;
}

/** What can connect to the bootstrap machine. Ports without a source are left out. */
export function bootstrapIngress<Node>(props: IngressProps<Node>): Ingress<Node | NetworkSource>[] {
  const { nodes, tunnelPort, allowedBootstrapSshCidr, allowedBootstrapJournalCidr } = props;
  const from = (network: string | undefined) => (network === undefined ? [] : [{ network }]);
  const all: Ingress<Node | NetworkSource>[] = [
    {
      id: "konnectivity",
      description: "Konnectivity agents of the nodes",
      port: tunnelPort ?? defaultAgentPort,
      sources: tunnelPort === undefined ? [] : nodes,
      // Rules for the default port stay as 0.1.0 made them.
      keepsPort: tunnelPort !== defaultAgentPort,
    },
    {
      id: "ssh",
      description: "ssh",
      port: machinePorts.ssh,
      sources: from(allowedBootstrapSshCidr),
      keepsPort: false,
    },
    {
      id: "journal",
      description: "Journal gateway",
      port: machinePorts.journal,
      sources: from(allowedBootstrapJournalCidr),
      keepsPort: false,
    },
  ];
  return all.filter(({ sources }) => sources.length > 0);
}

/** One port and one source: what clouds call a rule. */
export interface IngressRule<Source> {
  /** The ingress's ID, with the source's index if there are several. */
  readonly id: string;
  readonly ingress: Ingress<Source>;
  readonly source: Source;
  readonly index: number;
}

/** What a rule with `keepsPort` gets from the machine's spec, so that it is replaced with the machine. */
export type RuleSpec = Pick<MachineSpec, "lifecycle" | "addDriftCheck">;

/**
 * Makes a plan report that a rule has another port than the config.
 * @param condition for a Terraform check: the rule has the config's port
 */
export function checkPortOf<Source>(spec: RuleSpec, { id, ingress }: IngressRule<Source>, condition: string): void {
  spec.addDriftCheck(
    `has_rule_${id.replaceAll("-", "_")}`,
    condition,
    `A rule for the nodes' agents keeps the port that the machine was made with: it is ${ingress.port} in the config now.`,
  );
}

/** IDs of the created rules, by ingress. */
export type RuleIds = Readonly<Partial<Record<Ingress<unknown>["id"], readonly string[]>>>;

/**
 * Creates one rule for each port and source.
 * @param create creates a rule, and returns its ID in the cloud
 */
export function createRules<Source>(
  ingress: readonly Ingress<Source>[],
  create: (rule: IngressRule<Source>) => string,
): RuleIds {
  return Object.fromEntries(
    ingress.map((one) => [
      one.id,
      one.sources.map((source, index) => {
        const id = one.sources.length === 1 ? one.id : `${one.id}-${index}`;
        return create({ id, ingress: one, source, index });
      }),
    ]),
  );
}
