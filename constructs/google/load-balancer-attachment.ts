import { ComputeInstanceGroupMembership } from "@cdktf/provider-google/lib/compute-instance-group-membership/index.js";
import { ComputeInstanceGroup } from "@cdktf/provider-google/lib/compute-instance-group/index.js";
import { Annotations } from "cdktf";
import { Construct } from "constructs";
import { machinePorts } from "../shared/machine-ports.ts";
import type { MachineSpec } from "./machine-spec.ts";
import type { Machine } from "./machine.ts";

/** An instance group to create for the machine. */
export interface OwnGroup {
  readonly name: string;
  readonly project: string;
  readonly region: string;
  /** Path of the network. */
  readonly network: string;
  /** Name of the load balancer's backend service, to which the operator attaches the group. */
  readonly backendService: string;
}

export interface LoadBalancerAttachmentProps {
  readonly machine: Machine;
  readonly spec: MachineSpec;
  /** The name of an instance group that is already attached to the load balancer, or a new group. */
  readonly group: string | OwnGroup;
}

/** Attaches the machine to the API's load balancer, as a member of an instance group. */
export class LoadBalancerAttachment extends Construct {
  /** Attaches a new group to the load balancer. The provider can do that only for a load balancer that it created. */
  readonly attachCommand?: string;
  /** Detaches a new group again. Google refuses to delete it while it is attached. */
  readonly detachCommand?: string;

  constructor(scope: Construct, id: string, props: LoadBalancerAttachmentProps) {
    super(scope, id);
    const { machine, spec, group } = props;
    const { zone } = spec.options;
    if (typeof group !== "string") {
      const command = (verb: string) =>
        `gcloud compute backend-services ${verb} ${group.backendService} --project=${group.project} --region=${group.region} --instance-group=${group.name} --instance-group-zone=${zone}`;
      this.attachCommand = command("add-backend");
      this.detachCommand = command("remove-backend");
      Annotations.of(this).addWarning(
        `Google does not delete the instance group ${group.name} while it is attached to a load balancer. Before you destroy: ${this.detachCommand}`,
      );
    }
    new ComputeInstanceGroupMembership(this, "Default", {
      zone,
      instanceGroup: typeof group === "string" ? group : this.#create(group, spec),
      // A reference, so that a replaced machine joins again.
      instance: machine.selfLink,
      lifecycle: spec.lifecycle(["instance_group", "zone"]),
    });
  }

  #create({ name, network }: OwnGroup, spec: MachineSpec): string {
    return new ComputeInstanceGroup(this, "group", {
      name,
      description: "The bootstrap machine alone",
      zone: spec.options.zone,
      network,
      namedPort: [
        { name: "https", port: machinePorts.api },
        { name: "ignition", port: machinePorts.machineConfig },
      ],
      lifecycle: spec.lifecycle(["zone"]),
    }).name;
  }
}
