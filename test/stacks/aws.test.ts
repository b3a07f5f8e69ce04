import { describe, expect, it } from "vitest";
import { makePayload } from "../../src/core/bootstrap.ts";
import { readTunnel } from "../../src/core/konnectivity/options.ts";
import { sampleText } from "../../src/core/sample/sample.ts";
import { withoutHash } from "../support/constructs.ts";
import {
  afterOf,
  exampleOf,
  exampleStack,
  metadata,
  only,
  type ProjectProps,
  replacementOf,
  resources,
  waitsOf,
} from "../support/stacks.ts";

const { infraID } = metadata;
const bucketName = `${infraID}-bootstrap-3e9f8b1c`;
const machineOf = (options?: object, rest?: object, props?: ProjectProps) =>
  only(exampleStack("aws", options, rest, props), "aws_instance");
const key = "arn:aws:kms:eu-central-1:123456789012:key/0123";
const noTargetGroups = {
  autoRegisterELB: false,
  externalApiTargetGroupArn: undefined,
  internalApiTargetGroupArn: undefined,
  internalServiceTargetGroupArn: undefined,
};

describe("aws-bootstrap", () => {
  const stack = exampleStack("aws");

  it("of the example creates these resources, and no others", () => {
    expect(Object.entries(stack.resource).map(([type, byId]) => [type, Object.keys(byId).length])).toEqual([
      ["aws_iam_instance_profile", 1],
      ["aws_iam_role", 1],
      ["aws_iam_role_policy", 1],
      ["aws_instance", 1],
      ["aws_lb_target_group_attachment", 3],
      ["aws_s3_bucket", 1],
      ["aws_s3_bucket_ownership_controls", 1],
      ["aws_s3_bucket_policy", 1],
      ["aws_s3_bucket_public_access_block", 1],
      ["aws_s3_bucket_server_side_encryption_configuration", 1],
      ["aws_s3_object", 1],
      ["aws_security_group", 1],
      ["aws_vpc_security_group_ingress_rule", 2],
      ["terraform_data", 4],
    ]);
  });

  it("uses the cluster's region and a range of provider versions", () => {
    const { provider, terraform } = stack;
    expect(provider.aws).toEqual([{ region: "eu-central-1" }]);
    expect(terraform.required_providers).toEqual({
      aws: { source: "hashicorp/aws", version: ">= 6.25.0, < 7.0.0" },
    });
    expect(terraform.required_version).toBe(">= 1.10.0");
  });

  it("prints the next commands, ready to copy", () => {
    const commands = Object.fromEntries(Object.entries(stack.output).map(([name, { value }]) => [name, value]));
    expect(commands).toMatchObject({
      ssh: expect.stringMatching(/^ssh core@\$\{aws_instance\./) as string,
      gather: expect.stringMatching(/^openshift-install gather bootstrap --dir ocp --bootstrap \$/) as string,
      next: "openshift-install wait-for bootstrap-complete --dir ocp",
      teardown: "npx cdktf destroy 'aws-*'",
      payload_url: `s3://${bucketName}/payload.ign`,
    });
  });

  it("without the install folder has the same resources", () => {
    const without = exampleStack(
      "aws",
      { region: "eu-central-1" },
      { infrastructureName: infraID },
      { shape: "none", metadata: null, files: {} },
    );
    expect(Object.keys(without.resource)).toEqual(Object.keys(stack.resource));
  });
});

describe("the machine of aws-bootstrap", () => {
  const machine = machineOf();

  it("takes image and size from the architecture or from the config", () => {
    expect(machine).toMatchObject({ ami: "ami-00000000000000864", instance_type: "m6i.xlarge" });
    expect(machineOf({}, { architecture: "aarch64" })).toMatchObject({
      ami: "ami-00000000000000a64",
      instance_type: "m6g.xlarge",
    });
    expect(machineOf({ rhcosAmi: "ami-0123456789abcdef0", bootstrapInstanceType: "r5.large" })).toMatchObject({
      ami: "ami-0123456789abcdef0",
      instance_type: "r5.large",
    });
  });

  it("has the config's root volume", () => {
    expect(machine.root_block_device).toMatchObject({ volume_size: 120 });
    expect(machineOf({ rootVolumeKmsKeyArn: key, rootVolumeSizeGiB: 500 }).root_block_device).toMatchObject({
      kms_key_id: key,
      volume_size: 500,
    });
  });

  it("is in the config's subnet, and has a public address only if the config says so", () => {
    expect(machine).toMatchObject({ subnet_id: "subnet-0123456789abcdef0", associate_public_ip_address: false });
    const publicSubnet = "subnet-0123456789abcdef1";
    const open = exampleStack("aws", { publicSubnet, privateSubnet: undefined, publicIp: true });
    expect(only(open, "aws_instance")).toMatchObject({ subnet_id: publicSubnet, associate_public_ip_address: true });
    expect(open.output.ssh?.value).toBe("ssh core@${aws_instance.machine.public_ip}");
  });

  it.each([
    ["10.0.1.5", { private_ip: "10.0.1.5" }],
    ["fd00::5", { ipv6_addresses: ["fd00::5"] }],
  ])("has tunnel.address %s", (address, made) => {
    const networks = { machine: ["10.0.0.0/16", "fd00::/48"], cluster: ["10.128.0.0/14"], service: ["172.30.0.0/16"] };
    const files = { ...exampleOf("aws").files, "ocp/bootstrap.ign": sampleText("4.18", { networks }) };
    expect(machineOf({}, { tunnel: { address } }, { files })).toMatchObject(made);
  });

  it("boots after the payload is stored and the role has propagated", () => {
    const after = (options?: object) => afterOf(machineOf(options)).map(withoutHash);
    expect(after()).toEqual(["aws_s3_object.payload-store_object", "terraform_data.payload-reader_wait"]);
    expect(after({ identityWaitSeconds: 0 })).toEqual([
      "aws_s3_object.payload-store_object",
      "aws_iam_role_policy.payload-reader_policy",
    ]);
    expect(after({ bootstrapInstanceProfile: "mine" })).toEqual(["aws_s3_object.payload-store_object"]);
  });

  it("is replaced by a new payload only with replaceMachine", () => {
    expect(replacementOf(exampleStack("aws"))).toEqual({ ignore_changes: ["triggers_replace"] });
    expect(replacementOf(exampleStack("aws", {}, { replaceMachine: true }))).not.toHaveProperty("ignore_changes");
  });

  it("joins the control plane's security group, its own, and the config's", () => {
    expect(machine.vpc_security_group_ids).toEqual([
      "sg-0123456789abcdef0",
      expect.stringContaining("aws_security_group"),
    ]);
    const external = machineOf({ bootstrapSecurityGroupIds: ["sg-0123456789abcdef9"] }, { firewall: "external" });
    expect(external.vpc_security_group_ids).toEqual(["sg-0123456789abcdef0", "sg-0123456789abcdef9"]);
  });
});

describe("the firewall of aws-bootstrap", () => {
  const rulesOf = (options?: object, rest?: object) =>
    resources(exampleStack("aws", options, rest), "aws_vpc_security_group_ingress_rule");

  it("allows 8091 from the config's security groups, once if both are the same", () => {
    expect(rulesOf().map((rule) => rule.referenced_security_group_id)).toEqual([
      "sg-0123456789abcdef0",
      "sg-0123456789abcdef1",
    ]);
    expect(rulesOf({ workerSecurityGroupId: "sg-0123456789abcdef0" })).toHaveLength(1);
    for (const rule of rulesOf()) expect(rule.from_port).toBe(8091);
    expect(only(exampleStack("aws"), "aws_security_group").vpc_id).toBe("vpc-0123456789abcdef0");
  });

  it.each([
    ["firewall: external", { firewall: "external" }],
    ["tunnel: off", { tunnel: "off" }],
  ])("does not exist with %s", (_, rest) => {
    const stack = exampleStack("aws", {}, rest);
    expect(resources(stack, "aws_vpc_security_group_ingress_rule")).toEqual([]);
    expect(resources(stack, "aws_security_group")).toEqual([]);
    expect(only(stack, "aws_instance").vpc_security_group_ids).toEqual(["sg-0123456789abcdef0"]);
    expect(stack.output).not.toHaveProperty("firewall_rules");
  });

  it("with firewall: external, prints the required rule instead", () => {
    const { output } = exampleStack("aws", {}, { firewall: "external" });
    expect(output.firewall_rule_needed?.value).toMatchObject({
      protocol: "tcp",
      port: 8091,
      direction: "ingress",
      sources: { networks: ["10.0.0.0/16"], securityGroups: ["sg-0123456789abcdef0", "sg-0123456789abcdef1"] },
      destination: { address: "${aws_instance.machine.private_ip}" },
    });
    expect(exampleStack("aws").output).not.toHaveProperty("firewall_rule_needed");
  });

  it("allows ssh and the journal from the config's networks, also without the tunnel's port", () => {
    const networks = { allowedBootstrapSshCidr: "192.0.2.0/24", allowedBootstrapJournalCidr: "2001:db8::/32" };
    const opened = (rest: object) => rulesOf(networks, rest).map((rule) => rule.cidr_ipv4 ?? rule.cidr_ipv6);
    for (const rest of [{ tunnel: "off" }, { firewall: "external" }])
      expect(opened(rest)).toEqual(["2001:db8::/32", "192.0.2.0/24"]);
    const ssh = exampleStack("aws", { allowedBootstrapSshCidr: "192.0.2.0/24" }, { firewall: "external" });
    expect(only(ssh, "aws_vpc_security_group_ingress_rule")).toMatchObject({ from_port: 22, to_port: 22 });
  });
});

describe("the payload of aws-bootstrap", () => {
  it("is stored in a bucket named after the cluster, with the hash that the machine verifies", () => {
    const stack = exampleStack("aws");
    const { sha512 } = makePayload(sampleText("4.18"), readTunnel({}), new Date());
    expect(only(stack, "aws_s3_bucket").bucket).toBe(bucketName);
    expect(only(stack, "aws_s3_object").source_hash).toBe(sha512);
    expect(only(stack, "aws_s3_object").tags).toEqual({ [`kubernetes.io/cluster/${infraID}`]: "owned" });
    expect(JSON.parse(only(stack, "aws_instance").user_data as string)).toMatchObject({
      ignition: {
        config: {
          replace: { source: `s3://${bucketName}/payload.ign`, verification: { hash: `sha512-${sha512}` } },
        },
      },
    });
  });

  it("is encrypted with the config's key, which its reader can use", () => {
    const stack = exampleStack("aws", { payloadKmsKeyArn: key });
    expect(JSON.stringify(only(stack, "aws_s3_bucket_server_side_encryption_configuration"))).toContain(key);
    expect(only(stack, "aws_iam_role_policy").policy).toContain(key);
  });

  it.each([
    ["cn-north-1", "aws-cn"],
    ["us-gov-west-1", "aws-us-gov"],
    ["us-isob-east-1", "aws-iso-b"],
  ])("has an ARN in the partition of %s", (region, partition) => {
    const stack = exampleStack("aws", { region, rhcosAmi: "ami-0123456789abcdef0", ...noTargetGroups });
    expect(only(stack, "aws_iam_role_policy").policy).toContain(`arn:${partition}:s3:::${bucketName}/payload.ign`);
  });

  it("is read with a new role, which has as much time to propagate as the config says", () => {
    const waitOf = (options?: object) =>
      waitsOf(exampleStack("aws", options)).map((wait) => JSON.stringify(wait.provisioner));
    expect(waitOf()).toEqual([expect.stringContaining('"WAIT_SECONDS":"30"')]);
    expect(waitOf({ identityWaitSeconds: 90 })).toEqual([expect.stringContaining('"WAIT_SECONDS":"90"')]);
    expect(waitOf({ identityWaitSeconds: 0 })).toEqual([]);
    const permissionsBoundaryArn = "arn:aws:iam::123456789012:policy/boundary";
    expect(only(exampleStack("aws", { permissionsBoundaryArn }), "aws_iam_role").permissions_boundary).toBe(
      permissionsBoundaryArn,
    );
  });

  it("is read with the config's instance profile: then no role is created, and nothing waits", () => {
    const stack = exampleStack("aws", { bootstrapInstanceProfile: "mine" });
    for (const type of ["aws_iam_role", "aws_iam_role_policy", "aws_iam_instance_profile"])
      expect(resources(stack, type)).toEqual([]);
    expect(only(stack, "aws_instance").iam_instance_profile).toBe("mine");
    expect(waitsOf(stack)).toEqual([]);
  });
});

describe("the load balancers of aws-bootstrap", () => {
  const attachments = (options?: object) => resources(exampleStack("aws", options), "aws_lb_target_group_attachment");

  it("get the machine as a target, each at its port", () => {
    const group = (name: string, port: number) =>
      expect.objectContaining({
        target_group_arn: expect.stringContaining(`targetgroup/${name}/`) as string,
        port,
      }) as object;
    expect(attachments()).toEqual([group("api-ext", 6443), group("api-int", 6443), group("mcs", 22623)]);
    expect(attachments({ externalApiTargetGroupArn: undefined })).toHaveLength(2);
    for (const { target_id } of attachments())
      expect(target_id).toContain("aws_instance.machine.private_ip : aws_instance.machine.id");
  });

  it("do not if the config has no target groups", () => {
    expect(attachments(noTargetGroups)).toEqual([]);
  });
});
