import { describe, expect, it } from "vitest";
import { sampleText } from "../../../../src/core/sample/sample.ts";
import {
  afterOf,
  type Block,
  exampleOf,
  exampleStack,
  metadata,
  only,
  type ProjectProps,
  replacementOf,
} from "../../../support/stacks.ts";

const machineOf = (options?: object, rest?: object, props?: ProjectProps) =>
  only(exampleStack("aws", options, rest, props), "aws_instance");

describe("the machine on AWS", () => {
  const machine = machineOf();

  it("gives its metadata to who has a token, on the machine itself", () => {
    expect(machine.metadata_options).toEqual({
      http_endpoint: "enabled",
      http_tokens: "required",
      http_put_response_hop_limit: 1,
    });
  });

  it("has an encrypted disk that goes with it", () => {
    expect(machine.root_block_device).toMatchObject({
      encrypted: true,
      volume_type: "gp3",
      volume_size: 120,
      delete_on_termination: true,
    });
    const kmsKey = "arn:aws:kms:eu-central-1:123456789012:key/0123";
    expect(machineOf({ rootVolumeKmsKeyArn: kmsKey, rootVolumeSizeGiB: 500 }).root_block_device).toMatchObject({
      kms_key_id: kmsKey,
      volume_size: 500,
    });
  });

  it("takes image and size by the architecture, or as given", () => {
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

  it("gets a pointer with the payload's hash as user data", () => {
    const pointer = JSON.parse(machine.user_data as string) as object;
    const bucket = `${metadata.infraID}-bootstrap-${metadata.clusterID.slice(0, 8)}`;
    expect(pointer).toMatchObject({
      ignition: {
        config: {
          replace: {
            source: `s3://${bucket}/payload.ign`,
            verification: { hash: `sha512-${only(exampleStack("aws"), "aws_s3_object").source_hash as string}` },
          },
        },
      },
    });
  });

  it("boots after the payload is stored, and after the role had time to spread", () => {
    const after = (block: Block) => afterOf(block).map((address) => address.replace(/_[0-9A-F]+$/, ""));
    expect(after(machine)).toEqual(["aws_s3_object.payload-store_object", "terraform_data.payload-reader_wait"]);
    expect(after(machineOf({ identityWaitSeconds: 0 }))).toEqual([
      "aws_s3_object.payload-store_object",
      "aws_iam_role_policy.payload-reader_policy",
    ]);
    expect(after(machineOf({ bootstrapInstanceProfile: "mine" }))).toEqual(["aws_s3_object.payload-store_object"]);
  });

  it("is not replaced because the role's wait is", () => {
    const { replace_triggered_by: triggers } = machine.lifecycle as { replace_triggered_by: string[] };
    expect(triggers).toEqual([expect.stringMatching(/^terraform_data\.payload_replacement_/)]);
  });

  it("joins the control plane's security group, and has one of its own", () => {
    expect(machine.vpc_security_group_ids).toEqual([
      "sg-0123456789abcdef0",
      expect.stringContaining("aws_security_group"),
    ]);
  });

  it("is in the subnet, without a public address unless wanted", () => {
    expect(machine).toMatchObject({ subnet_id: "subnet-0123456789abcdef0", associate_public_ip_address: false });
    const publicSubnet = "subnet-0123456789abcdef1";
    const open = exampleStack("aws", { publicSubnet, privateSubnet: undefined, publicIp: true });
    expect(only(open, "aws_instance")).toMatchObject({ subnet_id: publicSubnet, associate_public_ip_address: true });
    expect(open.output.ssh?.value).toBe("ssh core@${aws_instance.machine.public_ip}");
  });

  it("is left alone by a new payload or image, unless it may be replaced", () => {
    const trigger = expect.stringMatching(/^terraform_data\./) as string;
    const left = [
      ...["ami", "associate_public_ip_address", "instance_type", "ipv6_addresses", "private_ip", "root_block_device"],
      ...["subnet_id", "user_data", 'tags["konnectivity-bootstrap-made-of"]'],
    ];
    expect(machine.lifecycle).toEqual({ ignore_changes: left, replace_triggered_by: [trigger] });
    expect(machineOf({}, { replaceMachine: true }).lifecycle).toEqual(machine.lifecycle);
    expect(replacementOf(exampleStack("aws"))).toEqual({ ignore_changes: ["triggers_replace"] });
    expect(replacementOf(exampleStack("aws", {}, { replaceMachine: true }))).not.toHaveProperty("ignore_changes");
  });

  it.each([
    ["10.0.1.5", { private_ip: "10.0.1.5" }, "cidr_block"],
    ["fd00::5", { ipv6_addresses: ["fd00::5"] }, "ipv6_cidr_block"],
  ])(
    "has the address %s that the config fixes, and Terraform checks that the subnet has it",
    (address, made, block) => {
      const networks = {
        machine: ["10.0.0.0/16", "fd00::/48"],
        cluster: ["10.128.0.0/14"],
        service: ["172.30.0.0/16"],
      };
      const files = { ...exampleOf("aws").files, "ocp/bootstrap.ign": sampleText("4.18", { networks }) };
      const fixed = exampleStack("aws", {}, { tunnel: { address } }, { files });
      expect(only(fixed, "aws_instance")).toMatchObject(made);
      const { precondition } = only(fixed, "aws_instance").lifecycle as {
        precondition: { condition: string; error_message: string }[];
      };
      expect(precondition).toHaveLength(1);
      expect(precondition[0]?.condition).toContain(`for n in [data.aws_subnet.machine_subnet_76B0D457.${block}] :`);
      expect(precondition[0]?.condition).toContain("for i in [0, 1, 2, 3, -1] :");
      expect(precondition[0]?.error_message).toContain(`tunnel.address ${address} is not an address for machines`);
      expect(machine).not.toHaveProperty("private_ip");
    },
  );
});
