import { ComputeInstanceGroupMembership } from "@cdktf/provider-google/lib/compute-instance-group-membership/index.js";
import { ComputeInstanceGroup } from "@cdktf/provider-google/lib/compute-instance-group/index.js";
import { Annotations } from "cdktf";
import { Construct } from "constructs";
import { ports } from "../shared/machine-ports.ts";
import type { PayloadFile } from "../shared/payload-file.ts";
import type { Machine } from "./machine.ts";

/** A group that is made for the machine alone. */
export interface OwnGroup {
  readonly name: string;
  readonly project: string;
  readonly region: string;
  /** Path of the network. */
  readonly network: string;
  /** What you attach the group to. */
  readonly backendService: string;
}

export interface LoadBalancerAttachmentProps {
  readonly machine: Machine;
  readonly payload: PayloadFile;
  readonly zone: string;
  /** The name of a group that is behind the load balancer already, or a new group. */
  readonly group: string | OwnGroup;
}

/** The machine behind the API's load balancer, as a member of an instance group. */
export class LoadBalancerAttachment extends Construct {
  /** For an own group: puts it behind the load balancer. The provider cannot, for a load balancer that it did not make. */
  readonly attachCommand?: string;
  /** For an own group: takes it out again. While it is attached, Google refuses to delete it. */
  readonly detachCommand?: string;

  constructor(scope: Construct, id: string, props: LoadBalancerAttachmentProps) {
    super(scope, id);
    const { machine, payload, zone, group } = props;
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
      instanceGroup: typeof group === "string" ? group : this.#make(group, props),
      // A machine that is made anew joins again.
      instance: machine.selfLink,
      // It stays where the machine stays.
      lifecycle: payload.lifecycle(["instance_group", "zone"]),
    });
  }

  #make({ name, network }: OwnGroup, { payload, zone }: LoadBalancerAttachmentProps): string {
    return new ComputeInstanceGroup(this, "group", {
      name,
      description: "The bootstrap machine alone",
      zone,
      network,
      namedPort: [
        { name: "https", port: ports.api },
        { name: "ignition", port: ports.machineConfig },
      ],
      lifecycle: payload.lifecycle(["zone"]),
    }).name;
  }
}
