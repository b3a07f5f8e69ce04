import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Block, StackJson } from "./stacks.ts";

/** What a rule of any cloud says, in one form. */
interface Rule {
  readonly address: string;
  readonly port: string;
  readonly sources: readonly string[];
  /** The bootstrap machine's own group, tag or address. */
  readonly destination: string;
}

const list = (value: unknown): string[] =>
  (Array.isArray(value) ? value : value === undefined ? [] : [value]).map(String);
const first = (value: unknown): Block => (Array.isArray(value) ? (value[0] as Block) : (value as Block));

/** How each cloud's rule is read. */
const rules: Record<string, (rule: Block) => Omit<Rule, "address">> = {
  aws_vpc_security_group_ingress_rule: (rule) => ({
    port:
      rule.from_port === rule.to_port ? String(rule.from_port) : `${String(rule.from_port)}-${String(rule.to_port)}`,
    sources: [rule.referenced_security_group_id, rule.cidr_ipv4, rule.cidr_ipv6].flatMap(list),
    destination: String(rule.security_group_id),
  }),
  azurerm_network_security_rule: (rule) => ({
    port: list(rule.destination_port_range ?? rule.destination_port_ranges).join(),
    sources: [rule.source_address_prefix, rule.source_address_prefixes].flatMap(list),
    destination: [rule.destination_address_prefix, rule.destination_address_prefixes].flatMap(list).join(),
  }),
  google_compute_firewall: (rule) => ({
    port: list(first(rule.allow).ports).join(),
    sources: [rule.source_tags, rule.source_ranges, rule.source_service_accounts].flatMap(list),
    destination: list(rule.target_tags).join(),
  }),
};

/** Types that can carry the cluster's tag, with the key that it is under. */
const tagged: Record<string, "tags" | "labels"> = {
  aws_iam_instance_profile: "tags",
  aws_iam_role: "tags",
  aws_instance: "tags",
  aws_s3_bucket: "tags",
  aws_s3_object: "tags",
  aws_security_group: "tags",
  aws_vpc_security_group_ingress_rule: "tags",
  azurerm_linux_virtual_machine: "tags",
  azurerm_network_interface: "tags",
  azurerm_public_ip: "tags",
  azurerm_storage_account: "tags",
  azurerm_user_assigned_identity: "tags",
  google_compute_instance: "labels",
  google_storage_bucket: "labels",
};

/** Types that cannot: parts of others, memberships, permissions. Nothing else is ever made. */
const untagged = [
  "aws_iam_role_policy",
  "aws_lb_target_group_attachment",
  "aws_s3_bucket_ownership_controls",
  "aws_s3_bucket_policy",
  "aws_s3_bucket_public_access_block",
  "aws_s3_bucket_server_side_encryption_configuration",
  "azurerm_network_interface_backend_address_pool_association",
  "azurerm_network_security_rule",
  "azurerm_role_assignment",
  "azurerm_storage_blob",
  "azurerm_storage_container",
  "google_compute_firewall",
  "google_compute_instance_group",
  "google_compute_instance_group_membership",
  "google_service_account",
  "google_storage_bucket_iam_member",
  "google_storage_bucket_object",
  "terraform_data",
];

interface Resource {
  readonly type: string;
  readonly address: string;
  readonly attributes: Block;
}

export function resourcesOf(stack: StackJson): Resource[] {
  return Object.entries(stack.resource).flatMap(([type, byId]) =>
    Object.entries(byId).map(([id, attributes]) => ({ type, address: `${type}.${id}`, attributes })),
  );
}

function rulesOf(stack: StackJson): Rule[] {
  return resourcesOf(stack).flatMap(({ type, address, attributes }) => {
    const read = rules[type];
    return read === undefined ? [] : [{ address, ...read(attributes) }];
  });
}

/** Every text in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** What must hold for every stack, whatever the config; each gives what violates it. */
export const invariants = {
  "the tunnel's port is open to each source once": (stack: StackJson, expected: Expected) => {
    const sources = rulesOf(stack)
      .filter(({ port }) => port === expected.tunnelPort)
      .flatMap((rule) => rule.sources);
    return JSON.stringify([...sources].sort()) === JSON.stringify([...expected.sources].sort())
      ? []
      : [`open to ${sources.join() || "nobody"}, expected ${expected.sources.join() || "nobody"}`];
  },

  "a rule for the tunnel's port has one source": (stack: StackJson, { tunnelPort }: Expected) =>
    rulesOf(stack)
      .filter(({ port, sources }) => port === tunnelPort && sources.length !== 1)
      .map(({ address, sources }) => `${address} has ${sources.length}`),

  "the tunnel's port is never open to anywhere": (stack: StackJson, { tunnelPort }: Expected) =>
    rulesOf(stack)
      .filter(
        ({ port, sources }) =>
          port.includes(tunnelPort) &&
          (sources.length === 0 ||
            sources.some((source) => /^(\*|any|internet|0\.0\.0\.0.*|::.*|.*\/0)$/i.test(source))),
      )
      .map(({ address }) => address),

  "every rule opens one port of the bootstrap machine alone": (stack: StackJson, expected: Expected) =>
    rulesOf(stack)
      .filter(
        ({ port, destination }) =>
          !["22", "19531", expected.tunnelPort].includes(port) || !expected.destination.test(destination),
      )
      .map(({ address, port, destination }) => `${address}: ${port} of ${destination}`),

  "everything carries the cluster's tag and the user's": (stack: StackJson, expected: Expected) =>
    resourcesOf(stack).flatMap(({ type, address, attributes }) => {
      const key = tagged[type];
      if (key === undefined) return untagged.includes(type) ? [] : [`${address} is of a type that is not known here`];
      const found = (attributes[key] ?? {}) as Record<string, string>;
      // S3 objects take ten tags at most.
      const wanted = { ...expected.clusterTag, ...(type === "aws_s3_object" ? {} : expected.tags) };
      return Object.entries(wanted)
        .filter(([name, value]) => found[name] !== value)
        .map(([name]) => `${address} lacks ${name}`);
    }),

  "every reference leads to something": (stack: StackJson) => {
    const known = new Set([
      ...resourcesOf(stack).map(({ address }) => address),
      ...Object.entries(stack.data ?? {}).flatMap(([type, byId]) =>
        Object.keys(byId).map((id) => `data.${type}.${id}`),
      ),
    ]);
    return resourcesOf(stack)
      .flatMap(({ attributes }) => [
        ...textsIn(attributes).flatMap(referencesIn),
        ...list(attributes.depends_on),
        ...list((attributes.lifecycle as Block | undefined)?.replace_triggered_by).flatMap((address) =>
          referencesIn(`\${${address}}`),
        ),
      ])
      .concat(textsIn(stack.output).flatMap(referencesIn), textsIn(stack.check).flatMap(referencesIn))
      .filter((reference) => !known.has(reference));
  },

  "destroying removes it": (stack: StackJson) =>
    resourcesOf(stack).flatMap(({ type, address, attributes }) => {
      const text = JSON.stringify(attributes);
      const kept =
        /"(prevent_destroy|skip_destroy|deletion_protection|disable_api_termination)":true|"deletion_policy":"ABANDON"/;
      const bucket = ["aws_s3_bucket", "google_storage_bucket"].includes(type) && attributes.force_destroy !== true;
      return [
        ...(kept.test(text) ? [`${address} is kept`] : []),
        ...(bucket ? [`${address} is kept if not empty`] : []),
      ];
    }),

  "the payload comes by its path": (stack: StackJson) =>
    resourcesOf(stack)
      .filter(({ type }) => ["aws_s3_object", "azurerm_storage_blob", "google_storage_bucket_object"].includes(type))
      .filter(
        ({ attributes }) =>
          attributes.source !== "payload.ign" ||
          Object.keys(attributes).some((key) => /content($|_base64)|source_content/.test(key)),
      )
      .map(({ address }) => address),

  "providers have a range of versions, and the state a place": (stack: StackJson) => {
    const { required_providers: providers = {}, backend } = stack.terraform as {
      required_providers?: Record<string, { version: string }>;
      backend?: object;
    };
    return [
      ...Object.entries(providers)
        .filter(([, { version }]) => !/^>= .*, < /.test(version))
        .map(([name]) => name),
      ...(backend === undefined ? ["no backend"] : []),
    ];
  },
} satisfies Record<string, (stack: StackJson, expected: Expected) => string[]>;

/** What the config makes one expect. */
export interface Expected {
  /** As in a rule. */
  readonly tunnelPort: string;
  /** Of the rules for the tunnel's port. */
  readonly sources: readonly string[];
  /** The bootstrap machine's own group, tag or address. */
  readonly destination: RegExp;
  readonly clusterTag: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

/** Addresses in an expression: all that looks like type.name or data.type.name inside ${}. */
function referencesIn(text: string): string[] {
  return [...text.matchAll(/\$\{((?:[^{}]|\{[^{}]*\})*)\}/g)].flatMap(([, expression = ""]) =>
    [
      ...expression.matchAll(/(?<![\w."-])((?:data\.)?(?:aws|azurerm|google|terraform)_[a-z0-9_]+\.[A-Za-z][\w-]*)/g),
    ].map(([, address = ""]) => address),
  );
}

/** Every file below a folder, by its path from there. */
export function filesIn(folder: string, prefix = ""): string[] {
  return readdirSync(join(folder, prefix), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesIn(folder, join(prefix, entry.name)) : [join(prefix, entry.name)],
  );
}

/** Files in the output folder that hold this secret, plain or encoded. Only the payload may, and for its owner alone. */
export function leaksOf(outdir: string, secret: string): string[] {
  const spellings = [0, 1, 2].map((offset) =>
    // Base64 of a text looks different at each of three places in a longer one; the ends depend on the neighbours.
    Buffer.from("x".repeat(offset) + secret)
      .toString("base64")
      .slice(offset === 0 ? 0 : 4, -4),
  );
  spellings.push(secret, Buffer.from(secret).toString("hex"), encodeURIComponent(secret));
  return filesIn(outdir).flatMap((file) => {
    const mode = lstatSync(join(outdir, file)).mode & 0o777;
    if (/^stacks\/[^/]+\/payload\.ign$/.test(file))
      return mode === 0o600 ? [] : [`${file} has mode ${mode.toString(8)}`];
    const text = readFileSync(join(outdir, file), "utf8");
    return spellings.some((spelling) => text.includes(spelling)) ? [file] : [];
  });
}

/** Files in the output folder that name a path of this machine. */
export function absolutePathsIn(outdir: string): string[] {
  const paths = [outdir, process.cwd(), homedir(), tmpdir()].filter((path) => path.length > 1);
  return filesIn(outdir)
    .filter((file) => !file.endsWith("payload.ign"))
    .filter((file) => {
      const text = readFileSync(join(outdir, file), "utf8");
      // After dots it is a path from somewhere else.
      return paths.some((path) => text.replaceAll(`..${path}`, "").includes(path));
    });
}
