import { machinePorts } from "./machine-ports.ts";

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
}

export interface IngressProps<Node> {
  /** How the cloud's firewall identifies the nodes, whose agents dial the tunnel's port. */
  readonly nodes: readonly Node[];
  /** Whether the nodes may connect to the tunnel's port. */
  readonly opensTunnelPort: boolean;
  /** @default - nobody may use ssh */
  readonly allowedBootstrapSshCidr?: string;
  /** @default - nobody may read the journal */
  readonly allowedBootstrapJournalCidr?: string;
}

/** What may connect to the bootstrap machine, without ports that are open to nobody. */
export function bootstrapIngress<Node>(props: IngressProps<Node>): Ingress<Node | NetworkSource>[] {
  const { nodes, opensTunnelPort, allowedBootstrapSshCidr, allowedBootstrapJournalCidr } = props;
  const from = (network: string | undefined) => (network === undefined ? [] : [{ network }]);
  const all: Ingress<Node | NetworkSource>[] = [
    {
      id: "konnectivity",
      description: "Konnectivity agents of the nodes",
      port: machinePorts.agent,
      sources: opensTunnelPort ? nodes : [],
    },
    { id: "ssh", description: "ssh", port: machinePorts.ssh, sources: from(allowedBootstrapSshCidr) },
    {
      id: "journal",
      description: "Journal gateway",
      port: machinePorts.journal,
      sources: from(allowedBootstrapJournalCidr),
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
