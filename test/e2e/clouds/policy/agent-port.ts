/**
 * Our own policy for a plan: which sources may connect to 8091, and where. checkov has none for that port.
 */

/** What `terraform show -json` says of a plan, as far as it is read here. */
export interface Plan {
  planned_values: { root_module: { resources: Planned[] } };
  configuration: { root_module: { resources: { address: string; expressions: object }[] } };
}

export interface Planned {
  address: string;
  type: string;
  values: Record<string, unknown>;
}

/** Traffic that a rule allows, in the same form for every cloud. */
interface AllowedTraffic {
  readonly protocol: string;
  /** Single ports and ranges, like "8091" or "8000-9000". */
  readonly ports: readonly string[];
  readonly sources: readonly string[];
}

const texts = (...values: unknown[]) =>
  values
    .flat()
    .filter((value) => value !== null && value !== undefined)
    .map(String);

/** How each cloud says that a port is open. */
const allowedTraffic: Record<string, (values: Planned["values"]) => AllowedTraffic[]> = {
  aws_vpc_security_group_ingress_rule: ({ ip_protocol, from_port, to_port, ...rest }) => [
    {
      protocol: String(ip_protocol),
      // For all protocols there are no ports, or -1.
      ports: ip_protocol === "-1" ? ["*"] : [[...new Set(texts(from_port, to_port))].join("-")],
      sources: texts(rest.referenced_security_group_id, rest.cidr_ipv4, rest.cidr_ipv6, rest.prefix_list_id),
    },
  ],
  azurerm_network_security_rule: ({ direction, access, protocol, ...rest }) =>
    direction === "Inbound" && access === "Allow"
      ? [
          {
            protocol: String(protocol).toLowerCase(),
            ports: texts(rest.destination_port_range, rest.destination_port_ranges),
            sources: texts(
              ...[rest.source_address_prefix, rest.source_address_prefixes],
              rest.source_application_security_group_ids,
            ),
          },
        ]
      : [],
  google_compute_firewall: ({ direction, allow, ...rest }) =>
    direction === "INGRESS"
      ? (allow as { protocol: string; ports?: string[] }[]).map(({ protocol, ports = [] }) => ({
          protocol,
          // No ports means all ports.
          ports: ports.length === 0 ? ["*"] : ports,
          sources: texts(rest.source_tags, rest.source_ranges, rest.source_service_accounts),
        }))
      : [],
};

/** Other things that could open a port. The stacks have none of them, so nobody looks into them. */
const notLookedInto =
  /^(aws_security_group_rule|aws_default_security_group|aws_network_acl.*|azurerm_network_security_group|google_compute_(region_)?(network_)?firewall_policy.*)$/;

const world = /^(\*|any|internet|0\.0\.0\.0(\/\d+)?|.*\/0)$/i;

const covers = (ports: string) => {
  const [from = "", to = from] = ports.split("-");
  return ports === "*" || (Number(from) <= 8091 && 8091 <= Number(to));
};

/**
 * What is wrong with the rules for 8091 in this plan. Empty if nothing is.
 * @param sources the sources that may connect, each once
 */
export function agentPortMistakes(plan: Plan, sources: readonly string[]): string[] {
  const { resources } = plan.planned_values.root_module;
  const found = resources.flatMap(({ address, type, values }) =>
    (allowedTraffic[type]?.(values) ?? [])
      .filter(({ ports }) => ports.some(covers))
      .map((traffic) => ({ address, type, traffic })),
  );
  const came = found.flatMap(({ traffic }) => traffic.sources);
  return [
    ...resources
      .filter(({ type, values }) => notLookedInto.test(type) || texts(values.ingress).length > 0)
      .map(({ address }) => `${address} may open ports, and is not looked into`),
    ...found
      .filter(({ traffic }) => traffic.protocol !== "tcp" || traffic.ports.join() !== "8091")
      .map(
        ({ address, traffic }) =>
          `${address} opens ${traffic.protocol} ${traffic.ports.join()}, which is more than tcp 8091`,
      ),
    ...found
      .filter(({ traffic }) => traffic.sources.some((source) => world.test(source)))
      .map(({ address }) => `${address} lets the world in`),
    ...came.filter((source) => !sources.includes(source)).map((source) => `${source} may come, who is no node`),
    ...sources
      .map((source) => ({ source, times: came.filter((one) => one === source).length }))
      .filter(({ times }) => times !== 1)
      .map(({ source, times }) => `${source} may come by ${times} rules instead of one`),
    ...found
      .filter(({ address, type }) => !leadsToMachineOnly(plan, address, type))
      .map(({ address }) => `${address} leads elsewhere than to the machine alone`),
  ];
}

/** Whether a rule's destination is what the bootstrap machine has, and nothing else has. */
function leadsToMachineOnly(plan: Plan, rule: string, type: string): boolean {
  const { resources } = plan.planned_values.root_module;
  const of = (kind: string) => resources.filter((resource) => resource.type === kind);
  const named = (address: string, argument: string) => referencesIn(expressionsOf(plan, address)[argument]);
  if (type === "aws_vpc_security_group_ingress_rule") {
    const [group] = named(rule, "security_group_id").filter((one) =>
      of("aws_security_group").some(({ address }) => address === one),
    );
    const users = resources.filter(
      ({ address, type: user }) =>
        user !== type && group !== undefined && referencesIn(expressionsOf(plan, address)).includes(group),
    );
    return users.map((user) => user.type).join() === "aws_instance";
  }
  if (type === "azurerm_network_security_rule") {
    const { destination_address_prefix: one, destination_address_prefixes: more } = valuesOf(plan, rule);
    const faces = named(rule, "destination_address_prefix").filter((face) =>
      of("azurerm_network_interface").some(({ address }) => address === face),
    );
    const machines = of("azurerm_linux_virtual_machine").filter(({ address }) =>
      named(address, "network_interface_ids").includes(faces[0] ?? "?"),
    );
    return (
      machines.length === 1 && faces.length === 1 && texts(one, more).every((address) => /^[\da-f.:]+$/.test(address))
    );
  }
  const tags = texts(valuesOf(plan, rule).target_tags);
  const instances = of("google_compute_instance");
  const theirs = new Set(of("google_compute_firewall").flatMap(({ values }) => texts(values.source_tags)));
  return (
    tags.length === 1 &&
    instances.length === 1 &&
    tags.every((tag) => texts(instances[0]?.values.tags).includes(tag) && !theirs.has(tag))
  );
}

const valuesOf = (plan: Plan, address: string) =>
  plan.planned_values.root_module.resources.find((one) => one.address === address)?.values ?? {};

const expressionsOf = (plan: Plan, address: string) =>
  (plan.configuration.root_module.resources.find((one) => one.address === address)?.expressions ?? {}) as Record<
    string,
    unknown
  >;

/** The things that an expression, or a whole resource, refers to. */
function referencesIn(expression: unknown): string[] {
  if (typeof expression !== "object" || expression === null) return [];
  const { references, ...rest } = expression as { references?: string[] };
  return [...(references ?? []), ...Object.values(rest).flatMap(referencesIn)];
}
