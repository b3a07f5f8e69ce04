import { AwsProvider } from "@cdktf/provider-aws/lib/provider/index.js";
import type { Construct } from "constructs";
import type { AwsInputs } from "../constructs/aws/config.ts";
import { FirewallRules } from "../constructs/aws/firewall-rules.ts";
import { LoadBalancerAttachment } from "../constructs/aws/load-balancer-attachment.ts";
import { MachineSpec } from "../constructs/aws/machine-spec.ts";
import { Machine } from "../constructs/aws/machine.ts";
import { PayloadReader } from "../constructs/aws/payload-reader.ts";
import { PayloadStore } from "../constructs/aws/payload-store.ts";
import { bootstrapIngress } from "../constructs/shared/ingress.ts";
import { machinePorts } from "../constructs/shared/machine-ports.ts";
import { CloudBootstrapStack, type CloudBootstrapStackProps } from "./cloud-bootstrap-stack.ts";

export interface AwsBootstrapStackProps extends CloudBootstrapStackProps {
  readonly aws: AwsInputs;
}

/** aws-bootstrap: the machine, its firewall rules, its payload, and its attachment to the API's load balancers. */
export class AwsBootstrapStack extends CloudBootstrapStack {
  constructor(scope: Construct, id: string, props: AwsBootstrapStackProps) {
    super(scope, id, { ...props, platform: "aws", provider: "aws" });
    const { payload } = this;
    const { aws, tunnelPort } = props;
    const { infraId, uniquePart } = props.cluster;
    const name = `${infraId}-bootstrap`;
    const clusterTags = { [`kubernetes.io/cluster/${infraId}`]: "owned" };
    const tags = { ...props.tags, ...clusterTags };
    new AwsProvider(this, "aws", { region: aws.region });

    const store = new PayloadStore(this, "payload-store", {
      bucketName: `${name}-${uniquePart}`,
      payload,
      partition: aws.partition,
      kmsKey: aws.payloadKmsKeyArn,
      clusterTags,
      tags,
    });
    const reader =
      aws.bootstrapInstanceProfile === undefined
        ? new PayloadReader(this, "payload-reader", {
            name,
            objectArn: store.objectArn,
            kmsKey: aws.payloadKmsKeyArn,
            permissionsBoundaryArn: aws.permissionsBoundaryArn,
            waitSeconds: aws.identityWaitSeconds,
            tags,
          })
        : undefined;
    const nodes = [...new Set([aws.masterSecurityGroupId, aws.workerSecurityGroupId])];
    const ingress = bootstrapIngress({
      ...aws,
      nodes: nodes.map((securityGroupId) => ({ securityGroupId })),
      tunnelPort,
    });
    const spec = this.#machineSpec(props);
    const firewall =
      ingress.length > 0
        ? new FirewallRules(this, "firewall-rule", { name, ingress, vpcId: aws.vpcId, spec, tags })
        : undefined;
    const machine = new Machine(this, "machine", {
      name,
      spec,
      payloadUrl: store.url,
      securityGroupIds: [
        aws.masterSecurityGroupId,
        ...(firewall === undefined ? [] : [firewall.securityGroupId]),
        ...aws.bootstrapSecurityGroupIds,
      ],
      instanceProfile: reader?.instanceProfile ?? aws.bootstrapInstanceProfile ?? "",
      dependsOn: [store.stored, ...(reader === undefined ? [] : [reader.granted])],
      tags,
    });
    new LoadBalancerAttachment(this, "api-membership", { machine, targetGroups: targetGroupsOf(aws) });
    this.addOutputs({
      nodes: { securityGroups: [aws.masterSecurityGroupId, aws.workerSecurityGroupId] },
      privateIp: machine.privateIp,
      publicIp: aws.publicIp ? machine.publicIp : undefined,
      machineId: machine.machineId,
      payloadUrl: store.url,
      firewallRules: firewall?.ruleIds.konnectivity,
    });
  }

  #machineSpec({ aws, fixedAddress, replaceMachine }: AwsBootstrapStackProps): MachineSpec {
    return new MachineSpec(this, "machine-spec", {
      payload: this.payload,
      replaceMachine,
      options: {
        image: aws.rhcosAmi,
        size: aws.bootstrapInstanceType,
        subnet: aws.subnet,
        publicIp: aws.publicIp,
        fixedAddress,
        rootVolume: { sizeGiB: aws.rootVolumeSizeGiB, kmsKey: aws.rootVolumeKmsKeyArn },
      },
    });
  }
}

function targetGroupsOf(aws: AwsInputs) {
  return [
    { id: "external-api", arn: aws.externalApiTargetGroupArn, port: machinePorts.api },
    { id: "internal-api", arn: aws.internalApiTargetGroupArn, port: machinePorts.api },
    { id: "internal-service", arn: aws.internalServiceTargetGroupArn, port: machinePorts.machineConfig },
  ].flatMap(({ arn, ...group }) => (arn === undefined ? [] : [{ ...group, arn }]));
}
