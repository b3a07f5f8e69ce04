import type { CloudName } from "../../../support/clouds.ts";
import type { Plan, Planned } from "./agent-port.ts";

type Spoil = (rule: Planned, plan: Plan) => void;

const set =
  (values: Planned["values"]): Spoil =>
  (rule) => {
    Object.assign(rule.values, values);
  };
const twice: Spoil = (rule, plan) => {
  plan.planned_values.root_module.resources.push({ ...rule });
};
const never: Spoil = (rule, plan) => {
  const { root_module } = plan.planned_values;
  root_module.resources = root_module.resources.filter((one) => one !== rule);
};
/** As if it referred to something else. */
const refersTo =
  (argument: string, address: string): Spoil =>
  (rule, plan) => {
    const found = plan.configuration.root_module.resources.find((one) => one.address === rule.address);
    if (found !== undefined) found.expressions = { ...found.expressions, [argument]: { references: [address] } };
  };
const another =
  (type: string): Spoil =>
  (_, plan) => {
    plan.planned_values.root_module.resources.push({ address: `${type}.more`, type, values: {} });
  };

interface Spoiling {
  /** The type of the rules. */
  readonly type: string;
  /** What is done to the first rule, and the sentence that must come. */
  readonly ways: readonly (readonly [said: string, spoil: Spoil])[];
}

/** Plans that our rules must refuse: what could go wrong with 8091. */
export const spoilings: Record<CloudName, Spoiling> = {
  aws: {
    type: "aws_vpc_security_group_ingress_rule",
    ways: [
      ["lets the world in", set({ referenced_security_group_id: null, cidr_ipv4: "0.0.0.0/0" })],
      ["lets the world in", set({ referenced_security_group_id: null, cidr_ipv6: "::/0" })],
      ["who is no node", set({ referenced_security_group_id: "sg-another" })],
      ["more than tcp 8091", set({ to_port: 8092 })],
      ["more than tcp 8091", set({ ip_protocol: "-1", from_port: -1, to_port: -1 })],
      ["by 2 rules", twice],
      ["by 0 rules", never],
      ["leads elsewhere", refersTo("security_group_id", "data.aws_security_group.masters")],
      ["not looked into", another("aws_security_group_rule")],
    ],
  },
  azure: {
    type: "azurerm_network_security_rule",
    ways: [
      ["lets the world in", set({ source_address_prefix: "*" })],
      ["lets the world in", set({ source_address_prefix: "Internet" })],
      ["lets the world in", set({ source_address_prefix: null, source_address_prefixes: ["::/0"] })],
      ["who is no node", set({ source_address_prefix: "10.0.0.0/16" })],
      ["more than tcp 8091", set({ destination_port_range: "8000-9000" })],
      ["more than tcp 8091", set({ protocol: "*" })],
      ["by 2 rules", twice],
      ["by 0 rules", never],
      ["leads elsewhere", set({ destination_address_prefix: "*" })],
      ["leads elsewhere", refersTo("destination_address_prefix", "azurerm_lb.api")],
      ["not looked into", another("azurerm_network_security_group")],
    ],
  },
  google: {
    type: "google_compute_firewall",
    ways: [
      ["lets the world in", set({ source_ranges: ["0.0.0.0/0"] })],
      ["who is no node", set({ source_tags: ["another"] })],
      ["more than tcp 8091", set({ allow: [{ protocol: "tcp", ports: ["8091", "8092"] }] })],
      ["more than tcp 8091", set({ allow: [{ protocol: "tcp", ports: [] }] })],
      ["by 2 rules", twice],
      ["by 0 rules", never],
      ["leads elsewhere", set({ target_tags: [] })],
      ["leads elsewhere", set({ target_tags: ["another"] })],
      ["not looked into", another("google_compute_network_firewall_policy_rule")],
    ],
  },
};
