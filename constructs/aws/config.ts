import { z } from "zod";
import { firewallCommands } from "./firewall-commands.ts";
import { network, pattern, integer, boolean } from "../../src/core/schema/fields.ts";
import { known, metadataPart } from "../../src/config/metadata.ts";
import {
  accessOptions,
  definePlatform,
  imageFor,
  invalid,
  type PlatformContext,
  refuse,
  required,
  warnOfWorld,
} from "../../src/config/platform.ts";
import type { Architecture, Stream } from "../../src/config/stream.ts";

const id = (prefix: string) =>
  pattern(`an id like ${prefix}-0123456789abcdef0`, new RegExp(`^${prefix}-[0-9a-f]{8,17}$`));
const ami = () => id("ami");
const arn = (service: string, example: string, resource: string, account = "\\d{12}") =>
  pattern(
    `an ARN like arn:aws:${service}:${example}`,
    new RegExp(`^arn:aws(-[a-z-]+)?:${service}:[a-z0-9-]*:${account}:${resource}$`),
  );
/** Not an alias: IAM does not let anybody decrypt by one. */
const kmsKey = () => arn("kms", "eu-central-1:123456789012:key/…", "key/[\\w-]+");
const awsRegion = () => pattern("a region like eu-central-1", /^[a-z]{2,4}(-[a-z]+)+-\d$/);
const targetGroup = () =>
  arn(
    "elasticloadbalancing",
    "eu-central-1:123456789012:targetgroup/name/0123456789abcdef",
    "targetgroup/[\\w-]+/[0-9a-f]+",
  );

/**
 * Seconds. AWS promises no figure and speaks of several seconds; 5 to 10 were seen when the provider learned to retry. Its
 * retries end when EC2 accepts the profile, which is before the machine can use the role: Ignition then asks S3 without
 * credentials, is refused, and never asks again. Three times the longest time seen costs little beside an installation.
 */
const identityWait = 30;

/** Names are those of the UPI template `04_cluster_bootstrap.yaml`, where it has one. */
const schema = z.strictObject(
  {
    region: awsRegion().optional().describe("Where the cluster is. Default: what metadata.json says."),
    vpcId: id("vpc").describe("The cluster's VPC."),
    publicSubnet: id("subnet")
      .optional()
      .describe("A subnet with a route to the internet gateway; the machine then needs `publicIp: true`."),
    privateSubnet: id("subnet")
      .optional()
      .describe("A subnet whose machines reach the registries in another way. Give this one or publicSubnet."),
    publicIp: boolean().default(false).describe("Whether the machine gets a public address."),
    masterSecurityGroupId: id("sg").describe("The control plane's security group; the machine joins it."),
    workerSecurityGroupId: id("sg").describe("The workers' security group: their agents dial the tunnel's port."),
    bootstrapSecurityGroupIds: z
      .array(id("sg"), { error: "a list of at most 10 security groups" })
      .max(10, { error: "a list of at most 10 security groups" })
      .default([])
      .describe(
        "More security groups for the machine: with `firewall: external` the one that opens the tunnel's port.",
      ),
    autoRegisterELB: boolean().default(true).describe("Whether the machine joins the API's target groups."),
    externalApiTargetGroupArn: targetGroup()
      .optional()
      .describe("Target group of the API, 6443, for clients outside. Default: none, the API is private."),
    internalApiTargetGroupArn: targetGroup().optional().describe("Target group of the API, 6443, for the nodes."),
    internalServiceTargetGroupArn: targetGroup()
      .optional()
      .describe("Target group of the machine config server, 22623."),
    rhcosAmi: ami().optional().describe("The machine's image. Default: the stream's, by region."),
    bootstrapInstanceType: pattern("an instance type like m6i.xlarge", /^[a-z][a-z0-9-]*\.[a-z0-9-]+$/)
      .optional()
      .describe("The machine's size. Default: m6i.xlarge, on aarch64 m6g.xlarge."),
    rootVolumeSizeGiB: integer(100, 16384).default(120).describe("The machine's disk, gp3 and encrypted."),
    rootVolumeKmsKeyArn: kmsKey().optional().describe("Encrypts the root volume. Default: the account's default key."),
    payloadKmsKeyArn: kmsKey().optional().describe("Encrypts the payload. Default: S3's own key."),
    ...accessOptions(network),
    bootstrapInstanceProfile: pattern("the name of an instance profile", /^[\w+=,.@-]{1,128}$/)
      .optional()
      .describe(
        "Your own instance profile, which can read the payload. Default: a new one that can read that object and nothing else.",
      ),
    permissionsBoundaryArn: arn("iam", ":123456789012:policy/…", "policy/[\\w+=,.@/-]+", "(?:\\d{12}|aws)")
      .optional()
      .describe("Permissions boundary of the role that is made. Default: none."),
    identityWaitSeconds: integer(0, 900)
      .optional()
      .describe(
        `How long the deploy waits for the new role to spread before the machine boots; Ignition gives up on the first refusal. Default: ${identityWait}.`,
      ),
  },
  { error: "an object with vpcId, …" },
);
export type AwsConfig = z.output<typeof schema>;

const metadata = metadataPart({ region: known(awsRegion()) });
type Context = PlatformContext<z.output<typeof metadata>>;

/** What the AWS stack is made from: everything in the config, with the defaults filled in. */
export interface AwsInputs extends Omit<
  AwsConfig,
  "region" | "publicSubnet" | "privateSubnet" | "rhcosAmi" | "bootstrapInstanceType"
> {
  readonly region: string;
  readonly partition: string;
  readonly subnet: string;
  readonly rhcosAmi: string;
  readonly bootstrapInstanceType: string;
  readonly identityWaitSeconds: number;
}

function resolve(config: AwsConfig, context: Context): AwsInputs {
  const { publicSubnet, privateSubnet, ...rest } = config;
  const region = required(
    { given: config.region, ofMetadata: context.metadata?.region },
    context,
    "aws.region",
    "the cluster's region",
  );
  checkSubnet(config, context);
  checkTargetGroups(config, context);
  checkRegions(config, region, context);
  checkTags(context);
  const bootstrapInstanceType =
    config.bootstrapInstanceType ?? (context.architecture === "aarch64" ? "m6g.xlarge" : "m6i.xlarge");
  checkArchitecture(bootstrapInstanceType, context);
  if (config.permissionsBoundaryArn !== undefined && config.bootstrapInstanceProfile !== undefined)
    refuse(
      context,
      ["aws.permissionsBoundaryArn", "aws.bootstrapInstanceProfile"],
      "no role is made for a given profile; leave the boundary out",
    );
  if (config.identityWaitSeconds !== undefined && config.bootstrapInstanceProfile !== undefined)
    refuse(
      context,
      ["aws.identityWaitSeconds", "aws.bootstrapInstanceProfile"],
      "a given profile has its permission already; leave the wait out",
    );
  warnOfWorld("aws", config, context);
  return {
    ...rest,
    region,
    partition: partitionOf(region),
    subnet: publicSubnet ?? privateSubnet ?? "",
    rhcosAmi: imageFor(
      config.rhcosAmi,
      context,
      "aws.rhcosAmi",
      (stream) => (region === "" ? "" : amiIn(stream, context.architecture, region)),
      "ami-00000000",
    ),
    bootstrapInstanceType,
    identityWaitSeconds: config.identityWaitSeconds ?? identityWait,
  };
}

/** The AMI of a region. */
export function amiIn(stream: Stream, architecture: Architecture, region: string): string {
  const { data } = ami().safeParse(stream.get(architecture, "images", "aws", "regions", region, "image"));
  if (data !== undefined) return data;
  throw stream.lacks(`an AWS image for ${architecture} in ${region}`, "aws.rhcosAmi");
}

function checkSubnet({ publicSubnet, privateSubnet, publicIp }: AwsConfig, context: PlatformContext): void {
  if (publicSubnet === undefined && privateSubnet === undefined)
    invalid(
      context,
      "aws.privateSubnet",
      "missing",
      "a subnet for the machine (or aws.publicSubnet with `publicIp: true`)",
    );
  else if (publicSubnet !== undefined && privateSubnet !== undefined)
    refuse(context, ["aws.publicSubnet", "aws.privateSubnet"], "the machine is in one subnet; give one of them");
  else if (publicSubnet !== undefined && !publicIp)
    refuse(
      context,
      { "aws.publicSubnet": undefined, "aws.publicIp": publicIp },
      "in a public subnet a machine without a public address has no way out; set `publicIp: true`, or use privateSubnet",
    );
  else if (privateSubnet !== undefined && publicIp)
    refuse(
      context,
      { "aws.privateSubnet": undefined, "aws.publicIp": publicIp },
      "a private subnet has no route for a public address; use publicSubnet, or leave publicIp out",
    );
}

function checkTargetGroups(config: AwsConfig, context: PlatformContext): void {
  const groups = ["externalApiTargetGroupArn", "internalApiTargetGroupArn", "internalServiceTargetGroupArn"] as const;
  const given = groups.filter((name) => config[name] !== undefined);
  if (!config.autoRegisterELB && given.length > 0)
    refuse(
      context,
      { "aws.autoRegisterELB": false, ...Object.fromEntries(given.map((name) => [`aws.${name}`, undefined])) },
      "the machine joins no target group then; leave them out",
    );
  if (!config.autoRegisterELB) return;
  for (const [index, name] of given.entries()) {
    const same = given.slice(0, index).find((other) => config[other] === config[name]);
    if (same !== undefined) refuse(context, [`aws.${same}`, `aws.${name}`], "each port has a target group of its own");
  }
  for (const name of groups.slice(1))
    if (config[name] === undefined)
      invalid(
        context,
        `aws.${name}`,
        "missing",
        "a target group's ARN (or `autoRegisterELB: false`, if the API is balanced by something else)",
      );
}

function checkRegions(config: AwsConfig, region: string, context: PlatformContext): void {
  for (const name of [
    "externalApiTargetGroupArn",
    "internalApiTargetGroupArn",
    "internalServiceTargetGroupArn",
    "rootVolumeKmsKeyArn",
    "payloadKmsKeyArn",
  ] as const) {
    const [, partition, , found] = config[name]?.split(":") ?? [];
    if (found === undefined || region === "") continue;
    if (found !== region) refuse(context, [`aws.${name}`, "aws.region"], `it is in ${found}, the cluster in ${region}`);
    else if (partition !== partitionOf(region))
      refuse(
        context,
        [`aws.${name}`, "aws.region"],
        `it begins with arn:${partition ?? ""}, ARNs there with arn:${partitionOf(region)}`,
      );
  }
}

/** Graviton's families have a g after the generation. */
function checkArchitecture(instanceType: string, context: PlatformContext): void {
  const family = instanceType.split(".")[0] ?? "";
  const found = /^(a1|[a-z]+\d+g[a-z]*)$/.test(family) ? "aarch64" : "x86_64";
  if (found !== context.architecture)
    refuse(
      context,
      { "aws.bootstrapInstanceType": instanceType, architecture: context.architecture },
      `that type is ${found}`,
    );
}

function checkTags(context: PlatformContext): void {
  const { tags } = context;
  // Three tags are ours: the cluster's, the name and the digest.
  if (Object.keys(tags).length > 47)
    invalid(context, "tags", `a list of ${Object.keys(tags).length}`, "at most 47 (AWS)");
  for (const [key, value] of Object.entries(tags)) {
    if (!/^[\p{L}\p{N} +\-=._:/@]{1,128}$/u.test(key) || /^aws:/i.test(key))
      invalid(
        context,
        `tags.${key}`,
        "a name that AWS does not take",
        "at most 128 letters, digits, spaces and + - = . _ : / @, not aws: in front",
      );
    if (!/^[\p{L}\p{N} +\-=._:/@]{0,256}$/u.test(value))
      invalid(
        context,
        `tags.${key}`,
        JSON.stringify(value),
        "at most 256 letters, digits, spaces and + - = . _ : / @ (AWS)",
      );
    if (key === "Name")
      invalid(context, "tags.Name", JSON.stringify(value), "another name: resources have names of their own (AWS)");
  }
}

function partitionOf(region: string): string {
  const partitions: Record<string, string> = {
    "cn-": "aws-cn",
    "us-gov-": "aws-us-gov",
    "us-iso-": "aws-iso",
    "us-isob-": "aws-iso-b",
    "us-isof-": "aws-iso-f",
    "eu-isoe-": "aws-iso-e",
    "eusc-": "aws-eusc",
  };
  return Object.entries(partitions).find(([prefix]) => region.startsWith(prefix))?.[1] ?? "aws";
}

const exampleRegion = "eu-central-1";
const exampleTargetGroup = (name: string) =>
  `arn:aws:elasticloadbalancing:${exampleRegion}:123456789012:targetgroup/${name}/0123456789abcdef`;

export const aws = definePlatform({
  name: "aws",
  description: "Amazon Web Services: docs/aws.md.",
  schema,
  resolve,
  provider: { name: "aws", source: "hashicorp/aws", versions: ">= 6.25.0, < 7.0.0" },
  metadata: { key: "aws", schema: metadata },
  usualOptions: [
    "privateSubnet",
    "externalApiTargetGroupArn",
    "internalApiTargetGroupArn",
    "internalServiceTargetGroupArn",
  ],
  usesStream: true,
  firewallCommands,
  reportedFacts: ({ region, bootstrapInstanceType }) => ({ region, bootstrapInstanceType }),
  example: () => ({
    options: {
      vpcId: "vpc-0123456789abcdef0",
      privateSubnet: "subnet-0123456789abcdef0",
      masterSecurityGroupId: "sg-0123456789abcdef0",
      workerSecurityGroupId: "sg-0123456789abcdef1",
      externalApiTargetGroupArn: exampleTargetGroup("api-ext"),
      internalApiTargetGroupArn: exampleTargetGroup("api-int"),
      internalServiceTargetGroupArn: exampleTargetGroup("mcs"),
    },
    metadata: { region: exampleRegion },
    images: { aws: { regions: { [exampleRegion]: { release: "9.6", image: "ami-0123456789abcdef0" } } } },
  }),
});
