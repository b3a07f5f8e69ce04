import { GoogleProvider } from "@cdktf/provider-google/lib/provider/index.js";
import { TerraformOutput } from "cdktf";
import type { Construct } from "constructs";
import type { GoogleInputs } from "../constructs/google/config.ts";
import { FirewallRules } from "../constructs/google/firewall-rules.ts";
import { LoadBalancerAttachment } from "../constructs/google/load-balancer-attachment.ts";
import { MachineSpec } from "../constructs/google/machine-spec.ts";
import { Machine } from "../constructs/google/machine.ts";
import { PayloadReader } from "../constructs/google/payload-reader.ts";
import { PayloadStore } from "../constructs/google/payload-store.ts";
import { bootstrapIngress } from "../constructs/shared/ingress.ts";
import { Wait } from "../constructs/shared/wait.ts";
import { CloudBootstrapStack, type CloudBootstrapStackProps } from "./cloud-bootstrap-stack.ts";

export interface GoogleBootstrapStackProps extends CloudBootstrapStackProps {
  readonly google: GoogleInputs;
}

/** google-bootstrap: the machine, its firewall rules, its payload, and its attachment to the API's load balancer. */
export class GoogleBootstrapStack extends CloudBootstrapStack {
  constructor(scope: Construct, id: string, props: GoogleBootstrapStackProps) {
    super(scope, id, { ...props, platform: "google", provider: "google" });
    const { payload } = this;
    const { google, tunnelPort } = props;
    const { infraId, uniquePart } = props.cluster;
    const { project, networkProject, region } = google;
    const name = `${infraId}-bootstrap`;
    const labels = { ...props.tags, [`kubernetes-io-cluster-${infraId}`]: "owned" };
    // Without the label that the provider adds by default.
    new GoogleProvider(this, "google", { project, region, addTerraformAttributionLabel: false });

    const store = new PayloadStore(this, "payload-store", {
      bucketName: google.bucketName ?? `${name}-${uniquePart}`,
      payload,
      region,
      kmsKey: google.payloadKmsKey,
      labels,
    });
    const reader = new PayloadReader(this, "payload-reader", {
      accountId: accountIdOf(infraId, uniquePart),
      serviceAccount: google.serviceAccount,
      bucket: store.bucket,
    });
    // Here and not in the reader, as in the other clouds: that is its address since 0.1.0.
    const granted =
      google.identityWaitSeconds === 0
        ? reader.granted
        : new Wait(this, "identity-wait", { seconds: google.identityWaitSeconds, dependsOn: [reader.granted] }).done;
    const nodes = [...new Set([google.controlPlaneTag, google.workerTag])];
    const ingress = bootstrapIngress({
      ...google,
      nodes: nodes.map((networkTag) => ({ networkTag })),
      tunnelPort,
    });
    const spec = this.#machineSpec(props);
    const firewall =
      ingress.length > 0
        ? new FirewallRules(this, "firewall-rule", {
            name,
            ingress,
            project: networkProject,
            network: google.clusterNetwork,
            targetTag: google.bootstrapTag,
            spec,
          })
        : undefined;
    const machine = new Machine(this, "machine", {
      name,
      spec,
      payloadUrl: store.url,
      networkTags: [...new Set([google.controlPlaneTag, google.bootstrapTag, ...google.networkTags])],
      serviceAccount: reader.email,
      dependsOn: [store.stored, granted],
      labels,
    });
    if (google.autoRegisterInstanceGroup) this.#attach(machine, spec, props);
    this.addOutputs({
      nodes: { networkTags: [google.controlPlaneTag, google.workerTag], targetTag: google.bootstrapTag },
      privateIp: machine.privateIp,
      publicIp: google.publicIp ? machine.publicIp : undefined,
      machineId: machine.machineId,
      payloadUrl: store.url,
      firewallRules: firewall?.ruleIds.konnectivity,
    });
  }

  #machineSpec({ google, fixedAddress, replaceMachine }: GoogleBootstrapStackProps): MachineSpec {
    return new MachineSpec(this, "machine-spec", {
      payload: this.payload,
      replaceMachine,
      options: {
        image: google.image,
        size: google.machineType,
        zone: google.zone,
        subnet: { project: google.networkProject, region: google.region, name: google.subnet },
        publicIp: google.publicIp,
        fixedAddress,
        rootVolume: {
          sizeGiB: google.rootVolumeSize,
          type: google.rootVolumeType,
          kmsKey: google.rootVolumeKmsKey,
        },
        shielded: google.shielded,
        secureBootOf010: google.secureBootOf010,
      },
    });
  }

  #attach(machine: Machine, spec: MachineSpec, { cluster, google }: GoogleBootstrapStackProps): void {
    const { project, networkProject, region, clusterNetwork, backendService } = google;
    const { attachCommand, detachCommand } = new LoadBalancerAttachment(this, "api-membership", {
      machine,
      spec,
      group: google.instanceGroup ?? {
        name: `${cluster.infraId}-bootstrap-ig`,
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

/** At most 30 characters. The digits at the end tell clusters apart. */
function accountIdOf(infraId: string, uniquePart: string): string {
  const room = 30 - uniquePart.length - 1;
  return `${infraId.slice(0, room).replace(/-+$/, "")}-${uniquePart}`;
}
