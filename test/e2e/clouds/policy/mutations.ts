import type { CloudName } from "../../../support/clouds.ts";
import type { Plan, Planned } from "./agent-port.ts";

type Mutate = (rule: Planned, plan: Plan) => void;

const set =
  (values: Planned["values"]): Mutate =>
  (rule) => {
    Object.assign(rule.values, values);
  };
const twice: Mutate = (rule, plan) => {
  plan.planned_values.root_module.resources.push({ ...rule });
};
const never: Mutate = (rule, plan) => {
  const { root_module } = plan.planned_values;
  root_module.resources = root_module.resources.filter((one) => one !== rule);
};
/** Makes an argument refer to something else. */
const refersTo =
  (argument: string, address: string): Mutate =>
  (rule, plan) => {
    const found = plan.configuration.root_module.resources.find((one) => one.address === rule.address);
    if (found !== undefined) found.expressions = { ...found.expressions, [argument]: { references: [address] } };
  };
const another =
  (type: string): Mutate =>
  (_, plan) => {
    plan.planned_values.root_module.resources.push({ address: `${type}.more`, type, values: {} });
  };

interface Mutations {
  /** The type of the rules. */
  readonly type: string;
  /** Each mutation of the first rule, after the words that the check must answer with. */
  readonly cases: readonly (readonly [said: string, mutate: Mutate])[];
}

/** Plans that the policy must refuse: each has one error in the rules for port 8091. */
export const mutations: Record<CloudName, Mutations> = {
  aws: {
    type: "aws_vpc_security_group_ingress_rule",
    cases: [
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
    cases: [
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
    cases: [
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
