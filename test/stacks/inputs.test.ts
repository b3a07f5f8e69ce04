import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { configFileOf } from "../../stacks/load.ts";
import { changedExample, exampleOf, metadata, mistakesOf, Project, type ProjectProps } from "../support/stacks.ts";

const { files } = exampleOf("aws");
const projects: Project[] = [];
afterAll(() => {
  for (const project of projects) project.remove();
});

function projectWith(rest: object = {}, props: ProjectProps = {}, aws: object = {}): Project {
  const project = new Project(changedExample("aws", aws, rest), { files, ...props });
  projects.push(project);
  return project;
}
const mistakes = (rest: object, props: ProjectProps = {}, aws: object = {}) =>
  mistakesOf(changedExample("aws", aws, rest), { files, ...props });
const s3State = { s3: { bucket: "states", region: "eu-central-1", keyPrefix: "prod" } };

describe("the config file", () => {
  it("is konnectivity.yaml, or the one that the environment names", () => {
    expect(configFileOf({})).toBe("konnectivity.yaml");
    expect(configFileOf({ KONNECTIVITY_CONFIG: "" })).toBe("konnectivity.yaml");
    expect(configFileOf({ KONNECTIVITY_CONFIG: "other.yaml" })).toBe("other.yaml");
  });

  it("that does not exist: the error says how to create one", () => {
    const folder = mkdtempSync(join(tmpdir(), "no-config-"));
    const project = projectWith({}, { folder });
    rmSync(project.configFile);
    expect(() => project.inputs()).toThrow(
      "it does not exist; create it with `npx konnectivity-bootstrap config init <platform>`, or check its name.",
    );
  });

  it("is reported with all its errors at once, of every kind and part", () => {
    expect(
      mistakes(
        { tagz: {}, replaceMachine: "no", stream: "nowhere.json", tunnel: { address: "192.0.2.7" } },
        {},
        { vpcID: "x", publicSubnet: "subnet-0123456789abcdef1", rootVolumeSizeGiB: 1 },
      ),
    ).toEqual([
      expect.stringContaining('replaceMachine is "no"'),
      expect.stringContaining("aws.rootVolumeSizeGiB is 1; expected"),
      expect.stringContaining("aws.vpcID is not an option; did you mean vpcId"),
      expect.stringContaining("tagz is not an option; did you mean tags"),
      expect.stringContaining("nowhere.json cannot be read"),
      expect.stringContaining("tunnel.address is 192.0.2.7; expected an address in the machine networks (10.0.0.0/16)"),
      expect.stringContaining("aws.publicSubnet and aws.privateSubnet cannot be combined"),
    ]);
  });

  it("is checked completely beside an unknown key", () => {
    const wrong = { a: 1, region: "x" };
    expect(mistakes({ ...wrong, stream: undefined }, {}, { publicSubnet: "subnet-0123456789abcdef1" })).toEqual([
      expect.stringContaining("a is not an option"),
      expect.stringContaining("region is not an option"),
      expect.stringContaining("aws.publicSubnet and aws.privateSubnet cannot be combined"),
      expect.stringContaining("aws.rhcosAmi is missing"),
    ]);
  });

  it("is checked completely in a platform that lacks required options", () => {
    const unfilled = { installDir: "ocp", azure: { tags: 1 }, google: { zone: 5 } };
    const said = mistakesOf(unfilled, {});
    for (const option of ["azure.nodeSubnets", "azure.tags", "google.zone", "google.clusterNetwork", "google.subnet"])
      expect(said).toContainEqual(expect.stringMatching(new RegExp(`^${option} is `)));
    for (const option of ["google.instanceGroup", "google.image"])
      expect(said).toContainEqual(expect.stringMatching(new RegExp(`^${option} is missing`)));
  });

  it("is reported once for a damaged metadata.json, and for a damaged bootstrap.ign beside it", () => {
    const said = mistakes({}, { files: { ...files, "ocp/metadata.json": "{", "ocp/bootstrap.ign": "{" } });
    expect(said.filter((sentence) => sentence.includes("metadata.json of openshift-install"))).toHaveLength(1);
    expect(said).toContainEqual(expect.stringContaining("bootstrap.ign is not valid JSON"));
    expect(said).not.toContainEqual(expect.stringContaining("there is no metadata.json"));
  });

  it("is reported once for the install folder of a cluster on another platform", () => {
    const { clusterName, infraID, clusterID } = metadata;
    const onAws = { clusterName, infraID, clusterID, aws: { region: "eu-central-1" } };
    const withAws = (google: object) => mistakesOf(changedExample("google", google), { metadata: onAws, files });
    const said = [
      "installDir is ocp, which is the install folder of a cluster on aws; expected that of a cluster on google.",
    ];
    expect(withAws({})).toEqual(said);
    expect(withAws({ project: undefined, region: undefined })).toEqual(said);
    // A config can have several platforms, and metadata.json can name none of them.
    expect(mistakesOf({ ...changedExample("google"), aws: exampleOf("aws").config.aws }, { metadata: onAws, files })).not.toContainEqual(expect.stringContaining("install folder of a cluster")); // prettier-ignore
    expect(mistakes({}, { metadata: { clusterName, infraID, clusterID } }, { region: "eu-central-1" })).toEqual([]);
  });

  it("is reported once for a wrong value, not for what follows from it", () => {
    expect(mistakes({}, {}, { privateSubnet: "x" })).toHaveLength(1);
    expect(mistakes({}, {}, { internalApiTargetGroupArn: "x" })).toHaveLength(1);
    expect(mistakes({ infrastructureName: "X" })).toHaveLength(1);
  });

  it.each<[string, object, string]>([
    ["a number for a folder", { installDir: 5 }, "installDir is 5; expected a folder."],
    ["an infra ID in capitals", { infrastructureName: "Prod" }, "expected an infra ID like prod-x7k2p"],
    [
      "another cluster's infra ID",
      { infrastructureName: "other-12345" },
      `expected ${metadata.infraID}, the one in metadata.json`,
    ],
    ["an unknown architecture", { architecture: "s390x" }, 'architecture is "s390x"; expected x86_64 or aarch64.'],
    ["a tag that is no text", { tags: { a: 1 } }, "tags.a is 1; expected a string."],
    ["tags that are a list", { tags: ["a"] }, "expected an object with string values"],
    ["an unknown firewall", { firewall: "none" }, 'firewall is "none"; expected managed or external.'],
    ["a version that is none", { providerVersions: { aws: "newest" } }, "expected a version constraint like"],
    [
      "an unknown provider",
      { providerVersions: { azure: "1" } },
      "providerVersions.azure is not an option; did you mean azurerm",
    ],
    [
      "two states",
      { state: { local: {}, ...s3State } },
      "expected an object with exactly one of local, s3, gcs, azurerm",
    ],
    ["no state", { state: {} }, "expected an object with exactly one of local, s3, gcs, azurerm"],
    ["an unknown state", { state: { consul: {} } }, "state.consul is not an option"],
    [
      "half a state",
      { state: { s3: { bucket: "b", region: "eu-central-1" } } },
      "state.s3.keyPrefix is missing; expected a path like",
    ],
    [
      "a state key that is no path",
      { state: { gcs: { bucket: "b", keyPrefix: "/x" } } },
      'state.gcs.keyPrefix is "/x"; expected a path like',
    ],
    [
      "a missing account",
      { state: { azurerm: { resourceGroupName: "a", containerName: "b", keyPrefix: "c" } } },
      "state.azurerm.storageAccountName is missing",
    ],
    [
      "an expression of Terraform",
      { tags: { a: "${file(1)}" } },
      'tags.a is "${file(1)}"; expected a value without ${ and %{.',
    ],
    ["a stream that is none", { stream: "konnectivity.yaml" }, "konnectivity.yaml is not a CoreOS stream"],
    [
      "an address outside the cluster",
      { tunnel: { address: "10.1.0.5" } },
      "expected an address in the machine networks (10.0.0.0/16)",
    ],
  ])("refuses %s", (_, rest, sentence) => {
    expect(mistakes(rest)).toContainEqual(expect.stringContaining(sentence));
  });

  it("reports a damaged bootstrap.ign, and a release that lacks what an option needs", () => {
    expect(mistakes({}, { files: { ...files, "ocp/bootstrap.ign": "{" } })).toEqual([
      expect.stringContaining("bootstrap.ign is not valid JSON"),
    ]);
    expect(mistakes({ tunnel: { transport: "tcp" } })).toEqual([expect.stringContaining("cannot be combined")]);
  });

  it("may name paths from its own folder, wherever it is read from", () => {
    const project = projectWith();
    expect(project.inputs().platforms.aws?.rhcosAmi).toBe("ami-00000000000000864");
    expect(project.inputs().stateFolder).toBe(join(project.folder, ".state"));
  });
});

describe("the cluster", () => {
  it("is what metadata.json says", () => {
    const inputs = projectWith().inputs();
    expect(inputs).toMatchObject({ infraId: metadata.infraID, uniquePart: metadata.clusterID.slice(0, 8) });
    expect(inputs.platforms.aws?.region).toBe("eu-central-1");
  });

  it("can be named by the config if there is no metadata.json", () => {
    const inputs = projectWith(
      { infrastructureName: "prod-x7k2p" },
      { metadata: null },
      { region: "eu-central-1" },
    ).inputs();
    expect(inputs.infraId).toBe("prod-x7k2p");
    expect(inputs.uniquePart).toMatch(/^[0-9a-f]{8}$/);
    expect(mistakes({}, { metadata: null })).toEqual([
      "infrastructureName is missing; expected the cluster's infra ID (there is no metadata.json in ocp, and no copy of it in the state folder).",
      expect.stringContaining("aws.region is missing"),
    ]);
  });

  it("of a damaged metadata.json is an error", () => {
    expect(mistakes({}, { files: { ...files, "ocp/metadata.json": '{"clusterName":"x"}' } })).toContainEqual(
      expect.stringContaining("metadata.json of openshift-install: infraID is missing"),
    );
  });

  it("is saved beside a local state, for when the install folder is gone", () => {
    const project = projectWith();
    project.synth();
    const record = join(project.folder, ".state/cluster.json");
    expect(statSync(record).mode & 0o777).toBe(0o600);
    rmSync(join(project.folder, "ocp"), { recursive: true });
    rmSync(join(project.folder, "coreos-stream.json"));
    const inputs = project.inputs();
    expect(inputs).toMatchObject({ infraId: metadata.infraID, uniquePart: metadata.clusterID.slice(0, 8) });
    expect(inputs.platforms.aws?.region).toBe("eu-central-1");
    expect(inputs.payload).toEqual({
      present: false,
      why: expect.stringMatching(/^there is no bootstrap\.ign in /) as string,
    });
    expect(inputs.warnings).toContainEqual(expect.objectContaining({ code: "destroy-only" }));
    // And the deploy's description still holds what destroying needs, and no payload.
    rmSync(project.outdir, { recursive: true });
    expect(Object.keys(project.synth())).toEqual(["aws-bootstrap", "aws-teardown"]);
    expect(existsSync(join(project.outdir, "stacks/aws-bootstrap/payload.ign"))).toBe(false);
    expect(JSON.parse(readFileSync(record, "utf8"))).toMatchObject({ infraID: metadata.infraID });
  });

  it("does not take another cluster's state for its own", () => {
    const project = projectWith();
    project.synth();
    project.write("ocp/metadata.json", JSON.stringify({ ...metadata, infraID: "other-12345" }));
    expect(project.inputs().infraId).toBe("other-12345");
    project.write(
      ".state/aws-bootstrap.tfstate",
      JSON.stringify({ resources: [{ type: "aws_instance" }] }, undefined, 2),
    );
    expect(() => project.inputs()).toThrow(
      `The state folder .state contains the state of ${metadata.infraID}, which is still deployed, but this cluster is other-12345`,
    );
  });

  it("keeps its state outside the folder that is cleared", () => {
    const project = projectWith({ state: { local: { folder: "cdktf.out/stacks/state" } } });
    expect(() => project.synth()).toThrow(
      "state.local.folder is a folder in the output folder; expected a folder outside it",
    );
    expect(existsSync(join(project.outdir, "stacks/aws-bootstrap/payload.ign"))).toBe(false);
  });

  it("is in the config with a shared state: any machine must be able to destroy", () => {
    expect(mistakes({ state: s3State })).toEqual([
      `infrastructureName is missing; expected ${metadata.infraID} (required with a shared state, so that a destroy works on any machine).`,
      "aws.region is missing; expected the cluster's region (required with a shared state, so that a destroy works on any machine; metadata.json has eu-central-1).",
    ]);
    const said = { state: s3State, infrastructureName: metadata.infraID };
    expect(mistakes(said, {}, { region: "eu-central-1" })).toEqual([]);
    expect(mistakes(said, { shape: "none", metadata: null }, { region: "eu-central-1" })).toEqual([]);
  });
});
