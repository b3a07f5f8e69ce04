import { Instance } from "@cdktf/provider-aws/lib/instance/index.js";
import { Token } from "cdktf";
import { describe, expect, it } from "vitest";
import { Machine, type MachineProps } from "../../../../constructs/aws/machine.ts";
import { type MachineOptions, MachineSpec } from "../../../../constructs/aws/machine-spec.ts";
import { payloadContent, payloadIn, resourceIn, synthScope } from "../../../support/constructs.ts";
import { only } from "../../../support/stacks.ts";

const options: MachineOptions = {
  image: "ami-0123456789abcdef0",
  size: "m6i.xlarge",
  subnet: "subnet-0123456789abcdef0",
  publicIp: false,
  rootVolume: { sizeGiB: 120 },
};

/** A stack with a machine alone. */
function stackWith(changed: Partial<MachineOptions> = {}, props: Partial<MachineProps> = {}, replaceMachine = false) {
  let machine: Machine | undefined;
  const stack = synthScope((scope) => {
    const payload = payloadIn(scope);
    machine = new Machine(scope, "machine", {
      name: "sample-bootstrap",
      spec: new MachineSpec(scope, "machine-spec", {
        payload,
        replaceMachine,
        options: { ...options, ...changed },
      }),
      payloadUrl: "s3://bucket/payload.ign",
      securityGroupIds: ["sg-0123456789abcdef0"],
      instanceProfile: "sample-bootstrap",
      dependsOn: [resourceIn(scope, "stored")],
      tags: { team: "platform" },
      ...props,
    });
  });
  return { stack, instance: only(stack, Instance.tfResourceType), machine };
}

describe("the machine on AWS", () => {
  const { stack, instance } = stackWith();

  it("requires IMDSv2 with a hop limit of 1", () => {
    expect(stack).toHaveResourceWithProperties(Instance, {
      metadata_options: { http_endpoint: "enabled", http_tokens: "required", http_put_response_hop_limit: 1 },
    });
  });

  it("has an encrypted gp3 root volume that is deleted with it", () => {
    expect(instance.root_block_device).toMatchObject({
      encrypted: true,
      volume_type: "gp3",
      volume_size: 120,
      delete_on_termination: true,
    });
    const kmsKey = "arn:aws:kms:eu-central-1:123456789012:key/0123";
    expect(stackWith({ rootVolume: { sizeGiB: 500, kmsKey } }).instance.root_block_device).toMatchObject({
      kms_key_id: kmsKey,
      volume_size: 500,
    });
  });

  it("has the image, size, subnet, security groups and instance profile that it is given", () => {
    expect(stack).toHaveResourceWithProperties(Instance, {
      ami: "ami-0123456789abcdef0",
      instance_type: "m6i.xlarge",
      subnet_id: "subnet-0123456789abcdef0",
      vpc_security_group_ids: ["sg-0123456789abcdef0"],
      iam_instance_profile: "sample-bootstrap",
    });
  });

  it("gets a pointer with the payload's hash as user data", () => {
    expect(JSON.parse(instance.user_data as string)).toMatchObject({
      ignition: {
        config: {
          replace: {
            source: "s3://bucket/payload.ign",
            verification: { hash: `sha512-${payloadContent.sha512}` },
          },
        },
      },
    });
  });

  it("boots after what it depends on", () => {
    expect(instance.depends_on).toEqual(["terraform_data.stored"]);
  });

  it("has a public address only if wanted", () => {
    expect(instance.associate_public_ip_address).toBe(false);
    expect(stackWith({ publicIp: true }).instance.associate_public_ip_address).toBe(true);
  });

  it("is tagged with its name and the digest of its spec", () => {
    expect(instance.tags).toEqual({
      team: "platform",
      Name: "sample-bootstrap",
      "konnectivity-bootstrap-made-of": expect.stringMatching(/^[0-9a-f]{16}-[0-9a-f]{16}$/) as string,
    });
    expect(instance.root_block_device).toMatchObject({ tags: { team: "platform", Name: "sample-bootstrap" } });
  });

  it("is changed neither by another payload nor by other options, and replaced only by its spec", () => {
    expect(instance.lifecycle).toEqual({
      ignore_changes: [
        ...["ami", "associate_public_ip_address", "instance_type", "ipv6_addresses", "private_ip", "root_block_device"],
        ...["subnet_id", "user_data", 'tags["konnectivity-bootstrap-made-of"]'],
      ],
      replace_triggered_by: [expect.stringMatching(/^terraform_data\.payload_replacement_/)],
    });
    expect(stackWith({}, {}, true).instance.lifecycle).toEqual(instance.lifecycle);
  });

  it("is compared with its spec in every plan", () => {
    expect(Object.keys(stack.check)).toEqual(["machine_has_this_payload", "machine_is_as_configured"]);
    expect(JSON.stringify(stack.check)).toContain("aws_instance.machine.tags[");
  });

  it.each([
    ["10.0.1.5", { private_ip: "10.0.1.5" }, "cidr_block"],
    ["fd00::5", { ipv6_addresses: ["fd00::5"] }, "ipv6_cidr_block"],
  ])("has the fixed address %s, if the subnet contains it and AWS does not reserve it", (address, made, block) => {
    const fixed = stackWith({ fixedAddress: address });
    expect(fixed.stack).toHaveResourceWithProperties(Instance, made);
    const { precondition } = fixed.instance.lifecycle as {
      precondition: { condition: string; error_message: string }[];
    };
    expect(precondition).toHaveLength(1);
    expect(precondition[0]?.condition).toContain(`for n in [data.aws_subnet.machine_subnet_76B0D457.${block}] :`);
    expect(precondition[0]?.condition).toContain("for i in [0, 1, 2, 3, -1] :");
    expect(precondition[0]?.error_message).toContain(`tunnel.address ${address} is not an address for machines`);
    expect(instance).not.toHaveProperty("private_ip");
  });

  it("reports a fixed IPv6 address as the one that nodes dial", () => {
    expect(stackWith({ fixedAddress: "fd00::5" }).machine?.privateIp).toBe("fd00::5");
    expect(Token.isUnresolved(stackWith({ fixedAddress: "10.0.1.5" }).machine?.privateIp)).toBe(true);
  });
});
