import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makePayload } from "../../src/core/bootstrap.ts";
import { readTunnel } from "../../src/core/konnectivity/options.ts";
import { sampleText } from "../../src/core/sample/sample.ts";
import { withoutHash } from "../support/constructs.ts";
import {
  afterOf,
  type Block,
  changedExample,
  exampleOf,
  exampleStack,
  metadata,
  only,
  Project,
  replacementOf,
  resources,
  type StackJson,
} from "../support/stacks.ts";

const { infraID } = metadata;
const machineOf = (options?: object, rest?: object) =>
  only(exampleStack("google", options, rest), "google_compute_instance");
const faceOf = (machine: Block) => (machine.network_interface as Block[])[0];

describe("google-bootstrap", () => {
  const stack = exampleStack("google");

  it("of the example creates these resources, and no others", () => {
    expect(Object.entries(stack.resource).map(([type, byId]) => [type, Object.keys(byId).length])).toEqual([
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

  it("uses the cluster's project and region, without the provider's own label", () => {
    const { provider, terraform } = stack;
    expect(provider.google).toEqual([
      { project: "sample-project", region: "europe-west1", add_terraform_attribution_label: false },
    ]);
    expect(terraform.required_providers).toEqual({
      google: { source: "hashicorp/google", version: ">= 6.50.0, < 7.0.0" },
    });
  });

  it("labels everything that takes labels with the cluster's and the user's", () => {
    const labels = { [`kubernetes-io-cluster-${infraID}`]: "owned", team: "platform" };
    const machine = only(stack, "google_compute_instance");
    expect(machine.labels).toEqual(labels);
    expect(machine.boot_disk).toMatchObject({ initialize_params: { labels } });
    expect(only(stack, "google_storage_bucket").labels).toEqual(labels);
  });

  it("prints what the operator needs next", () => {
    const { output } = stack;
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

  it("without install folder and stream has the same resources", () => {
    const without = exampleStack(
      "google",
      { project: "sample-project", region: "europe-west1" },
      { infrastructureName: infraID },
      { shape: "none", metadata: null, files: {} },
    );
    const addresses = ({ resource }: StackJson) =>
      Object.entries(resource).map(([type, byId]) => [type, Object.keys(byId)]);
    expect(addresses(without)).toEqual(addresses(stack));
    expect(only(without, "google_compute_instance").boot_disk).toMatchObject({
      initialize_params: { image: "projects/placeholder/global/images/placeholder" },
    });
  });
});

describe("the machine of google-bootstrap", () => {
  const machine = machineOf();

  it("takes image and size from the architecture or from the config", () => {
    const image = (name: string) => ({ initialize_params: { image: `projects/rhcos-cloud/global/images/${name}` } });
    expect(machine).toMatchObject({ machine_type: "n2-standard-4", boot_disk: image("rhcos-9-6-gcp-x86-64") });
    expect(machineOf({}, { architecture: "aarch64" })).toMatchObject({
      machine_type: "t2a-standard-4",
      boot_disk: image("rhcos-9-6-gcp-aarch64"),
    });
    const given = "https://www.googleapis.com/compute/v1/projects/my-project/global/images/mine";
    expect(machineOf({ machineType: "n2d-custom-8-32768", image: given })).toMatchObject({
      machine_type: "n2d-custom-8-32768",
      boot_disk: { initialize_params: { image: given } },
    });
  });

  it("has the config's boot disk", () => {
    expect(machine.boot_disk).toMatchObject({ initialize_params: { size: 128, type: "pd-ssd" } });
    const key = "projects/my-project/locations/global/keyRings/ring/cryptoKeys/key";
    expect(
      machineOf({ rootVolumeSize: 500, rootVolumeType: "pd-balanced", rootVolumeKmsKey: key }).boot_disk,
    ).toMatchObject({ kms_key_self_link: key, initialize_params: { size: 500, type: "pd-balanced" } });
  });

  it.each([
    [{}, undefined],
    [{ secureBoot: true }, [true, true, true]],
    [{ secureBoot: false }, [false, true, true]],
    [{ vtpm: false }, [false, false, false]],
    [{ integrityMonitoring: false }, [false, true, false]],
  ])("has all three shielded VM options if the config sets one, and else none: %j", (options, expected) => {
    const [enable_secure_boot, enable_vtpm, enable_integrity_monitoring] = expected ?? [];
    expect(machineOf(options).shielded_instance_config).toEqual(
      expected && { enable_secure_boot, enable_vtpm, enable_integrity_monitoring },
    );
    if (expected === undefined)
      expect(machineOf({}, { architecture: "aarch64" })).not.toHaveProperty("shielded_instance_config");
  });

  it("has a digest of the shielded VM options with their defaults", () => {
    const digestOf = (options: object) =>
      Object.entries(exampleStack("google", options).resource.terraform_data ?? {}).find(([id]) =>
        id.startsWith("payload_later-parts_"),
      )?.[1].triggers_replace;
    expect(digestOf({ secureBoot: true, vtpm: true })).toEqual(digestOf({ secureBoot: true }));
    expect(digestOf({ secureBoot: false })).not.toEqual(digestOf({ secureBoot: true }));
  });

  // Synthesized with 0.1.0, where secure boot was the default on x86_64. Another digest would replace running machines.
  it.each([
    [{}, "x86_64", "614d8f579fac84e2"],
    [{ secureBoot: true }, "x86_64", "614d8f579fac84e2"],
    [{ secureBoot: false }, "x86_64", "90cd8f9a877320eb"],
    [{}, "aarch64", "9704872a9dc79506"],
    [{ secureBoot: true }, "aarch64", "8627f8b24a54db26"],
    [{ secureBoot: false }, "aarch64", "9704872a9dc79506"],
  ])("has the digest of 0.1.0: %j on %s", (options, architecture, digest) => {
    for (const replaceMachine of [false, true]) {
      const { metadata: entries } = machineOf(options, { architecture, replaceMachine });
      expect((entries as Record<string, string>)["konnectivity-bootstrap-made-of"]).toMatch(
        new RegExp(`^[0-9a-f]{16}-${digest}$`),
      );
    }
  });

  it("boots after the payload is stored and the permission to read it has propagated", () => {
    const after = (block: Block) => afterOf(block).map(withoutHash);
    const wait = (seconds?: number) =>
      exampleStack("google", seconds === undefined ? {} : { identityWaitSeconds: seconds }).resource.terraform_data?.[
        "identity-wait"
      ];
    expect(after(machine)).toEqual([
      "google_storage_bucket_object.payload-store_object",
      "terraform_data.identity-wait",
    ]);
    expect(after(wait() ?? {})).toEqual(["google_storage_bucket_iam_member.payload-reader_read-payload"]);
    expect(JSON.stringify(wait()?.provisioner)).toContain('"WAIT_SECONDS":"120"');
    expect(JSON.stringify(wait(300)?.provisioner)).toContain('"WAIT_SECONDS":"300"');
    expect(wait(0)).toBeUndefined();
    expect(after(machineOf({ identityWaitSeconds: 0 }))).toEqual([
      "google_storage_bucket_object.payload-store_object",
      "google_storage_bucket_iam_member.payload-reader_read-payload",
    ]);
  });

  it("has the control plane's network tag and its own, but never the one that keeps ssh open", () => {
    expect(machine.tags).toEqual([`${infraID}-master`, `${infraID}-konnectivity`]);
    expect(machineOf({ controlPlaneTag: `${infraID}-control-plane`, networkTags: ["egress", "egress"] }).tags).toEqual([
      `${infraID}-control-plane`,
      `${infraID}-konnectivity`,
      "egress",
    ]);
  });

  it("is in the config's subnet, and has a public address only if the config says so", () => {
    expect(machine.zone).toBe("europe-west1-b");
    const subnetIn = (project: string) =>
      `projects/${project}/regions/europe-west1/subnetworks/prod-x7k2p-master-subnet`;
    expect(faceOf(machine)).toEqual({ subnetwork: subnetIn("sample-project") });
    expect(faceOf(machineOf({ networkProject: "host-project" }))?.subnetwork).toBe(subnetIn("host-project"));
    const open = exampleStack("google", { publicIp: true });
    expect(faceOf(only(open, "google_compute_instance"))?.access_config).toEqual([{}]);
    expect(open.output.ssh?.value).toBe(
      'ssh core@${try(coalesce(google_compute_instance.machine.network_interface[0].access_config[0].nat_ip), "")}',
    );
  });

  it("has tunnel.address", () => {
    const fixed = exampleStack("google", {}, { tunnel: { address: "10.0.1.5" } });
    expect(faceOf(only(fixed, "google_compute_instance"))?.network_ip).toBe("10.0.1.5");
    expect(Object.values(fixed.data?.google_compute_subnetwork ?? {})).toEqual([
      expect.objectContaining({ name: "prod-x7k2p-master-subnet", project: "sample-project", region: "europe-west1" }),
    ]);
  });

  it("is replaced by a new payload, or stopped for an update, only with replaceMachine", () => {
    expect(replacementOf(exampleStack("google"))).toEqual({ ignore_changes: ["triggers_replace"] });
    expect(replacementOf(exampleStack("google", {}, { replaceMachine: true }))).not.toHaveProperty("ignore_changes");
    expect(machine.allow_stopping_for_update).toBe(false);
    expect(machineOf({}, { replaceMachine: true }).allow_stopping_for_update).toBe(true);
  });
});

describe("the firewall of google-bootstrap", () => {
  const rulesOf = (options?: object, rest?: object) =>
    resources(exampleStack("google", options, rest), "google_compute_firewall");

  it("allows 8091 from the nodes' network tags", () => {
    const sourcesOf = (options?: object) => rulesOf(options).map(({ source_tags }) => source_tags);
    expect(sourcesOf()).toEqual([[`${infraID}-master`], [`${infraID}-worker`]]);
    expect(sourcesOf({ controlPlaneTag: "masters", workerTag: "workers" })).toEqual([["masters"], ["workers"]]);
    expect(rulesOf({ controlPlaneTag: "nodes", workerTag: "nodes" })).toEqual([
      expect.objectContaining({ name: `${infraID}-bootstrap-konnectivity`, source_tags: ["nodes"] }),
    ]);
    for (const rule of rulesOf())
      expect(rule).toMatchObject({
        allow: [{ protocol: "tcp", ports: ["8091"] }],
        project: "sample-project",
        network: "projects/sample-project/global/networks/prod-x7k2p-network",
        target_tags: [`${infraID}-konnectivity`],
      });
  });

  it("is in the host project of a shared VPC", () => {
    for (const rule of rulesOf({ networkProject: "host-project" }))
      expect(rule).toMatchObject({
        project: "host-project",
        network: "projects/host-project/global/networks/prod-x7k2p-network",
      });
  });

  it.each([
    ["firewall: external", { firewall: "external" }],
    ["tunnel: off", { tunnel: "off" }],
  ])("does not exist with %s", (_, rest) => {
    const stack = exampleStack("google", { identityWaitSeconds: 0 }, rest);
    expect(resources(stack, "google_compute_firewall")).toEqual([]);
    expect(stack.output).not.toHaveProperty("firewall_rules");
    expect(JSON.stringify(resources(stack, "terraform_data"))).not.toContain("WAIT_SECONDS");
  });

  it("with firewall: external, prints the required rule instead", () => {
    const stack = exampleStack("google", {}, { firewall: "external" });
    expect(stack.output.firewall_rule_needed?.value).toMatchObject({
      port: 8091,
      destination: { address: "${google_compute_instance.machine.network_interface[0].network_ip}" },
    });
  });

  it("allows ssh and the journal from the config's networks", () => {
    const options = { allowedBootstrapSshCidr: "192.0.2.0/24", allowedBootstrapJournalCidr: "198.51.100.0/24" };
    expect(rulesOf(options, { tunnel: "off" }).map(({ source_ranges }) => source_ranges)).toEqual([
      ["198.51.100.0/24"],
      ["192.0.2.0/24"],
    ]);
  });

  it("prints the IDs of the rules for 8091, and of no others", () => {
    const { output } = exampleStack("google", { allowedBootstrapSshCidr: "192.0.2.0/24" });
    expect(output.firewall_rules?.value).toEqual([
      expect.stringMatching(/^\$\{google_compute_firewall\.firewall-rule_konnectivity-0_\w+\.id\}$/),
      expect.stringMatching(/^\$\{google_compute_firewall\.firewall-rule_konnectivity-1_\w+\.id\}$/),
    ]);
  });
});

describe("the payload of google-bootstrap", () => {
  const bucketName = `${infraID}-bootstrap-3e9f8b1c`;

  it("is in a bucket named after the cluster or by the config, with the hash that the machine verifies", () => {
    const stack = exampleStack("google");
    const { text } = makePayload(sampleText("4.18"), readTunnel({}), new Date());
    const hash = createHash("sha512").update(text).digest("hex");
    expect(only(stack, "google_storage_bucket").name).toBe(bucketName);
    const { metadata: entries } = only(stack, "google_compute_instance");
    expect(JSON.parse((entries as Record<string, string>)["user-data"] ?? "")).toMatchObject({
      ignition: {
        config: { replace: { source: `gs://${bucketName}/payload.ign`, verification: { hash: `sha512-${hash}` } } },
      },
    });
    const named = exampleStack("google", { bucketName: "mine" });
    expect(only(named, "google_storage_bucket").name).toBe("mine");
    expect(named.output.payload_url?.value).toBe("gs://mine/payload.ign");
  });

  it("is encrypted with the config's key", () => {
    const payloadKmsKey = "projects/my-project/locations/europe-west1/keyRings/ring/cryptoKeys/key";
    expect(only(exampleStack("google", { payloadKmsKey }), "google_storage_bucket").encryption).toEqual({
      default_kms_key_name: payloadKmsKey,
    });
  });

  it.each([
    ["sample-x7k2p", "sample-x7k2p-3e9f8b1c"],
    ["a", "a-3e9f8b1c"],
    ["a-very-long-cluster-n-x7k2p", "a-very-long-cluster-n-3e9f8b1c"],
    ["twenty-characters-xx-x7k2p", "twenty-characters-xx-3e9f8b1c"],
  ])("of %s is read with the service account %s, a valid name", (infraId, accountId) => {
    const stack = exampleStack("google", {}, {}, { metadata: { ...metadata, infraID: infraId } });
    expect(only(stack, "google_service_account").account_id).toBe(accountId);
    expect(accountId).toMatch(/^[a-z][-a-z0-9]{4,28}[a-z0-9]$/);
  });

  it("can be read with the config's service account", () => {
    const serviceAccount = "mine@my-project.iam.gserviceaccount.com";
    const stack = exampleStack("google", { serviceAccount });
    expect(resources(stack, "google_service_account")).toEqual([]);
    expect(only(stack, "google_storage_bucket_iam_member").member).toBe(`serviceAccount:${serviceAccount}`);
    expect(only(stack, "google_compute_instance").service_account).toMatchObject({ email: serviceAccount });
  });
});

describe("the load balancer of google-bootstrap", () => {
  const own = { instanceGroup: undefined, ownInstanceGroup: true };
  const groupOf = (options?: object) =>
    only(exampleStack("google", options), "google_compute_instance_group_membership").instance_group;

  it("gets the machine through the config's instance group, by name or by link", () => {
    const { resource, output } = exampleStack("google");
    expect(groupOf()).toBe("prod-x7k2p-master-europe-west1-b-ig");
    expect(resource).not.toHaveProperty("google_compute_instance_group");
    expect(output).not.toHaveProperty("attach");
    expect(output).not.toHaveProperty("detach");
    const instanceGroup =
      "https://www.googleapis.com/compute/v1/projects/sample-project/zones/europe-west1-b/instanceGroups/masters";
    expect(groupOf({ instanceGroup })).toBe("masters");
  });

  it("gets the machine through a new group, whose commands are printed", () => {
    const stack = exampleStack("google", own);
    expect(only(stack, "google_compute_instance_group")).toMatchObject({
      name: `${infraID}-bootstrap-ig`,
      network: "projects/sample-project/global/networks/prod-x7k2p-network",
    });
    expect(only(stack, "google_compute_instance_group_membership").instance).toBe(
      "${google_compute_instance.machine.self_link}",
    );
    const rest = `--project=sample-project --region=europe-west1 --instance-group=${infraID}-bootstrap-ig --instance-group-zone=europe-west1-b`;
    const { output } = stack;
    expect(output.attach?.value).toBe(`gcloud compute backend-services add-backend ${infraID}-api-internal ${rest}`);
    expect(output.detach?.value).toBe(`gcloud compute backend-services remove-backend ${infraID}-api-internal ${rest}`);
    const named = exampleStack("google", { ...own, backendService: "api" });
    expect(named.output.detach?.value).toContain(" remove-backend api --project");
  });

  it("gets nothing if the config turns it off", () => {
    const stack = exampleStack("google", { instanceGroup: undefined, autoRegisterInstanceGroup: false });
    expect(resources(stack, "google_compute_instance_group_membership")).toEqual([]);
    expect(resources(stack, "google_compute_instance_group")).toEqual([]);
  });

  it("warns on every run that a new group must be detached before destroying", () => {
    const warningsOf = (options: object) => {
      const project = new Project(changedExample("google", options), { files: exampleOf("google").files });
      try {
        const stack = project.synth()["google-bootstrap"];
        const manifest = readFileSync(join(project.outdir, "manifest.json"), "utf8");
        const { stacks } = JSON.parse(manifest) as {
          stacks: Record<string, { annotations: { level: string; message: string }[] }>;
        };
        const annotations = stacks["google-bootstrap"]?.annotations ?? [];
        return { stack, annotations: annotations.filter(({ level }) => level === "@cdktf/warn") };
      } finally {
        project.remove();
      }
    };
    const { annotations, stack } = warningsOf(own);
    expect(annotations).toEqual([
      expect.objectContaining({
        message: `Google does not delete the instance group ${infraID}-bootstrap-ig while it is attached to a load balancer. Before you destroy: ${stack?.output.detach?.value as string}`,
      }),
    ]);
    expect(warningsOf({}).annotations).toEqual([]);
  });
});
