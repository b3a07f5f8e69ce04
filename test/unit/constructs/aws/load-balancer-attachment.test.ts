import { LbTargetGroupAttachment } from "@cdktf/provider-aws/lib/lb-target-group-attachment/index.js";
import { describe, expect, it } from "vitest";
import { LoadBalancerAttachment, type TargetGroup } from "../../../../constructs/aws/load-balancer-attachment.ts";
import type { Machine } from "../../../../constructs/aws/machine.ts";
import { synthScope } from "../../../support/constructs.ts";
import { resources } from "../../../support/stacks.ts";

const arn = (name: string) =>
  `arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/${name}/0123456789abcdef`;
const groups: TargetGroup[] = [
  { id: "external-api", arn: arn("api-ext"), port: 6443 },
  { id: "internal-service", arn: arn("mcs"), port: 22623 },
];

function attachments(targetGroups: readonly TargetGroup[]) {
  const machine = { machineId: "i-0123456789abcdef0", privateIp: "10.0.1.5" } as Machine;
  const stack = synthScope((scope) => new LoadBalancerAttachment(scope, "api-membership", { machine, targetGroups }));
  return resources(stack, LbTargetGroupAttachment.tfResourceType);
}

describe("the load balancer attachment on AWS", () => {
  it("attaches the machine to every target group, at the group's port", () => {
    expect(attachments(groups)).toEqual([
      expect.objectContaining({ target_group_arn: arn("api-ext"), port: 6443 }),
      expect.objectContaining({ target_group_arn: arn("mcs"), port: 22623 }),
    ]);
  });

  it("attaches by IP address or by instance ID, depending on the group's target type", () => {
    for (const { target_id } of attachments(groups))
      expect(target_id).toMatch(
        /^\$\{\(data\.aws_lb_target_group\.[\w-]+\.target_type == "ip"\) \? "10\.0\.1\.5" : "i-0123456789abcdef0"\}$/,
      );
  });

  it("creates nothing without target groups", () => {
    expect(attachments([])).toEqual([]);
  });
});
