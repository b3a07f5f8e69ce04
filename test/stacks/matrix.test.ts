import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { absolutePathsIn, type Expected, filesIn, invariants, leaksOf, resourcesOf } from "../support/invariants.ts";
import { cases, hasInstallerTunnel, platforms, tags } from "../support/matrix.ts";
import type { IgnitionConfig } from "../../src/core/ignition/config.ts";
import { fileEntry, sampleConfig } from "../../src/core/sample/sample.ts";
import { type Block, changedExample, exampleOf, exampleStack, Project, type StackJson } from "../support/stacks.ts";

/** A secret of the cluster: where it shows, everything else of bootstrap.ign can show too. */
const secret = "the secret that must never show 8f2b41";
const withSecret = (ignition: IgnitionConfig) =>
  JSON.stringify({
    ...ignition,
    storage: { files: [...(ignition.storage?.files ?? []), fileEntry("/opt/openshift/tls/secret.key", secret, 0o600)] },
  });
const bootstrapIgn = withSecret(sampleConfig("4.18"));
const withInstallerTunnel = withSecret(sampleConfig("4.23-gate-on"));

const projects: Project[] = [];
afterAll(() => {
  for (const project of projects) project.remove();
});

function projectWith(platform: string, options: object, rest: object): Project {
  const { files } = exampleOf(platform);
  const project = new Project(changedExample(platform, options, { tags, ...rest }), {
    files: { ...files, "ocp/bootstrap.ign": hasInstallerTunnel(rest) ? withInstallerTunnel : bootstrapIgn },
  });
  projects.push(project);
  return project;
}

const portIn = (rest: object) => String((rest as { tunnel?: { port?: number } }).tunnel?.port ?? 8091);

it.each(cases)("$platform holds every invariant: $name", ({ platform, option, rest, expected: full }) => {
  const project = projectWith(platform, option, rest);
  const stacks = project.synth();
  const open = !("firewall" in rest) && (rest as { tunnel?: unknown }).tunnel !== "off";
  const expected: Expected = { ...full, tunnelPort: portIn(rest), sources: open ? full.sources : [], tags };
  expect(Object.keys(stacks)).toEqual([`${platform}-bootstrap`, `${platform}-teardown`]);
  for (const [name, stack] of Object.entries(stacks))
    for (const [invariant, violations] of Object.entries(invariants)) {
      const sources = name.endsWith("-teardown") ? [] : expected.sources;
      expect(violations(stack, { ...expected, sources }), `${name}: ${invariant}`).toEqual([]);
    }
  if (hasInstallerTunnel(rest))
    expect(readFileSync(join(project.outdir, `stacks/${platform}-bootstrap/payload.ign`), "utf8")).toBe(
      withInstallerTunnel,
    );
  expect(leaksOf(project.outdir, secret), "secrets").toEqual([]);
  expect(absolutePathsIn(project.outdir), "absolute paths").toEqual([]);
});

describe("every invariant can fail", () => {
  const [platform, { expected: full }] = ["aws", platforms.aws] as const;
  const expected: Expected = { ...full, tunnelPort: portIn({}), tags };
  const synthesized = projectWith(platform, {}, {}).synth()["aws-bootstrap"];
  /** A copy of the stack with one thing changed. */
  const broken = (change: (stack: StackJson) => void) => {
    const copy = structuredClone(synthesized ?? expect.fail("no stack"));
    change(copy);
    return copy;
  };
  const firstOf = (stack: StackJson, type: string) =>
    resourcesOf(stack).find((resource) => resource.type === type)?.attributes ?? {};
  const rule = (stack: StackJson) => firstOf(stack, "aws_vpc_security_group_ingress_rule");

  it.each<[keyof typeof invariants, (stack: StackJson) => void]>([
    [
      "the tunnel's port is open to each source once",
      (stack) => (rule(stack).referenced_security_group_id = "sg-00000000000000000"),
    ],
    [
      "the tunnel's port is open to each source once",
      (stack) => delete stack.resource.aws_vpc_security_group_ingress_rule,
    ],
    ["a rule for the tunnel's port has one source", (stack) => (rule(stack).cidr_ipv4 = "10.0.0.0/8")],
    ["the tunnel's port is never open to anywhere", (stack) => (rule(stack).cidr_ipv4 = "0.0.0.0/0")],
    ["the tunnel's port is never open to anywhere", (stack) => (rule(stack).cidr_ipv6 = "::/0")],
    ["the tunnel's port is never open to anywhere", (stack) => delete rule(stack).referenced_security_group_id],
    [
      "every rule opens one port of the bootstrap machine alone",
      (stack) => (rule(stack).security_group_id = "sg-0123456789abcdef0"),
    ],
    ["every rule opens one port of the bootstrap machine alone", (stack) => (rule(stack).to_port = 9000)],
    ["everything carries the cluster's tag and the user's", (stack) => delete firstOf(stack, "aws_s3_bucket").tags],
    [
      "everything carries the cluster's tag and the user's",
      (stack) => (firstOf(stack, "aws_instance").tags = expected.clusterTag),
    ],
    ["everything carries the cluster's tag and the user's", (stack) => (stack.resource.aws_vpc = { x: {} })],
    ["every reference leads to something", (stack) => delete stack.resource.aws_security_group],
    ["every reference leads to something", (stack) => delete stack.resource.aws_s3_object],
    ["every reference leads to something", (stack) => delete stack.data],
    ["every reference leads to something", (stack) => delete stack.resource.terraform_data],
    ["destroying removes it", (stack) => (firstOf(stack, "aws_instance").lifecycle = { prevent_destroy: true })],
    ["destroying removes it", (stack) => (firstOf(stack, "aws_s3_bucket").force_destroy = false)],
    ["the payload comes by its path", (stack) => (firstOf(stack, "aws_s3_object").content = "x")],
    ["the payload comes by its path", (stack) => (firstOf(stack, "aws_s3_object").source = "../payload.ign")],
    ["providers have a range of versions, and the state a place", (stack) => delete stack.terraform.backend],
    [
      "providers have a range of versions, and the state a place",
      (stack) => (stack.terraform.required_providers = { aws: { version: "6.25.0" } }),
    ],
  ])("%s", (name, change) => {
    expect(
      invariants[name](
        broken(() => undefined),
        expected,
      ),
    ).toEqual([]);
    expect(invariants[name](broken(change), expected)).not.toEqual([]);
  });

  it.each<["azure" | "google", keyof typeof invariants, (rule: Block) => void]>([
    ["azure", "the tunnel's port is open to each source once", (rule) => (rule.source_address_prefix = "10.9.0.0/24")],
    [
      "azure",
      "a rule for the tunnel's port has one source",
      (rule) => (rule.source_address_prefixes = ["10.9.0.0/24"]),
    ],
    ["azure", "the tunnel's port is never open to anywhere", (rule) => (rule.source_address_prefix = "*")],
    ["azure", "the tunnel's port is never open to anywhere", (rule) => (rule.source_address_prefixes = ["Internet"])],
    ["azure", "the tunnel's port is never open to anywhere", (rule) => delete rule.source_address_prefix],
    [
      "azure",
      "every rule opens one port of the bootstrap machine alone",
      (rule) => (rule.destination_address_prefix = "*"),
    ],
    [
      "azure",
      "every rule opens one port of the bootstrap machine alone",
      (rule) => (rule.destination_port_range = "8000-9000"),
    ],
    ["google", "the tunnel's port is open to each source once", (rule) => (rule.source_tags = ["others"])],
    ["google", "a rule for the tunnel's port has one source", (rule) => (rule.source_ranges = ["10.9.0.0/24"])],
    ["google", "the tunnel's port is never open to anywhere", (rule) => (rule.source_ranges = ["0.0.0.0/0"])],
    ["google", "the tunnel's port is never open to anywhere", (rule) => delete rule.source_tags],
    ["google", "every rule opens one port of the bootstrap machine alone", (rule) => delete rule.target_tags],
    [
      "google",
      "every rule opens one port of the bootstrap machine alone",
      (rule) => (rule.allow = [{ protocol: "tcp", ports: ["8091", "22"] }]),
    ],
  ])("%s: %s", (cloud, name, change) => {
    const all = exampleStack(cloud, {}, { tags });
    const wanted: Expected = { ...platforms[cloud].expected, tunnelPort: portIn({}), tags };
    expect(invariants[name](all, wanted)).toEqual([]);
    change(firstOf(all, cloud === "azure" ? "azurerm_network_security_rule" : "google_compute_firewall"));
    expect(invariants[name](all, wanted)).not.toEqual([]);
  });

  it("finds a secret or an absolute path in the output", () => {
    const project = projectWith(platform, {}, {});
    project.synth();
    const file = "cdktf.out/stacks/aws-bootstrap/cdk.tf.json";
    const text = readFileSync(join(project.folder, file), "utf8");
    for (const encoded of [
      secret,
      Buffer.from(secret).toString("base64"),
      Buffer.from(`x${secret}y`).toString("base64"),
      Buffer.from(`xx${secret}yy`).toString("base64"),
      bootstrapIgn,
    ]) {
      project.write(file, `${text}${encoded}`);
      expect(leaksOf(project.outdir, secret)).toEqual(["stacks/aws-bootstrap/cdk.tf.json"]);
    }
    project.write(file, `${text}${project.outdir}/x`);
    expect(absolutePathsIn(project.outdir)).toEqual(["stacks/aws-bootstrap/cdk.tf.json"]);
  });

  it("finds a payload that others can read", () => {
    const project = projectWith(platform, {}, {});
    project.synth();
    expect(leaksOf(project.outdir, secret)).toEqual([]);
    project.readable("cdktf.out/stacks/aws-bootstrap/payload.ign");
    expect(leaksOf(project.outdir, secret)).toEqual(["stacks/aws-bootstrap/payload.ign has mode 644"]);
  });
});

describe("all platforms together", () => {
  const merged = Object.assign(
    {},
    ...Object.keys(platforms).map((platform) => changedExample(platform, {}, { tags })),
  ) as object;
  const files = { ...exampleOf("aws").files, "ocp/bootstrap.ign": bootstrapIgn };
  const together = () => {
    const project = new Project(merged, { files });
    projects.push(project);
    project.synth();
    return project;
  };

  it("give the same bytes from two folders", () => {
    const [one, other] = [together(), together()];
    const names = filesIn(one.outdir);
    expect(filesIn(other.outdir)).toEqual(names);
    for (const name of names)
      expect(readFileSync(join(other.outdir, name), "utf8"), name).toBe(readFileSync(join(one.outdir, name), "utf8"));
  });

  it("have the same stacks as each of them alone", () => {
    const project = together();
    for (const platform of Object.keys(platforms)) {
      const alone = projectWith(platform, {}, {});
      alone.synth();
      const file = `stacks/${platform}-bootstrap/cdk.tf.json`;
      expect(readFileSync(join(project.outdir, file), "utf8")).toBe(readFileSync(join(alone.outdir, file), "utf8"));
    }
  });
});
