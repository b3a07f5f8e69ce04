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
  pattern(`an ID like ${prefix}-0123456789abcdef0`, new RegExp(`^${prefix}-[0-9a-f]{8,17}$`));
const ami = () => id("ami");
const arn = (service: string, example: string, resource: string, account = "\\d{12}") =>
  pattern(
    `an ARN like arn:aws:${service}:${example}`,
    new RegExp(`^arn:aws(-[a-z-]+)?:${service}:[a-z0-9-]*:${account}:${resource}$`),
  );
/** Not an alias: an IAM policy cannot grant decryption with an alias. */
const kmsKey = () => arn("kms", "eu-central-1:123456789012:key/…", "key/[\\w-]+");
const awsRegion = () => pattern("a region like eu-central-1", /^[a-z]{2,4}(-[a-z]+)+-\d$/);
const targetGroup = () =>
  arn(
    "elasticloadbalancing",
    "eu-central-1:123456789012:targetgroup/name/0123456789abcdef",
    "targetgroup/[\\w-]+/[0-9a-f]+",
  );

/**
 * Seconds. AWS documents "several seconds"; 5 to 10 were observed when retries were added to the provider. These retries end
 * when EC2 accepts the profile, which is before the machine can use the role: Ignition then sends a request without
 * credentials to S3, is refused, and does not retry. Three times the longest observed time is short beside an installation.
 */
const identityWait = 30;

/** Names are those of the UPI template `04_cluster_bootstrap.yaml`, where it has one. */
const schema = z.strictObject(
  {
    region: awsRegion().optional().describe("The cluster's region. Default: the one in metadata.json."),
    vpcId: id("vpc").describe("The cluster's VPC."),
    publicSubnet: id("subnet")
      .optional()
      .describe("Subnet of the machine, with a route to the internet gateway; requires `publicIp: true`."),
    privateSubnet: id("subnet")
      .optional()
      .describe("Subnet of the machine, with another route to the registries. Set either this option or publicSubnet."),
    publicIp: boolean().default(false).describe("Whether the machine gets a public IP address."),
    masterSecurityGroupId: id("sg").describe("The control plane's security group, which the machine joins."),
    workerSecurityGroupId: id("sg").describe("The workers' security group. Their agents dial the tunnel's port."),
    bootstrapSecurityGroupIds: z
      .array(id("sg"), { error: "a list of at most 10 security groups" })
      .max(10, { error: "a list of at most 10 security groups" })
      .default([])
      .describe(
        "More security groups for the machine. With `firewall: external`, add the one that opens the tunnel's port.",
      ),
    autoRegisterELB: boolean().default(true).describe("Whether the machine is registered in the API's target groups."),
    externalApiTargetGroupArn: targetGroup()
      .optional()
      .describe("Target group of the API (6443) for external clients. Default: none, for a private API."),
    internalApiTargetGroupArn: targetGroup().optional().describe("Target group of the API (6443) for the nodes."),
    internalServiceTargetGroupArn: targetGroup()
      .optional()
      .describe("Target group of the machine config server (22623)."),
    rhcosAmi: ami().optional().describe("The machine's image. Default: the stream's image for the region."),
    bootstrapInstanceType: pattern("an instance type like m6i.xlarge", /^[a-z][a-z0-9-]*\.[a-z0-9-]+$/)
      .optional()
      .describe("The machine's instance type. Default: m6i.xlarge, or m6g.xlarge for aarch64."),
    rootVolumeSizeGiB: integer(100, 16384)
      .default(120)
      .describe("Size of the machine's root volume, which is gp3 and encrypted."),
    rootVolumeKmsKeyArn: kmsKey()
      .optional()
      .describe("KMS key of the root volume. Default: the account's default key."),
    payloadKmsKeyArn: kmsKey().optional().describe("KMS key of the payload. Default: a key of S3."),
    ...accessOptions(network),
    bootstrapInstanceProfile: pattern("the name of an instance profile", /^[\w+=,.@-]{1,128}$/)
      .optional()
      .describe(
        "Your own instance profile, which must be able to read the payload. Default: a new one that can read only the payload.",
      ),
    permissionsBoundaryArn: arn("iam", ":123456789012:policy/…", "policy/[\\w+=,.@/-]+", "(?:\\d{12}|aws)")
      .optional()
      .describe("Permissions boundary of the new role. Default: none."),
    identityWaitSeconds: integer(0, 900)
      .optional()
      .describe(
        `How long a deploy waits between the creation of the role and of the machine, because a new role does not work everywhere at once and Ignition does not retry. Default: ${identityWait}.`,
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
      "no role is created if you set a profile; remove the boundary",
    );
  if (config.identityWaitSeconds !== undefined && config.bootstrapInstanceProfile !== undefined)
    refuse(
      context,
      ["aws.identityWaitSeconds", "aws.bootstrapInstanceProfile"],
      "an existing profile already has its permission; remove the wait",
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
    refuse(context, ["aws.publicSubnet", "aws.privateSubnet"], "the machine is in one subnet; set only one of them");
  else if (publicSubnet !== undefined && !publicIp)
    refuse(
      context,
      { "aws.publicSubnet": undefined, "aws.publicIp": publicIp },
      "in a public subnet, a machine without a public IP address cannot reach the internet; set `publicIp: true`, or use privateSubnet",
    );
  else if (privateSubnet !== undefined && publicIp)
    refuse(
      context,
      { "aws.privateSubnet": undefined, "aws.publicIp": publicIp },
      "a private subnet has no route for a public IP address; use publicSubnet, or remove publicIp",
    );
}

function checkTargetGroups(config: AwsConfig, context: PlatformContext): void {
  const groups = ["externalApiTargetGroupArn", "internalApiTargetGroupArn", "internalServiceTargetGroupArn"] as const;
  const given = groups.filter((name) => config[name] !== undefined);
  if (!config.autoRegisterELB && given.length > 0)
    refuse(
      context,
      { "aws.autoRegisterELB": false, ...Object.fromEntries(given.map((name) => [`aws.${name}`, undefined])) },
      "the machine is then registered in no target group; remove them",
    );
  if (!config.autoRegisterELB) return;
  for (const [index, name] of given.entries()) {
    const same = given.slice(0, index).find((other) => config[other] === config[name]);
    if (same !== undefined) refuse(context, [`aws.${same}`, `aws.${name}`], "each port needs its own target group");
  }
  for (const name of groups.slice(1))
    if (config[name] === undefined)
      invalid(
        context,
        `aws.${name}`,
        "missing",
        "a target group's ARN (or `autoRegisterELB: false`, if the API has another load balancer)",
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
    if (found !== region)
      refuse(context, [`aws.${name}`, "aws.region"], `it is in ${found}, but the cluster is in ${region}`);
    else if (partition !== partitionOf(region))
      refuse(
        context,
        [`aws.${name}`, "aws.region"],
        `it starts with arn:${partition ?? ""}, but ARNs of that region start with arn:${partitionOf(region)}`,
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
      `that instance type is ${found}`,
    );
}

function checkTags(context: PlatformContext): void {
  const { tags } = context;
  // The stack adds three tags: the cluster's, the name and the digest.
  if (Object.keys(tags).length > 47)
    invalid(context, "tags", `an object with ${Object.keys(tags).length} tags`, "at most 47 tags (AWS)");
  for (const [key, value] of Object.entries(tags)) {
    if (!/^[\p{L}\p{N} +\-=._:/@]{1,128}$/u.test(key) || /^aws:/i.test(key))
      invalid(
        context,
        `tags.${key}`,
        "a name that AWS does not accept",
        "at most 128 letters, digits, spaces and + - = . _ : / @, not starting with aws:",
      );
    if (!/^[\p{L}\p{N} +\-=._:/@]{0,256}$/u.test(value))
      invalid(
        context,
        `tags.${key}`,
        JSON.stringify(value),
        "at most 256 letters, digits, spaces and + - = . _ : / @ (AWS)",
      );
    if (key === "Name")
      invalid(context, "tags.Name", JSON.stringify(value), "another name, because the stack sets this tag (AWS)");
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
  description: "Amazon Web Services; see docs/aws.md.",
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
