import { describe, expect, it } from "vitest";
import {
  changedExample,
  exampleOf,
  metadata,
  mistakesOf,
  Project,
  type ProjectProps,
} from "../../../support/stacks.ts";

const { files } = exampleOf("google");
const { infraID } = metadata;

/** The sentences for the example with other options of google; undefined takes one away. */
const mistakes = (google: object = {}, rest: object = {}, props: ProjectProps = {}) =>
  mistakesOf(changedExample("google", google, rest), { files, ...props });

/** What the stack is made from. */
function inputs(google: object = {}, rest: object = {}, props: ProjectProps = {}) {
  const project = new Project(changedExample("google", google, rest), { files, ...props });
  try {
    return project.inputs();
  } finally {
    project.remove();
  }
}

const api = "https://www.googleapis.com/compute/v1/";
const key = (location = "europe-west1") => `projects/my-project/locations/${location}/keyRings/ring/cryptoKeys/key`;
const host = { ...metadata, gcp: { ...metadata.gcp, networkProjectID: "host-project" } };
const shared = { state: { gcs: { bucket: "state", keyPrefix: "clusters/sample" } }, infrastructureName: infraID };

describe("the google part of a config", () => {
  it("of the example is valid, and its defaults are filled in", () => {
    expect(inputs().platforms.google).toMatchObject({
      project: "sample-project",
      networkProject: "sample-project",
      region: "europe-west1",
      controlPlaneTag: `${infraID}-master`,
      workerTag: `${infraID}-worker`,
      bootstrapTag: `${infraID}-konnectivity`,
      machineType: "n2-standard-4",
      image: "projects/rhcos-cloud/global/images/rhcos-9-6-gcp-x86-64",
      publicIp: false,
      identityWaitSeconds: 120,
    });
    expect(inputs().platforms.google).not.toHaveProperty("shielded", expect.anything());
  });

  it.each([
    [{ secureBoot: true }, { secureBoot: true, vtpm: true, integrityMonitoring: true }],
    [{ secureBoot: false }, { secureBoot: false, vtpm: true, integrityMonitoring: true }],
    [{ vtpm: true }, { secureBoot: false, vtpm: true, integrityMonitoring: true }],
    [{ vtpm: false }, { secureBoot: false, vtpm: false, integrityMonitoring: false }],
    [{ integrityMonitoring: false }, { secureBoot: false, vtpm: true, integrityMonitoring: false }],
    [
      { secureBoot: true, vtpm: false },
      { secureBoot: true, vtpm: false, integrityMonitoring: false },
    ],
  ])("completes shielded VM options with Google's defaults: %j", (google, shielded) => {
    expect(inputs(google).platforms.google?.shielded).toEqual(shielded);
  });

  it("refuses integrity monitoring without a virtual TPM", () => {
    expect(mistakes({ integrityMonitoring: true, vtpm: false })).toEqual([
      "google.integrityMonitoring true and google.vtpm false cannot be combined: integrity monitoring compares measurements of the TPM; set `vtpm: true`, or remove integrityMonitoring.",
    ]);
  });

  it.each<[string, unknown, string]>([
    ["project", "My-Project", 'google.project is "My-Project"; expected a project ID like my-project.'],
    ["project", "abc", "expected a project ID like my-project"],
    ["networkProject", "x/y", "expected a project ID like my-project"],
    ["region", "Belgium", "expected a region like europe-west1"],
    ["region", "europe-west1-b", "expected a region like europe-west1"],
    ["zone", undefined, "google.zone is missing; expected a zone like europe-west1-b."],
    ["zone", "b", "expected a zone like europe-west1-b"],
    [
      "zone",
      "europe-west4-a",
      "google.zone and google.region cannot be combined: it is in europe-west4, not in europe-west1.",
    ],
    ["clusterNetwork", undefined, "google.clusterNetwork is missing; expected a name, or a link like projects/"],
    ["clusterNetwork", "My_Net", "expected a name, or a link like projects/my-project/global/networks/my-network"],
    [
      "clusterNetwork",
      `${api}projects/sample-project/regions/europe-west1/subnetworks/x`,
      "expected a name, or a link",
    ],
    ["clusterNetwork", "http://example.com/projects/sample-project/global/networks/x", "expected a name, or a link"],
    ["subnet", undefined, "google.subnet is missing; expected a name, or a link like projects/"],
    ["subnet", "10.0.0.0/24", "expected a name, or a link like"],
    [
      "subnet",
      "projects/sample-project/regions/us-east1/subnetworks/x",
      "google.subnet and google.region cannot be combined: it is in us-east1, not in europe-west1.",
    ],
    [
      "subnet",
      "projects/host-project/regions/europe-west1/subnetworks/x",
      "google.subnet and google.networkProject cannot be combined: it is in host-project, not in sample-project.",
    ],
    ["publicIp", "yes", "expected true or false"],
    ["controlPlaneTag", "Master", "expected a network tag like prod-x7k2p-master"],
    ["controlPlaneTag", "a".repeat(64), "expected a network tag like"],
    ["controlPlaneTag", "ends-in-", "expected a network tag like"],
    [
      "controlPlaneTag",
      `${infraID}-konnectivity`,
      "expected another tag, because this one identifies the bootstrap machine",
    ],
    ["workerTag", "1st", "expected a network tag like"],
    ["workerTag", "*", "expected a network tag like"],
    ["workerTag", "", "expected a network tag like"],
    ["workerTag", `${infraID}-konnectivity`, "expected another tag, because this one identifies the bootstrap machine"],
    ["networkTags", "x", "expected a list of at most 10 network tags"],
    ["networkTags", ["A"], 'google.networkTags.0 is "A"; expected a network tag like'],
    ["networkTags", Array.from({ length: 11 }, (_, i) => `t${i}`), "expected a list of at most 10 network tags"],
    ["autoRegisterInstanceGroup", "no", "expected true or false"],
    ["instanceGroup", "x_y", "expected a name, or a link like"],
    [
      "instanceGroup",
      "projects/sample-project/zones/europe-west1-c/instanceGroups/x",
      "google.instanceGroup and google.zone cannot be combined: it is in europe-west1-c, not in europe-west1-b.",
    ],
    [
      "instanceGroup",
      "projects/other-project/zones/europe-west1-b/instanceGroups/x",
      "google.instanceGroup and google.project cannot be combined: it is in other-project, not in sample-project.",
    ],
    ["ownInstanceGroup", 1, "expected true or false"],
    ["backendService", "Api", "expected the name of a backend service"],
    ["backendService", "api", "google.backendService and google.ownInstanceGroup false cannot be combined"],
    ["image", "rhcos-9-6", "expected a link like projects/my-project/global/images/my-image"],
    ["image", "projects/rhcos-cloud/images/x", "expected a link like projects/"],
    ["machineType", "standard", "expected a machine type like n2-standard-4"],
    ["machineType", "N2-standard-4", "expected a machine type like n2-standard-4"],
    ["machineType", "t2a-standard-4", "that machine type is aarch64"],
    ["machineType", "c4-standard-4", "that family supports only `rootVolumeType: hyperdisk-balanced`"],
    ["rootVolumeSize", 99, "expected a whole number from 100 to 65536"],
    ["rootVolumeSize", 65537, "expected a whole number from 100 to 65536"],
    ["rootVolumeSize", "128", "expected a whole number from 100 to 65536"],
    [
      "rootVolumeType",
      "hyperdisk-balanced",
      "google.machineType n2-standard-4 and google.rootVolumeType hyperdisk-balanced",
    ],
    ["rootVolumeType", "pd-sdd", "expected pd-ssd or pd-balanced or hyperdisk-balanced"],
    ["rootVolumeKmsKey", "key", "expected a key like projects/my-project/locations/"],
    [
      "rootVolumeKmsKey",
      key("us-east1"),
      "google.rootVolumeKmsKey and google.region cannot be combined: the key is in us-east1, not in europe-west1.",
    ],
    ["payloadKmsKey", `${key()}/cryptoKeyVersions/1`, "expected a key like projects/my-project/locations/"],
    ["payloadKmsKey", key("us-east1"), "the key is in us-east1, not in europe-west1"],
    [
      "payloadKmsKey",
      key("global"),
      "google.payloadKmsKey and google.region cannot be combined: the key is in global, not in europe-west1.",
    ],
    ["secureBoot", "on", "expected true or false"],
    ["vtpm", "on", "expected true or false"],
    ["integrityMonitoring", 1, "expected true or false"],
    ["serviceAccount", "mine", "expected the email of a service account"],
    [
      "serviceAccount",
      "serviceAccount:mine@my-project.iam.gserviceaccount.com",
      "expected the email of a service account",
    ],
    ["serviceAccount", "me@example.com", "expected the email of a service account"],
    ["identityWaitSeconds", -1, "expected a whole number from 0 to 900"],
    ["identityWaitSeconds", 901, "expected a whole number from 0 to 900"],
    ["bucketName", "a", "expected a bucket name"],
    ["bucketName", "My_Bucket", "expected a bucket name"],
    ["bucketName", "a".repeat(64), "expected a bucket name"],
    ["bucketName", "goog-x", "google.bucketName is goog-x; expected a name without google, which"],
    ["bucketName", "my-g00gle-bucket", "expected a name without google, which"],
    ["allowedBootstrapSshCidr", "10.0.0.0/99", "expected an IPv4 network with its first address, like 10.0.0.0/16"],
    ["allowedBootstrapSshCidr", "10.0.3.7/16", "expected an IPv4 network"],
    ["allowedBootstrapSshCidr", "fd00::/48", "expected an IPv4 network"],
    ["allowedBootstrapJournalCidr", "anywhere", "expected an IPv4 network"],
    ["machinetype", "x", "google.machinetype is not an option; did you mean machineType."],
  ])("refuses %s: %j", (option, value, sentence) => {
    expect(mistakes({ [option]: value })).toEqual([expect.stringContaining(sentence)]);
  });

  it.each<[string, object, string]>([
    [
      "no group",
      { instanceGroup: undefined },
      "google.instanceGroup is missing; expected the control plane's instance group in the zone (or `ownInstanceGroup: true`, or `autoRegisterInstanceGroup: false`",
    ],
    [
      "two groups",
      { ownInstanceGroup: true },
      "google.instanceGroup and google.ownInstanceGroup true cannot be combined: the machine joins one instance group",
    ],
    [
      "a group that would not be used",
      { autoRegisterInstanceGroup: false },
      "google.autoRegisterInstanceGroup false and google.instanceGroup cannot be combined: the machine then joins no instance group",
    ],
    [
      "an own group that would not be used",
      { autoRegisterInstanceGroup: false, instanceGroup: undefined, ownInstanceGroup: true },
      "google.autoRegisterInstanceGroup false and google.ownInstanceGroup true cannot be combined",
    ],
    [
      "a network of another project than the one that is named",
      { networkProject: "host-project", clusterNetwork: "projects/other-project/global/networks/x" },
      "google.clusterNetwork and google.networkProject cannot be combined: it is in other-project, not in host-project.",
    ],
  ])("refuses %s", (_, google, sentence) => {
    expect(mistakes(google)).toEqual([expect.stringContaining(sentence)]);
  });

  it("accepts resources by name, by path and by link", () => {
    for (const prefix of ["projects/", `${api}projects/`, "https://compute.googleapis.com/compute/v1/projects/"])
      expect(
        inputs({
          clusterNetwork: `${prefix}sample-project/global/networks/net`,
          subnet: `${prefix}sample-project/regions/europe-west1/subnetworks/sub`,
          instanceGroup: `${prefix}sample-project/zones/europe-west1-b/instanceGroups/group`,
          image: `${prefix}rhcos-cloud/global/images/family/rhcos`,
        }).platforms.google,
      ).toMatchObject({ clusterNetwork: "net", subnet: "sub", instanceGroup: "group" });
  });

  it.each(["n2-standard-4", "n2d-custom-8-32768", "e2-custom-4-8192-ext", "c3-standard-4-lssd", "custom-4-16384"])(
    "takes the machine type %s",
    (machineType) => {
      expect(mistakes({ machineType })).toEqual([]);
      expect(mistakes({ machineType }, { architecture: "aarch64" })).toEqual([
        expect.stringContaining(`google.machineType ${machineType} and architecture aarch64 cannot be combined`),
      ]);
    },
  );

  it.each(["t2a-standard-4", "c4a-standard-4", "n4a-standard-4", "a4x-highgpu-4g"])(
    "recognizes %s as an Arm type",
    (type) => {
      const options = { machineType: type, rootVolumeType: type.startsWith("t2a") ? "pd-ssd" : "hyperdisk-balanced" };
      expect(mistakes(options, { architecture: "aarch64" })).toEqual([]);
      expect(mistakes(options)).toHaveLength(1);
    },
  );

  it("accepts a disk's key in a multi-region too", () => {
    for (const location of ["europe-west1", "europe", "global"])
      expect(mistakes({ rootVolumeKmsKey: key(location) })).toEqual([]);
    expect(mistakes({ payloadKmsKey: key() })).toEqual([]);
  });

  it.each(["google-prod-x7k2p", "my-google-x7k2p", "goog-x7k2p"])(
    "asks for a bucket name if the infra ID is %s",
    (id) => {
      const props = { metadata: { ...metadata, infraID: id } };
      expect(mistakes({}, {}, props)).toEqual([
        `google.bucketName is missing; expected a name, because the default one contains ${id}, and Cloud Storage does not allow google in a name.`,
      ]);
      expect(mistakes({ bucketName: "my-bucket" }, {}, props)).toEqual([]);
    },
  );

  it.each<[string, Record<string, string>, string]>([
    ["capitals in a name", { Team: "x" }, "tags.Team is a name that Google does not accept"],
    ["a digit first", { "1st": "x" }, "tags.1st is a name that Google does not accept"],
    ["a long name", { ["a".repeat(64)]: "x" }, "is a name that Google does not accept"],
    ["a reserved name", { "goog-x": "y" }, "tags.goog-x is a name that Google does not accept"],
    ["capitals in a value", { team: "Platform" }, 'tags.team is "Platform"; expected at most 63 lower case letters'],
    ["a long value", { team: "x".repeat(64) }, "tags.team is"],
    [
      "too many",
      Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`t${i}`, "x"])),
      "tags is an object with 64 tags; expected at most 63 tags (Google)",
    ],
  ])("refuses tags: %s", (_, tags, sentence) => {
    expect(mistakes({}, { tags })).toEqual([expect.stringContaining(sentence)]);
  });

  it("needs project and region from somewhere", () => {
    const { clusterName, infraID } = metadata;
    const without = { clusterName, infraID };
    expect(mistakes({}, {}, { metadata: without })).toEqual([
      "google.project is missing; expected the cluster's project (metadata.json does not contain it).",
      "google.region is missing; expected the cluster's region (metadata.json does not contain it).",
    ]);
    const given = { project: "my-project", region: "europe-west1" };
    expect(mistakes(given, {}, { metadata: without })).toEqual([]);
  });

  it("takes the host project from the config, the network's link or metadata.json", () => {
    const projectOf = (google: object) => inputs(google, {}, { metadata: host }).platforms.google?.networkProject;
    expect(projectOf({})).toBe("host-project");
    expect(projectOf({ networkProject: "my-host" })).toBe("my-host");
    expect(projectOf({ clusterNetwork: "projects/my-host/global/networks/x" })).toBe("my-host");
  });

  it("with a shared state the config says where everything is", () => {
    const given = { project: "sample-project", region: "europe-west1" };
    expect(mistakes(given, shared, { metadata: host })).toEqual([
      "google.networkProject is missing; expected the host project of the shared VPC (required with a shared state, so that a destroy works on any machine; metadata.json has host-project).",
    ]);
    expect(mistakes({ ...given, networkProject: "host-project" }, shared, { metadata: host })).toEqual([]);
    expect(mistakes({}, shared)).toHaveLength(2);
  });

  it("needs an image from somewhere, but not for destroying", () => {
    expect(mistakes({}, { stream: undefined })).toEqual([
      expect.stringContaining("google.image is missing; expected an image, or `stream`"),
    ]);
    expect(mistakes({ image: "projects/my-project/global/images/x" }, { stream: undefined })).toEqual([]);
    expect(inputs({}, { stream: undefined }, { shape: "none" }).platforms.google?.image).toBe(
      "projects/placeholder/global/images/placeholder",
    );
  });

  it("refuses an IPv6 address for the machine", () => {
    expect(mistakes({}, { tunnel: { address: "fd00::5" } })).toContain(
      "tunnel.address fd00::5 and google cannot be combined: the machine has only an IPv4 address; set one, or `address: detect`.",
    );
    expect(mistakes({}, { tunnel: { address: "10.0.1.5" } })).toEqual([]);
  });

  it("warns of ssh and journal that are open to the world", () => {
    const open = { allowedBootstrapSshCidr: "0.0.0.0/0", allowedBootstrapJournalCidr: "0.0.0.0/0" };
    expect(inputs(open).warnings.map(({ message }) => message.split(",")[0])).toEqual([
      "google.allowedBootstrapSshCidr is 0.0.0.0/0",
      "google.allowedBootstrapJournalCidr is 0.0.0.0/0",
    ]);
  });
});
