import { DataAwsLbTargetGroup } from "@cdktf/provider-aws/lib/data-aws-lb-target-group/index.js";
import { LbTargetGroupAttachment } from "@cdktf/provider-aws/lib/lb-target-group-attachment/index.js";
import { conditional, Op, Token } from "cdktf";
import { Construct } from "constructs";
import type { Machine } from "./machine.ts";

export interface TargetGroup {
  readonly id: string;
  readonly arn: string;
  readonly port: number;
}

export interface LoadBalancerAttachmentProps {
  readonly machine: Machine;
  readonly targetGroups: readonly TargetGroup[];
}

/** Attaches the machine to the API's load balancers: by IP address or by instance ID, depending on the target group's type. */
export class LoadBalancerAttachment extends Construct {
  constructor(scope: Construct, id: string, props: LoadBalancerAttachmentProps) {
    super(scope, id);
    const { machine, targetGroups } = props;
    for (const { id: groupId, arn, port } of targetGroups) {
      const group = new DataAwsLbTargetGroup(this, `${groupId}-group`, { arn });
      new LbTargetGroupAttachment(this, groupId, {
        targetGroupArn: arn,
        targetId: Token.asString(conditional(Op.eq(group.targetType, "ip"), machine.privateIp, machine.machineId)),
        port,
      });
    }
  }
}
