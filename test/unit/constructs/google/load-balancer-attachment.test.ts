import { ComputeInstanceGroupMembership } from "@cdktf/provider-google/lib/compute-instance-group-membership/index.js";
import { ComputeInstanceGroup } from "@cdktf/provider-google/lib/compute-instance-group/index.js";
import { describe, expect, it } from "vitest";
import { LoadBalancerAttachment, type OwnGroup } from "../../../../constructs/google/load-balancer-attachment.ts";
import { MachineSpec } from "../../../../constructs/google/machine-spec.ts";
import type { Machine } from "../../../../constructs/google/machine.ts";
import { payloadIn, synthScope } from "../../../support/constructs.ts";
import { only, resources } from "../../../support/stacks.ts";

const instance = "projects/my-project/zones/europe-west1-b/instances/sample-bootstrap";
const ownGroup: OwnGroup = {
  name: "sample-bootstrap-ig",
  project: "my-project",
  region: "europe-west1",
  network: "projects/my-project/global/networks/sample-network",
  backendService: "sample-api-internal",
};
const machineOptions = {
  image: "image",
  size: "n2-standard-4",
  zone: "europe-west1-b",
  subnet: { project: "my-project", region: "europe-west1", name: "subnet" },
  publicIp: false,
  rootVolume: { sizeGiB: 128, type: "pd-ssd" },
  secureBootOf010: true,
};

function stackWith(group: string | OwnGroup) {
  let attachment: LoadBalancerAttachment | undefined;
  const stack = synthScope((scope) => {
    const payload = payloadIn(scope);
    attachment = new LoadBalancerAttachment(scope, "api-membership", {
      machine: { selfLink: instance } as Machine,
      spec: new MachineSpec(scope, "machine-spec", { payload, replaceMachine: false, options: machineOptions }),
      group,
    });
  });
  return { stack, attachment };
}
const lifecycle = (ignored: string[]) => ({
  ignore_changes: ignored,
  replace_triggered_by: [
    expect.stringMatching(/^terraform_data\.payload_replacement_/) as string,
    expect.stringMatching(/^terraform_data\.payload_later-parts_/) as string,
  ],
});

describe("the load balancer attachment on Google Cloud", () => {
  it("adds the machine to an existing group", () => {
    const { stack, attachment } = stackWith("masters");
    expect(stack).toHaveResourceWithProperties(ComputeInstanceGroupMembership, {
      instance,
      instance_group: "masters",
      zone: "europe-west1-b",
      lifecycle: lifecycle(["instance_group", "zone"]),
    });
    expect(resources(stack, ComputeInstanceGroup.tfResourceType)).toEqual([]);
    expect(attachment?.attachCommand).toBeUndefined();
    expect(attachment?.detachCommand).toBeUndefined();
  });

  it("adds the machine to a new group", () => {
    const { stack } = stackWith(ownGroup);
    expect(stack).toHaveResourceWithProperties(ComputeInstanceGroup, {
      name: "sample-bootstrap-ig",
      zone: "europe-west1-b",
      network: "projects/my-project/global/networks/sample-network",
      named_port: [
        { name: "https", port: 6443 },
        { name: "ignition", port: 22623 },
      ],
      lifecycle: lifecycle(["zone"]),
    });
    // Not in the group's own list: a replaced machine would be missing from it.
    expect(only(stack, ComputeInstanceGroup.tfResourceType)).not.toHaveProperty("instances");
    expect(stack).toHaveResourceWithProperties(ComputeInstanceGroupMembership, {
      instance,
      instance_group: expect.stringMatching(/^\$\{google_compute_instance_group\.[\w-]+\.name\}$/) as string,
    });
  });

  it("has commands that attach and detach a new group", () => {
    const { attachment } = stackWith(ownGroup);
    const rest =
      "sample-api-internal --project=my-project --region=europe-west1 --instance-group=sample-bootstrap-ig --instance-group-zone=europe-west1-b";
    expect(attachment?.attachCommand).toBe(`gcloud compute backend-services add-backend ${rest}`);
    expect(attachment?.detachCommand).toBe(`gcloud compute backend-services remove-backend ${rest}`);
  });
});
