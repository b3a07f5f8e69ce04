import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makePayload } from "../../../../src/core/bootstrap.ts";
import { readTunnel } from "../../../../src/core/konnectivity/options.ts";
import { sampleText } from "../../../../src/core/sample/sample.ts";
import {
  afterOf,
  type Block,
  exampleStack,
  metadata,
  only,
  type ProjectProps,
  replacementOf,
  type StackJson,
} from "../../../support/stacks.ts";

const { infraID } = metadata;
const machineOf = (options?: object, rest?: object, props?: ProjectProps) =>
  only(exampleStack("google", options, rest, props), "google_compute_instance");
const faceOf = (machine: Block) => (machine.network_interface as Block[])[0];
const diskOf = (machine: Block) => machine.boot_disk as Block;
/** What replaces the machine when it changes: of the resource whose id begins like this. */
function triggersOf(stack: StackJson, id: string): Block {
  const found = Object.entries(stack.resource.terraform_data ?? {}).filter(([name]) => name.startsWith(id));
  expect(found).toHaveLength(1);
  return found[0]?.[1].triggers_replace as Block;
}

describe("the machine on Google", () => {
  const machine = machineOf();

  it("sends no shielded VM option unless the config sets one", () => {
    const untouched = exampleStack("google");
    expect(machine).not.toHaveProperty("shielded_instance_config");
    expect(machineOf({}, { architecture: "aarch64" })).not.toHaveProperty("shielded_instance_config");
    expect(Object.keys(untouched.check)).toEqual(["machine_has_this_payload", "machine_is_as_configured"]);
  });

  it.each([
    [{ secureBoot: true }, [true, true, true]],
    [{ secureBoot: false }, [false, true, true]],
    [{ vtpm: false }, [false, false, false]],
    [{ integrityMonitoring: false }, [false, true, false]],
  ])("sends all three shielded VM options if one is set: %j", (options, [secureBoot, vtpm, integrityMonitoring]) => {
    const stack = exampleStack("google", options);
    expect(only(stack, "google_compute_instance").shielded_instance_config).toEqual({
      enable_secure_boot: secureBoot,
      enable_vtpm: vtpm,
      enable_integrity_monitoring: integrityMonitoring,
    });
    const found = "google_compute_instance.machine.shielded_instance_config[0]";
    expect(stack.check.machine_is_shielded_as_configured).toMatchObject({
      assert: [
        {
          condition: `\${try(${found}.enable_secure_boot, false) == ${String(secureBoot)} && try(${found}.enable_vtpm, false) == ${String(vtpm)} && try(${found}.enable_integrity_monitoring, false) == ${String(integrityMonitoring)}}`,
        },
      ],
    });
  });

  // Of a synthesis with 0.1.0, where secure boot was the default on x86_64. Another digest replaces running machines.
  it.each([
    [{}, "x86_64", "614d8f579fac84e2"],
    [{ secureBoot: true }, "x86_64", "614d8f579fac84e2"],
    [{ secureBoot: false }, "x86_64", "90cd8f9a877320eb"],
    [{}, "aarch64", "9704872a9dc79506"],
    [{ secureBoot: true }, "aarch64", "8627f8b24a54db26"],
    [{ secureBoot: false }, "aarch64", "9704872a9dc79506"],
  ])("has the digest that 0.1.0 computed: %j on %s", (options, architecture, digest) => {
    for (const replaceMachine of [false, true]) {
      const stack = exampleStack("google", options, { architecture, replaceMachine });
      expect(triggersOf(stack, "payload_replacement_")).toMatchObject({ machine: digest });
      const { "konnectivity-bootstrap-made-of": record } = only(stack, "google_compute_instance").metadata as Block;
      expect(record).toMatch(new RegExp(`^[0-9a-f]{16}-${digest}$`));
    }
  });

  it("has the shielded VM options in a digest of their own, so that a change can replace it", () => {
    const digestOf = (options: object) => triggersOf(exampleStack("google", options), "payload_later-parts_").machine;
    const digests = [{}, { secureBoot: true }, { secureBoot: false }, { vtpm: false }].map(digestOf);
    expect(new Set(digests).size).toBe(4);
    expect(digestOf({ secureBoot: true, vtpm: true })).toBe(digestOf({ secureBoot: true }));
  });

  it("knows no ssh keys of the project, and no serial port", () => {
    expect(machine.metadata).toMatchObject({ "block-project-ssh-keys": "TRUE", "serial-port-enable": "FALSE" });
  });

  it("gets a pointer with the payload's hash as user data", () => {
    const { text } = makePayload(sampleText("4.18"), readTunnel({}), new Date());
    const hash = createHash("sha512").update(text).digest("hex");
    const bucket = `${infraID}-bootstrap-${metadata.clusterID.slice(0, 8)}`;
    expect(JSON.parse((machine.metadata as Record<string, string>)["user-data"] ?? "")).toMatchObject({
      ignition: {
        config: { replace: { source: `gs://${bucket}/payload.ign`, verification: { hash: `sha512-${hash}` } } },
      },
    });
  });

  it("has a disk that goes with it, of the template's size or as given", () => {
    expect(diskOf(machine)).toMatchObject({ auto_delete: true, initialize_params: { size: 128, type: "pd-ssd" } });
    expect(diskOf(machine)).not.toHaveProperty("kms_key_self_link");
    const key = "projects/my-project/locations/global/keyRings/ring/cryptoKeys/key";
    expect(
      diskOf(machineOf({ rootVolumeSize: 500, rootVolumeType: "pd-balanced", rootVolumeKmsKey: key })),
    ).toMatchObject({ kms_key_self_link: key, initialize_params: { size: 500, type: "pd-balanced" } });
  });

  it("takes image and size by the architecture, or as given", () => {
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

  it("boots after the payload is there, and after the permission to read it had time to spread", () => {
    const after = (block: Block) => afterOf(block).map((address) => address.replace(/_[0-9A-F]+$/, ""));
    expect(after(machine)).toEqual([
      "google_storage_bucket_object.payload-store_object",
      "terraform_data.identity-wait",
    ]);
    const wait = exampleStack("google").resource.terraform_data?.["identity-wait"] ?? {};
    expect(after(wait)).toEqual(["google_storage_bucket_iam_member.payload-reader_read-payload"]);
    expect(JSON.stringify(wait.provisioner)).toContain('"WAIT_SECONDS":"120"');
  });

  it("waits as long as the config says, or not at all", () => {
    const wait = (seconds: number) =>
      exampleStack("google", { identityWaitSeconds: seconds }).resource.terraform_data?.["identity-wait"];
    expect(JSON.stringify(wait(300)?.provisioner)).toContain('"WAIT_SECONDS":"300"');
    expect(wait(0)).toBeUndefined();
    expect(afterOf(machineOf({ identityWaitSeconds: 0 }))).toEqual([
      expect.stringMatching(/^google_storage_bucket_object\./),
      expect.stringMatching(/^google_storage_bucket_iam_member\./),
    ]);
  });

  it("carries the control plane's tag and one of its own, never the one that opens ssh for good", () => {
    expect(machine.tags).toEqual([`${infraID}-master`, `${infraID}-konnectivity`]);
    expect(machineOf({ controlPlaneTag: `${infraID}-control-plane`, networkTags: ["egress", "egress"] }).tags).toEqual([
      `${infraID}-control-plane`,
      `${infraID}-konnectivity`,
      "egress",
    ]);
  });

  it("is in the subnet, without a public address unless wanted", () => {
    expect(machine.zone).toBe("europe-west1-b");
    expect(faceOf(machine)).toEqual({
      subnetwork: "projects/sample-project/regions/europe-west1/subnetworks/prod-x7k2p-master-subnet",
    });
    const open = exampleStack("google", { publicIp: true });
    expect(faceOf(only(open, "google_compute_instance"))?.access_config).toEqual([{}]);
    expect(open.output.ssh?.value).toBe(
      'ssh core@${try(coalesce(google_compute_instance.machine.network_interface[0].access_config[0].nat_ip), "")}',
    );
  });

  it("is in the host project's subnet of a shared VPC", () => {
    expect(faceOf(machineOf({ networkProject: "host-project" }))?.subnetwork).toBe(
      "projects/host-project/regions/europe-west1/subnetworks/prod-x7k2p-master-subnet",
    );
  });

  it("is left alone by a new payload, image or label, and never stopped, unless it may be replaced", () => {
    const trigger = expect.stringMatching(/^terraform_data\./) as string;
    expect(machine.lifecycle).toEqual({
      ignore_changes: [
        'metadata["user-data"]',
        ...["boot_disk", "machine_type", "network_interface"],
        ...["service_account", "shielded_instance_config", "zone", 'metadata["konnectivity-bootstrap-made-of"]'],
      ],
      replace_triggered_by: [trigger, trigger],
    });
    expect(machine.allow_stopping_for_update).toBe(false);
    const replaceable = exampleStack("google", {}, { replaceMachine: true });
    expect(only(replaceable, "google_compute_instance")).toMatchObject({
      lifecycle: machine.lifecycle,
      allow_stopping_for_update: true,
    });
    expect(replacementOf(exampleStack("google"))).toEqual({ ignore_changes: ["triggers_replace"] });
    expect(replacementOf(replaceable)).not.toHaveProperty("ignore_changes");
  });

  it("can be deleted, and so can its disk", () => {
    expect(machine.deletion_protection).toBe(false);
    expect(diskOf(machine).auto_delete).toBe(true);
  });

  it("has the address that the config fixes, and Terraform checks that it is free to have in the subnet", () => {
    const fixed = exampleStack("google", {}, { tunnel: { address: "10.0.1.5" } });
    expect(faceOf(only(fixed, "google_compute_instance"))?.network_ip).toBe("10.0.1.5");
    expect(Object.values(fixed.data?.google_compute_subnetwork ?? {})).toEqual([
      expect.objectContaining({ name: "prod-x7k2p-master-subnet", project: "sample-project", region: "europe-west1" }),
    ]);
    const { precondition } = only(fixed, "google_compute_instance").lifecycle as {
      precondition: { condition: string; error_message: string }[];
    };
    const [free] = precondition;
    expect(free?.condition).toMatch(/for n in \[data\.google_compute_subnetwork\.[\w-]+\.ip_cidr_range\] :/);
    expect(free?.condition).toContain("for i in [0, 1, -2, -1] :");
    expect(free?.error_message).toContain("(Google keeps the first two and the last two)");
  });
});
