import { describe, expect, it } from "vitest";
import { exampleOf, metadata, mistakesOf, type ProjectProps } from "../../../support/stacks.ts";

const { config: example, files } = exampleOf("aws");
const exampleAws = example.aws as Record<string, unknown>;

/** The example with other options of aws; undefined takes one away. */
const mistakes = (aws: Record<string, unknown>, rest: object = {}, props: ProjectProps = {}) =>
  mistakesOf(JSON.parse(JSON.stringify({ ...example, ...rest, aws: { ...exampleAws, ...aws } })) as object, {
    files,
    ...props,
  });

const targetGroup = (name: string, region = "eu-central-1") =>
  `arn:aws:elasticloadbalancing:${region}:123456789012:targetgroup/${name}/0123456789abcdef`;
const key = (region = "eu-central-1") => `arn:aws:kms:${region}:123456789012:key/0123`;

describe("the aws part of a config", () => {
  it("of the example is valid", () => {
    expect(mistakes({})).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["vpcId", undefined, "aws.vpcId is missing; expected an ID like vpc-0123456789abcdef0."],
    ["vpcId", "subnet-0123456789abcdef0", "expected an ID like vpc-0123456789abcdef0"],
    ["vpcId", "vpc-XYZ", "expected an ID like vpc-"],
    ["privateSubnet", "subnet", "expected an ID like subnet-"],
    ["publicIp", "yes", 'aws.publicIp is "yes"; expected true or false.'],
    [
      "masterSecurityGroupId",
      undefined,
      "aws.masterSecurityGroupId is missing; expected an ID like sg-0123456789abcdef0.",
    ],
    [
      "workerSecurityGroupId",
      undefined,
      "aws.workerSecurityGroupId is missing; expected an ID like sg-0123456789abcdef0.",
    ],
    ["workerSecurityGroupId", "*", "expected an ID like sg-"],
    ["bootstrapSecurityGroupIds", ["x"], 'aws.bootstrapSecurityGroupIds.0 is "x"; expected an ID like sg-'],
    ["bootstrapSecurityGroupIds", "sg-0123456789abcdef0", "expected a list of at most 10 security groups"],
    [
      "bootstrapSecurityGroupIds",
      Array(11).fill("sg-0123456789abcdef0"),
      "expected a list of at most 10 security groups",
    ],
    ["autoRegisterELB", "no", "expected true or false"],
    ["internalApiTargetGroupArn", "my-group", "expected an ARN like arn:aws:elasticloadbalancing:"],
    ["internalServiceTargetGroupArn", key(), "expected an ARN like arn:aws:elasticloadbalancing:"],
    ["rhcosAmi", "rhcos-9.6", "expected an ID like ami-"],
    ["bootstrapInstanceType", "xlarge", "expected an instance type like m6i.xlarge"],
    ["rootVolumeSizeGiB", 99, "expected a whole number from 100 to 16384"],
    ["rootVolumeSizeGiB", "big", "expected a whole number from 100 to 16384"],
    ["rootVolumeKmsKeyArn", "alias/x", "expected an ARN like arn:aws:kms:"],
    ["payloadKmsKeyArn", "alias/x", "expected an ARN like arn:aws:kms:"],
    ["allowedBootstrapSshCidr", "10.0.0.0/99", "expected a network with its first address"],
    ["allowedBootstrapSshCidr", "10.0.3.7/16", "expected a network with its first address"],
    ["allowedBootstrapSshCidr", "anywhere", "expected a network with its first address"],
    ["allowedBootstrapJournalCidr", "10.0.0.1", "expected a network with its first address"],
    ["bootstrapInstanceProfile", "no/path", "expected the name of an instance profile"],
    ["identityWaitSeconds", -1, "expected a whole number from 0 to 900"],
    ["identityWaitSeconds", 901, "expected a whole number from 0 to 900"],
    ["permissionsBoundaryArn", "x", "expected an ARN like arn:aws:iam:"],
    ["region", "Frankfurt", "expected a region like eu-central-1"],
    ["vpcID", "vpc-0123456789abcdef0", "aws.vpcID is not an option; did you mean vpcId."],
    [
      "externalApiTargetGroupArn",
      targetGroup("x", "us-east-1"),
      "it is in us-east-1, but the cluster is in eu-central-1",
    ],
    ["rootVolumeKmsKeyArn", key("us-east-1"), "it is in us-east-1, but the cluster is in eu-central-1"],
    ["payloadKmsKeyArn", key("us-east-1"), "it is in us-east-1, but the cluster is in eu-central-1"],
  ])("refuses %s: %j", (option, value, sentence) => {
    expect(mistakes({ [option]: value })).toEqual([expect.stringContaining(sentence)]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["no subnet", { privateSubnet: undefined }, "aws.privateSubnet is missing; expected a subnet for the machine"],
    [
      "two subnets",
      { publicSubnet: "subnet-0123456789abcdef1", publicIp: true },
      "the machine is in one subnet; set only one of them",
    ],
    [
      "a public subnet without a public address",
      { publicSubnet: "subnet-0123456789abcdef1", privateSubnet: undefined },
      "in a public subnet, a machine without a public IP address cannot reach the internet",
    ],
    [
      "a private subnet with a public address",
      { publicIp: true },
      "a private subnet has no route for a public IP address",
    ],
    [
      "no target group for the nodes",
      { internalApiTargetGroupArn: undefined },
      "aws.internalApiTargetGroupArn is missing",
    ],
    [
      "one target group for two ports",
      { internalApiTargetGroupArn: targetGroup("x"), internalServiceTargetGroupArn: targetGroup("x") },
      "aws.internalApiTargetGroupArn and aws.internalServiceTargetGroupArn cannot be combined",
    ],
    [
      "a key of another partition",
      { payloadKmsKeyArn: key("eu-central-1").replace("arn:aws:", "arn:aws-cn:") },
      "it starts with arn:aws-cn, but ARNs of that region start with arn:aws",
    ],
    [
      "no target group for ignition",
      { internalServiceTargetGroupArn: undefined },
      "aws.internalServiceTargetGroupArn is missing",
    ],
    [
      "target groups that would not be used",
      { autoRegisterELB: false },
      "aws.autoRegisterELB false and aws.externalApiTargetGroupArn, aws.internalApiTargetGroupArn, aws.internalServiceTargetGroupArn cannot be combined",
    ],
    [
      "a wait for a given profile",
      { bootstrapInstanceProfile: "mine", identityWaitSeconds: 30 },
      "aws.identityWaitSeconds and aws.bootstrapInstanceProfile cannot be combined: an existing profile already has its permission; remove the wait.",
    ],
    [
      "a boundary for no role",
      { bootstrapInstanceProfile: "mine", permissionsBoundaryArn: "arn:aws:iam::123456789012:policy/x" },
      "no role is created if you set a profile",
    ],
    ["a Graviton type for x86_64", { bootstrapInstanceType: "m6g.xlarge" }, "that instance type is aarch64"],
  ])("refuses %s", (_, aws, sentence) => {
    expect(mistakes(aws)).toEqual([expect.stringContaining(sentence)]);
  });

  it.each([
    "m6i.xlarge",
    "c5n.2xlarge",
    "x2gd.xlarge",
    "m7g.xlarge",
    "im4gn.xlarge",
    "t4g.large",
    "a1.xlarge",
    "g4dn.xlarge",
    "p4d.24xlarge",
    "g5g.xlarge",
  ])("knows the architecture of %s", (type) => {
    const isArm = ["x2gd", "m7g", "im4gn", "t4g", "a1", "g5g"].includes(type.split(".")[0] ?? "");
    expect(mistakes({ bootstrapInstanceType: type }, { architecture: isArm ? "aarch64" : "x86_64" })).toEqual([]);
    expect(mistakes({ bootstrapInstanceType: type }, { architecture: isArm ? "x86_64" : "aarch64" })).toHaveLength(1);
  });

  it.each<[string, Record<string, string>, string]>([
    ["a reserved name", { "aws:x": "y" }, "tags.aws:x is a name that AWS does not accept"],
    ["our own", { Name: "y" }, "expected another name, because the stack sets this tag"],
    ["signs in a name", { "a*b": "y" }, "tags.a*b is a name that AWS does not accept"],
    ["signs in a value", { a: "<y>" }, 'tags.a is "<y>"; expected at most 256 letters'],
    ["a long value", { a: "y".repeat(257) }, "tags.a is"],
    [
      "too many",
      Object.fromEntries(Array.from({ length: 48 }, (_, i) => [`t${i}`, "x"])),
      "expected at most 47 tags (AWS)",
    ],
  ])("refuses tags: %s", (_, tags, sentence) => {
    expect(mistakes({}, { tags })).toEqual([expect.stringContaining(sentence)]);
  });

  it("needs a region from somewhere", () => {
    const { clusterName, infraID } = metadata;
    const without = { clusterName, infraID };
    expect(mistakes({}, {}, { metadata: without })).toEqual([
      "aws.region is missing; expected the cluster's region (metadata.json does not contain it).",
    ]);
    expect(mistakes({ region: "eu-central-1" }, {}, { metadata: without })).toEqual([]);
  });

  it("needs an image from somewhere", () => {
    expect(mistakes({}, { stream: undefined })).toEqual([
      expect.stringContaining("aws.rhcosAmi is missing; expected an image, or `stream`"),
    ]);
    expect(mistakes({ rhcosAmi: "ami-0123456789abcdef0" }, { stream: undefined })).toEqual([]);
  });

  it("reports a region that the stream does not have", () => {
    const regions = { region: "eu-west-3", externalApiTargetGroupArn: undefined };
    const groups = {
      internalApiTargetGroupArn: targetGroup("a", "eu-west-3"),
      internalServiceTargetGroupArn: targetGroup("b", "eu-west-3"),
    };
    expect(mistakes({ ...regions, ...groups })).toEqual([
      expect.stringContaining(
        "coreos-stream.json does not contain an AWS image for x86_64 in eu-west-3: set aws.rhcosAmi.",
      ),
    ]);
  });
});
