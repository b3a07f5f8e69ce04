import { describe, expect, it } from "vitest";
import { exampleStack, metadata, only, resources } from "../../../support/stacks.ts";

const { infraID } = metadata;
const instance = "${google_compute_instance.machine.self_link}";
const own = { instanceGroup: undefined, ownInstanceGroup: true };

describe("the machine behind the API's load balancer on Google", () => {
  it("joins the group that is given, and makes none", () => {
    const stack = exampleStack("google");
    expect(only(stack, "google_compute_instance_group_membership")).toMatchObject({
      instance,
      instance_group: "prod-x7k2p-master-europe-west1-b-ig",
      zone: "europe-west1-b",
    });
    expect(resources(stack, "google_compute_instance_group")).toEqual([]);
    expect(stack.output).not.toHaveProperty("attach");
    expect(stack.output).not.toHaveProperty("detach");
  });

  it("finds a group that is given by its link", () => {
    const instanceGroup =
      "https://www.googleapis.com/compute/v1/projects/sample-project/zones/europe-west1-b/instanceGroups/masters";
    expect(
      only(exampleStack("google", { instanceGroup }), "google_compute_instance_group_membership").instance_group,
    ).toBe("masters");
  });

  it("joins a group of its own by option", () => {
    const stack = exampleStack("google", own);
    expect(only(stack, "google_compute_instance_group")).toMatchObject({
      name: `${infraID}-bootstrap-ig`,
      zone: "europe-west1-b",
      network: "projects/sample-project/global/networks/prod-x7k2p-network",
      named_port: [
        { name: "https", port: 6443 },
        { name: "ignition", port: 22623 },
      ],
    });
    // Not by the group's own list: a machine that is made anew would not be in it.
    expect(only(stack, "google_compute_instance_group")).not.toHaveProperty("instances");
    expect(only(stack, "google_compute_instance_group_membership")).toMatchObject({
      instance,
      instance_group: expect.stringMatching(/^\$\{google_compute_instance_group\.[\w-]+\.name\}$/) as string,
    });
  });

  it("says how the own group is attached, and how it is detached before destroying", () => {
    const rest = `--project=sample-project --region=europe-west1 --instance-group=${infraID}-bootstrap-ig --instance-group-zone=europe-west1-b`;
    const { output } = exampleStack("google", own);
    expect(output.attach?.value).toBe(`gcloud compute backend-services add-backend ${infraID}-api-internal ${rest}`);
    expect(output.detach?.value).toBe(`gcloud compute backend-services remove-backend ${infraID}-api-internal ${rest}`);
    const named = exampleStack("google", { ...own, backendService: "api" });
    expect(named.output.detach?.value).toContain(" remove-backend api --project");
  });

  it("joins none if something else balances the API", () => {
    const stack = exampleStack("google", { instanceGroup: undefined, autoRegisterInstanceGroup: false });
    expect(resources(stack, "google_compute_instance_group_membership")).toEqual([]);
    expect(resources(stack, "google_compute_instance_group")).toEqual([]);
  });
});
