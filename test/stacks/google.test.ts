import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { google } from "../../constructs/google/config.ts";
import { readProjectText } from "../../src/runtime/project-files.js";
import { changedExample, exampleOf, exampleStack, metadata, only, Project, resources } from "../support/stacks.ts";

const { infraID } = metadata;
const page = readProjectText("docs/google.md");

describe("google-bootstrap", () => {
  it("of the example makes this, and nothing else", () => {
    const { resource } = exampleStack("google");
    expect(Object.entries(resource).map(([type, byId]) => [type, Object.keys(byId).length])).toEqual([
      ["google_compute_firewall", 2],
      ["google_compute_instance", 1],
      ["google_compute_instance_group_membership", 1],
      ["google_service_account", 1],
      ["google_storage_bucket", 1],
      ["google_storage_bucket_iam_member", 1],
      ["google_storage_bucket_object", 1],
      ["terraform_data", 5],
    ]);
  });

  it("works in the cluster's project and region, without the provider's own label", () => {
    const { provider, terraform } = exampleStack("google");
    expect(provider.google).toEqual([
      { project: "sample-project", region: "europe-west1", add_terraform_attribution_label: false },
    ]);
    expect(terraform.required_providers).toEqual({
      google: { source: "hashicorp/google", version: ">= 6.50.0, < 7.0.0" },
    });
  });

  it("labels all that takes labels as the cluster's and the user's", () => {
    const stack = exampleStack("google");
    const labels = { [`kubernetes-io-cluster-${infraID}`]: "owned", team: "platform" };
    const machine = only(stack, "google_compute_instance");
    expect(machine.labels).toEqual(labels);
    expect(machine.boot_disk).toMatchObject({ initialize_params: { labels } });
    expect(only(stack, "google_storage_bucket").labels).toEqual(labels);
  });

  it("tells the operator what comes next", () => {
    const { output } = exampleStack("google");
    const address = "${google_compute_instance.machine.network_interface[0].network_ip}";
    expect(Object.fromEntries(Object.entries(output).map(([name, { value }]) => [name, value]))).toMatchObject({
      bootstrap_private_ip: address,
      bootstrap_machine_id: "${google_compute_instance.machine.id}",
      payload_url: `gs://${infraID}-bootstrap-3e9f8b1c/payload.ign`,
      ssh: `ssh core@${address}`,
      teardown: "npx cdktf destroy 'google-*'",
    });
    expect(output).not.toHaveProperty("bootstrap_public_ip");
  });

  it("is the same for destroying, without install folder and stream", () => {
    const all = exampleStack("google");
    const without = exampleStack(
      "google",
      { project: "sample-project", region: "europe-west1" },
      { infrastructureName: infraID },
      { shape: "none", metadata: null, files: {} },
    );
    const addresses = (stack: typeof all) =>
      Object.entries(stack.resource).map(([type, byId]) => [type, Object.keys(byId)]);
    expect(addresses(without)).toEqual(addresses(all));
    expect(only(without, "google_compute_instance").boot_disk).toMatchObject({
      initialize_params: { image: "projects/placeholder/global/images/placeholder" },
    });
  });

  it("says on every run that an own group is detached before destroying", () => {
    const warningsOf = (options: object) => {
      const project = new Project(changedExample("google", options), { files: exampleOf("google").files });
      try {
        const stack = project.synth()["google-bootstrap"];
        const manifest = readFileSync(join(project.outdir, "manifest.json"), "utf8");
        const { stacks } = JSON.parse(manifest) as {
          stacks: Record<string, { annotations: { level: string; message: string }[] }>;
        };
        return { stack, annotations: stacks["google-bootstrap"]?.annotations };
      } finally {
        project.remove();
      }
    };
    const own = warningsOf({ instanceGroup: undefined, ownInstanceGroup: true });
    expect(own.annotations).toEqual([
      expect.objectContaining({
        message: `Google does not delete the instance group ${infraID}-bootstrap-ig while it is attached to a load balancer. Before you destroy: ${own.stack?.output.detach?.value as string}`,
      }),
    ]);
    expect(warningsOf({}).annotations).toEqual([]);
  });

  it("has no rule and no wait where there is nothing to open or to wait for", () => {
    const stack = exampleStack("google", { identityWaitSeconds: 0 }, { tunnel: "off" });
    expect(resources(stack, "google_compute_firewall")).toEqual([]);
    expect(JSON.stringify(resources(stack, "terraform_data"))).not.toContain("WAIT_SECONDS");
  });
});

describe("docs/google.md", () => {
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));

  it.each(Object.entries(google.schema.shape))("has %s in its table, with its default", (name, field) => {
    const row = rows.find((line) => line.split("|")[1]?.includes(`\`${name}\``));
    expect(row).toBeDefined();
    const parsed = field.safeParse(undefined);
    const value: unknown = parsed.success ? parsed.data : undefined;
    if (["string", "number", "boolean"].includes(typeof value)) expect(row).toContain(`default \`${String(value)}\``);
  });

  it("names no option that is not there", () => {
    const named = rows.flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(named.filter((name) => !(name !== undefined && name in google.schema.shape))).toEqual([]);
  });
});
