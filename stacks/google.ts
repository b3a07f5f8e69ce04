import { GoogleProvider } from "@cdktf/provider-google/lib/provider/index.js";
import { TerraformOutput } from "cdktf";
import type { Construct } from "constructs";
import type { GoogleInputs } from "../constructs/google/config.ts";
import { LoadBalancerAttachment } from "../constructs/google/load-balancer-attachment.ts";
import { FirewallRules, type Ingress } from "../constructs/google/firewall-rules.ts";
import { Machine } from "../constructs/google/machine.ts";
import { PayloadReader } from "../constructs/google/payload-reader.ts";
import { PayloadStore } from "../constructs/google/payload-store.ts";
import { ports } from "../constructs/shared/machine-ports.ts";
import { Wait } from "../constructs/shared/wait.ts";
import { CloudBootstrapStack, type CloudBootstrapStackProps } from "./cloud-bootstrap-stack.ts";

export interface GoogleBootstrapStackProps extends CloudBootstrapStackProps {
  readonly google: GoogleInputs;
}

/** google-bootstrap: the machine, its 8091 rules, its payload, and its place behind the API's load balancer. */
export class GoogleBootstrapStack extends CloudBootstrapStack {
  constructor(scope: Construct, id: string, props: GoogleBootstrapStackProps) {
    super(scope, id, { ...props, platform: "google", provider: "google" });
    const { google, fixedAddress } = props;
    const { infraId, uniquePart } = props.cluster;
    const { project, networkProject, region, zone } = google;
    const name = `${infraId}-bootstrap`;
    const labels = { ...props.tags, [`kubernetes-io-cluster-${infraId}`]: "owned" };
    // Without the label that the provider would add of its own.
    new GoogleProvider(this, "google", { project, region, addTerraformAttributionLabel: false });

    const store = new PayloadStore(this, "payload-store", {
      bucketName: google.bucketName ?? `${name}-${uniquePart}`,
      region,
      payload: this.payload,
      kmsKey: google.payloadKmsKey,
      labels,
    });
    const reader = new PayloadReader(this, "payload-reader", {
      accountId: accountIdOf(infraId, uniquePart),
      serviceAccount: google.serviceAccount,
      bucket: store.bucket,
    });
    const mayRead =
      google.identityWaitSeconds === 0
        ? reader.granted
        : new Wait(this, "identity-wait", { seconds: google.identityWaitSeconds, dependsOn: [reader.granted] }).done;
    const ingress = ingressOf(props);
    const firewall =
      ingress.length > 0
        ? new FirewallRules(this, "firewall-rule", {
            name,
            project: networkProject,
            network: google.clusterNetwork,
            targetTag: google.bootstrapTag,
            ingress,
          })
        : undefined;
    const machine = new Machine(this, "machine", {
      name,
      zone,
      image: google.image,
      machineType: google.machineType,
      subnet: { project: networkProject, region, name: google.subnet },
      networkTags: [...new Set([google.controlPlaneTag, google.bootstrapTag, ...google.networkTags])],
      serviceAccount: reader.email,
      publicIp: google.publicIp,
      fixedAddress,
      rootVolume: { sizeGb: google.rootVolumeSize, type: google.rootVolumeType, kmsKey: google.rootVolumeKmsKey },
      shielded: google.shielded,
      secureBootOf010: google.secureBootOf010,
      mayStop: props.replaceMachine,
      payload: this.payload,
      payloadUrl: store.url,
      dependsOn: [store.stored, mayRead],
      labels,
    });
    if (google.autoRegisterInstanceGroup) this.#join(machine, props);
    this.addOutputs({
      nodes: { networkTags: [google.controlPlaneTag, google.workerTag], targetTag: google.bootstrapTag },
      privateIp: machine.privateIp,
      publicIp: google.publicIp ? machine.publicIp : undefined,
      machineId: machine.instanceId,
      payloadUrl: store.url,
      firewallRules: firewall?.ruleIds.konnectivity,
    });
  }

  #join(machine: Machine, { cluster: { infraId }, google }: GoogleBootstrapStackProps): void {
    const { project, networkProject, region, zone, clusterNetwork, backendService } = google;
    const { attachCommand, detachCommand } = new LoadBalancerAttachment(this, "api-membership", {
      machine,
      payload: this.payload,
      zone,
      group: google.instanceGroup ?? {
        name: `${infraId}-bootstrap-ig`,
        project,
        region,
        network: `projects/${networkProject}/global/networks/${clusterNetwork}`,
        backendService,
      },
    });
    if (attachCommand !== undefined)
      new TerraformOutput(this, "attach", {
        value: attachCommand,
        description: "Puts the machine's own group behind the API's load balancer",
      });
    if (detachCommand !== undefined)
      new TerraformOutput(this, "detach", {
        value: detachCommand,
        description: "Before the teardown: takes the group out again",
      });
  }
}

/** At most 30 characters; the digits at the end tell clusters apart. */
function accountIdOf(infraId: string, uniquePart: string): string {
  const room = 30 - uniquePart.length - 1;
  return `${infraId.slice(0, room).replace(/-+$/, "")}-${uniquePart}`;
}

function ingressOf({ google, opensTunnelPort }: GoogleBootstrapStackProps): Ingress[] {
  const nodes = [...new Set([google.controlPlaneTag, google.workerTag])];
  const from = (network: string | undefined) => (network === undefined ? [] : [{ network }]);
  return [
    {
      id: "konnectivity",
      description: "Konnectivity agents of the nodes",
      port: ports.agent,
      sources: opensTunnelPort ? nodes.map((tag) => ({ tag })) : [],
    },
    { id: "ssh", description: "ssh", port: ports.ssh, sources: from(google.allowedBootstrapSshCidr) },
    {
      id: "journal",
      description: "Journal gateway",
      port: ports.journal,
      sources: from(google.allowedBootstrapJournalCidr),
    },
  ].filter(({ sources }) => sources.length > 0);
}
