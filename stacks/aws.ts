import { AwsProvider } from "@cdktf/provider-aws/lib/provider/index.js";
import type { Construct } from "constructs";
import { LoadBalancerAttachment } from "../constructs/aws/load-balancer-attachment.ts";
import { FirewallRules, type Ingress } from "../constructs/aws/firewall-rules.ts";
import { Machine } from "../constructs/aws/machine.ts";
import { PayloadReader } from "../constructs/aws/payload-reader.ts";
import { PayloadStore } from "../constructs/aws/payload-store.ts";
import type { AwsInputs } from "../constructs/aws/config.ts";
import { ports } from "../constructs/shared/machine-ports.ts";
import { CloudBootstrapStack, type CloudBootstrapStackProps } from "./cloud-bootstrap-stack.ts";

export interface AwsBootstrapStackProps extends CloudBootstrapStackProps {
  readonly aws: AwsInputs;
}

/** aws-bootstrap: the machine, its 8091 rule, its payload, and its place behind the API's load balancers. */
export class AwsBootstrapStack extends CloudBootstrapStack {
  constructor(scope: Construct, id: string, props: AwsBootstrapStackProps) {
    super(scope, id, { ...props, platform: "aws", provider: "aws" });
    const { aws, fixedAddress } = props;
    const { infraId, uniquePart } = props.cluster;
    const name = `${infraId}-bootstrap`;
    const clusterTags = { [`kubernetes.io/cluster/${infraId}`]: "owned" };
    const tags = { ...props.tags, ...clusterTags };
    new AwsProvider(this, "aws", { region: aws.region });

    const store = new PayloadStore(this, "payload-store", {
      bucketName: `${name}-${uniquePart}`,
      payload: this.payload,
      partition: aws.partition,
      kmsKeyArn: aws.payloadKmsKeyArn,
      clusterTags,
      tags,
    });
    const reader =
      aws.bootstrapInstanceProfile === undefined
        ? new PayloadReader(this, "payload-reader", {
            name,
            objectArn: store.objectArn,
            kmsKeyArn: aws.payloadKmsKeyArn,
            permissionsBoundaryArn: aws.permissionsBoundaryArn,
            waitSeconds: aws.identityWaitSeconds,
            tags,
          })
        : undefined;
    const ingress = ingressOf(props);
    const firewall =
      ingress.length > 0
        ? new FirewallRules(this, "firewall-rule", { name, vpcId: aws.vpcId, ingress, tags })
        : undefined;
    const machine = new Machine(this, "machine", {
      name,
      ami: aws.rhcosAmi,
      instanceType: aws.bootstrapInstanceType,
      subnet: aws.subnet,
      securityGroupIds: [
        aws.masterSecurityGroupId,
        ...(firewall === undefined ? [] : [firewall.securityGroupId]),
        ...aws.bootstrapSecurityGroupIds,
      ],
      instanceProfile: reader?.instanceProfile ?? aws.bootstrapInstanceProfile ?? "",
      publicIp: aws.publicIp,
      fixedAddress,
      rootVolume: { sizeGiB: aws.rootVolumeSizeGiB, kmsKeyArn: aws.rootVolumeKmsKeyArn },
      payload: this.payload,
      payloadUrl: store.url,
      dependsOn: [store.stored, ...(reader === undefined ? [] : [reader.granted])],
      tags,
    });
    new LoadBalancerAttachment(this, "api-membership", { machine, targetGroups: targetGroupsOf(aws) });
    this.addOutputs({
      nodes: { securityGroups: [aws.masterSecurityGroupId, aws.workerSecurityGroupId] },
      privateIp: machine.privateIp,
      publicIp: aws.publicIp ? machine.publicIp : undefined,
      machineId: machine.instanceId,
      payloadUrl: store.url,
      firewallRules: firewall?.ruleIds.konnectivity,
    });
  }
}

function ingressOf({ aws, opensTunnelPort }: AwsBootstrapStackProps): Ingress[] {
  const nodes = [...new Set([aws.masterSecurityGroupId, aws.workerSecurityGroupId])];
  const from = (network: string | undefined) => (network === undefined ? [] : [{ network }]);
  return [
    {
      id: "konnectivity",
      description: "Konnectivity agents of the nodes",
      port: ports.agent,
      sources: opensTunnelPort ? nodes.map((securityGroupId) => ({ securityGroupId })) : [],
    },
    { id: "ssh", description: "ssh", port: ports.ssh, sources: from(aws.allowedBootstrapSshCidr) },
    {
      id: "journal",
      description: "Journal gateway",
      port: ports.journal,
      sources: from(aws.allowedBootstrapJournalCidr),
    },
  ].filter(({ sources }) => sources.length > 0);
}

function targetGroupsOf(aws: AwsInputs) {
  return [
    { id: "external-api", arn: aws.externalApiTargetGroupArn, port: ports.api },
    { id: "internal-api", arn: aws.internalApiTargetGroupArn, port: ports.api },
    { id: "internal-service", arn: aws.internalServiceTargetGroupArn, port: ports.machineConfig },
  ].flatMap(({ arn, ...group }) => (arn === undefined ? [] : [{ ...group, arn }]));
}
