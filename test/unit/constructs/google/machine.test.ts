import { ComputeInstance } from "@cdktf/provider-google/lib/compute-instance/index.js";
import { DataGoogleComputeSubnetwork } from "@cdktf/provider-google/lib/data-google-compute-subnetwork/index.js";
import { describe, expect, it } from "vitest";
import { Machine, type MachineProps } from "../../../../constructs/google/machine.ts";
import { type MachineOptions, MachineSpec } from "../../../../constructs/google/machine-spec.ts";
import { payloadContent, payloadIn, resourceIn, synthScope } from "../../../support/constructs.ts";
import { type Block, only } from "../../../support/stacks.ts";

const options: MachineOptions = {
  image: "projects/rhcos-cloud/global/images/rhcos-9-6-gcp-x86-64",
  size: "n2-standard-4",
  zone: "europe-west1-b",
  subnet: { project: "host-project", region: "europe-west1", name: "master-subnet" },
  publicIp: false,
  rootVolume: { sizeGiB: 128, type: "pd-ssd" },
  secureBootOf010: true,
};

/** A stack with a machine alone. */
function stackWith(changed: Partial<MachineOptions> = {}, props: Partial<MachineProps> = {}, replaceMachine = false) {
  const stack = synthScope((scope) => {
    const payload = payloadIn(scope);
    new Machine(scope, "machine", {
      name: "sample-bootstrap",
      spec: new MachineSpec(scope, "machine-spec", {
        payload,
        replaceMachine,
        options: { ...options, ...changed },
      }),
      payloadUrl: "gs://bucket/payload.ign",
      networkTags: ["sample-master", "sample-konnectivity"],
      serviceAccount: "reader@my-project.iam.gserviceaccount.com",
      dependsOn: [resourceIn(scope, "stored")],
      labels: { team: "platform" },
      ...props,
    });
  });
  return { stack, instance: only(stack, ComputeInstance.tfResourceType) };
}
const faceOf = (instance: Block) => (instance.network_interface as Block[])[0];

describe("the machine on Google Cloud", () => {
  const { stack, instance } = stackWith();

  it("sends no shielded VM option unless one is set", () => {
    expect(instance).not.toHaveProperty("shielded_instance_config");
    expect(Object.keys(stack.check)).toEqual(["machine_has_this_payload", "machine_is_as_configured"]);
  });

  it.each([
    { secureBoot: true, vtpm: true, integrityMonitoring: true },
    { secureBoot: false, vtpm: true, integrityMonitoring: false },
  ])("sends all three shielded VM options and compares them in every plan: %j", (shielded) => {
    const { secureBoot, vtpm, integrityMonitoring } = shielded;
    const made = stackWith({ shielded });
    expect(made.stack).toHaveResourceWithProperties(ComputeInstance, {
      shielded_instance_config: {
        enable_secure_boot: secureBoot,
        enable_vtpm: vtpm,
        enable_integrity_monitoring: integrityMonitoring,
      },
    });
    const found = "google_compute_instance.machine.shielded_instance_config[0]";
    expect(made.stack.check.machine_is_shielded_as_configured).toMatchObject({
      assert: [
        {
          condition: `\${try(${found}.enable_secure_boot, false) == ${String(secureBoot)} && try(${found}.enable_vtpm, false) == ${String(vtpm)} && try(${found}.enable_integrity_monitoring, false) == ${String(integrityMonitoring)}}`,
        },
      ],
    });
  });

  it("ignores the project's ssh keys and has no serial console", () => {
    expect(instance.metadata).toMatchObject({ "block-project-ssh-keys": "TRUE", "serial-port-enable": "FALSE" });
  });

  it("gets a pointer with the payload's hash as user data", () => {
    expect(JSON.parse((instance.metadata as Record<string, string>)["user-data"] ?? "")).toMatchObject({
      ignition: {
        config: {
          replace: {
            source: "gs://bucket/payload.ign",
            verification: { hash: `sha512-${payloadContent.sha512}` },
          },
        },
      },
    });
  });

  it("has a boot disk that is deleted with it", () => {
    expect(instance.boot_disk).toMatchObject({
      auto_delete: true,
      initialize_params: { size: 128, type: "pd-ssd", image: options.image, labels: { team: "platform" } },
    });
    expect(instance.boot_disk).not.toHaveProperty("kms_key_self_link");
    const kmsKey = "projects/my-project/locations/global/keyRings/ring/cryptoKeys/key";
    expect(stackWith({ rootVolume: { sizeGiB: 500, type: "pd-balanced", kmsKey } }).instance.boot_disk).toMatchObject({
      kms_key_self_link: kmsKey,
      initialize_params: { size: 500, type: "pd-balanced" },
    });
  });

  it("has the size, zone, network tags and labels that it is given", () => {
    expect(stack).toHaveResourceWithProperties(ComputeInstance, {
      name: "sample-bootstrap",
      machine_type: "n2-standard-4",
      zone: "europe-west1-b",
      tags: ["sample-master", "sample-konnectivity"],
      labels: { team: "platform" },
    });
  });

  it("can use only the storage API, read-only, with its service account", () => {
    expect(instance.service_account).toEqual({
      email: "reader@my-project.iam.gserviceaccount.com",
      scopes: ["https://www.googleapis.com/auth/devstorage.read_only"],
    });
  });

  it("boots after what it depends on", () => {
    expect(instance.depends_on).toEqual(["terraform_data.stored"]);
  });

  it("is in the subnet, with a public address only if wanted", () => {
    expect(faceOf(instance)).toEqual({
      subnetwork: "projects/host-project/regions/europe-west1/subnetworks/master-subnet",
    });
    expect(faceOf(stackWith({ publicIp: true }).instance)?.access_config).toEqual([{}]);
  });

  it("is changed neither by another payload nor by other options, and replaced only by its spec", () => {
    const trigger = (id: string) => expect.stringMatching(new RegExp(`^terraform_data\\.payload_${id}_`)) as string;
    expect(instance.lifecycle).toEqual({
      ignore_changes: [
        'metadata["user-data"]',
        ...["boot_disk", "machine_type", "network_interface"],
        ...["service_account", "shielded_instance_config", "zone", 'metadata["konnectivity-bootstrap-made-of"]'],
      ],
      replace_triggered_by: [trigger("replacement"), trigger("later-parts")],
    });
    expect(stackWith({}, {}, true).instance.lifecycle).toEqual(instance.lifecycle);
  });

  it("is stopped for an update only if it may be replaced", () => {
    expect(instance.allow_stopping_for_update).toBe(false);
    expect(stackWith({}, {}, true).instance.allow_stopping_for_update).toBe(true);
  });

  it("can be deleted", () => {
    expect(instance.deletion_protection).toBe(false);
  });

  it("has the fixed address, if the subnet contains it and Google does not reserve it", () => {
    const fixed = stackWith({ fixedAddress: "10.0.1.5" });
    expect(faceOf(fixed.instance)?.network_ip).toBe("10.0.1.5");
    expect(Object.values(fixed.stack.data?.[DataGoogleComputeSubnetwork.tfResourceType] ?? {})).toEqual([
      expect.objectContaining({ name: "master-subnet", project: "host-project", region: "europe-west1" }),
    ]);
    const { precondition } = fixed.instance.lifecycle as {
      precondition: { condition: string; error_message: string }[];
    };
    const [free] = precondition;
    expect(free?.condition).toMatch(/for n in \[data\.google_compute_subnetwork\.[\w-]+\.ip_cidr_range\] :/);
    expect(free?.condition).toContain("for i in [0, 1, -2, -1] :");
    expect(free?.error_message).toContain("(Google keeps the first two and the last two)");
  });
});
