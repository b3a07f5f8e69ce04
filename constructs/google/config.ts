import { z } from "zod";
import { firewallCommands } from "./firewall-commands.ts";
import { isIpv6, isNetworkStart } from "../../src/core/addresses.ts";
import { oneOf, pattern, integer, boolean } from "../../src/core/schema/fields.ts";
import { googleLink, googleName, imageLink, type Link, projectId, readLink } from "./resource-link.ts";
import { known, metadataPart } from "../../src/config/metadata.ts";
import {
  accessOptions,
  definePlatform,
  imageFor,
  invalid,
  type PlatformContext,
  refuse,
  required,
  warnOfWorld,
} from "../../src/config/platform.ts";
import type { Architecture, Stream } from "../../src/config/stream.ts";

const googleRegion = () => pattern("a region like europe-west1", /^[a-z]+(-[a-z]+)+\d+$/);
const networkTag = () =>
  googleName("a network tag like prod-x7k2p-master (lower case letters, digits and -, at most 63)");
const kmsKey = () =>
  pattern(
    "a key like projects/my-project/locations/europe-west1/keyRings/my-ring/cryptoKeys/my-key (without a version)",
    /^projects\/[a-z0-9.:-]+\/locations\/[a-z0-9-]+\/keyRings\/[\w-]{1,63}\/cryptoKeys\/[\w-]{1,63}$/,
  );
/** The machine has no IPv6 address. */
const ipv4Network = () => {
  const error = "an IPv4 network with its first address, like 10.0.0.0/16";
  return z.string({ error }).refine((text) => isNetworkStart(text) && !text.includes(":"), { error });
};

/** Names are those of the UPI template `04_bootstrap.tf`, where it has one. */
const schema = z.strictObject(
  {
    project: projectId().optional().describe("Project of the machine. Default: the one in metadata.json."),
    networkProject: projectId()
      .optional()
      .describe(
        "Host project of a shared VPC, in which the rules are created. Default: the one in metadata.json, or project.",
      ),
    region: googleRegion().optional().describe("The cluster's region. Default: the one in metadata.json."),
    zone: pattern("a zone like europe-west1-b", /^[a-z]+(-[a-z]+)+\d+-[a-z0-9]+$/).describe(
      "Zone of the machine, in the region.",
    ),
    clusterNetwork: googleLink("networks", "projects/my-project/global/networks/my-network").describe(
      "The cluster's network, by name or link.",
    ),
    subnet: googleLink("subnetworks", "projects/my-project/regions/europe-west1/subnetworks/my-subnet").describe(
      "The control plane's subnet, by name or link. Its machines must be able to reach the registries and Cloud Storage, for example with Cloud NAT.",
    ),
    publicIp: boolean().default(false).describe("Whether the machine gets a public IP address."),
    controlPlaneTag: networkTag()
      .optional()
      .describe("Network tag of the control plane, which the machine gets too. Default: <infra ID>-master, as in UPI."),
    workerTag: networkTag()
      .optional()
      .describe("Network tag of the workers. Their agents dial the tunnel's port. Default: <infra ID>-worker."),
    networkTags: z
      .array(networkTag(), { error: "a list of at most 10 network tags" })
      .max(10, { error: "a list of at most 10 network tags" })
      .default([])
      .describe("More network tags for the machine, for your own routes or rules."),
    autoRegisterInstanceGroup: boolean()
      .default(true)
      .describe("Whether the machine joins an instance group of the API's load balancer."),
    instanceGroup: googleLink("instanceGroups", "projects/my-project/zones/europe-west1-b/instanceGroups/my-group")
      .optional()
      .describe("The control plane's instance group in this zone, by name or link. It must be unmanaged."),
    ownInstanceGroup: boolean()
      .default(false)
      .describe(
        "Whether the stack creates a separate instance group for the machine. You attach it to the load balancer, and detach it before a destroy.",
      ),
    backendService: googleName("the name of a backend service")
      .optional()
      .describe("Backend service of the separate instance group. Default: <infra ID>-api-internal, as in UPI."),
    image: imageLink().optional().describe("The machine's image. Default: the stream's image."),
    machineType: pattern("a machine type like n2-standard-4", /^[a-z][a-z0-9]*(-[a-z0-9]+)+$/)
      .optional()
      .describe("The machine's type. Default: n2-standard-4, or t2a-standard-4 for aarch64."),
    rootVolumeSize: integer(100, 65536).default(128).describe("Size of the machine's disk in GB."),
    rootVolumeType: oneOf("pd-ssd", "pd-balanced", "hyperdisk-balanced")
      .default("pd-ssd")
      .describe("Type of the machine's disk. Newer machine families support only hyperdisk-balanced."),
    rootVolumeKmsKey: kmsKey().optional().describe("KMS key of the machine's disk. Default: a key of Google."),
    payloadKmsKey: kmsKey().optional().describe("KMS key of the payload. Default: a key of Google."),
    secureBoot: boolean()
      .optional()
      .describe(
        "Whether only signed boot software can run. Needs an image with a signed boot loader. Default: unset; false if another shielded VM option is set.",
      ),
    vtpm: boolean()
      .optional()
      .describe("Whether the machine has a virtual TPM. Default: unset; true if another shielded VM option is set."),
    integrityMonitoring: boolean()
      .optional()
      .describe(
        "Whether Google compares each boot with the first one. Needs vtpm. Default: unset; the value of vtpm if another shielded VM option is set.",
      ),
    serviceAccount: pattern(
      "the email of a service account, like name@my-project.iam.gserviceaccount.com",
      /^[a-z0-9][a-z0-9-]*@([a-z0-9-]+\.)+gserviceaccount\.com$/,
    )
      .optional()
      .describe(
        "Your own service account for the machine. The stack lets it read the payload's bucket. Default: a new one that can read only that bucket.",
      ),
    identityWaitSeconds: integer(0, 900)
      .default(120)
      .describe(
        "How long a deploy waits between granting access to the payload and creating the machine, because a new permission does not work everywhere at once and Ignition does not retry.",
      ),
    bucketName: pattern("a bucket name (3 to 63 lower case letters, digits and -)", /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/)
      .optional()
      .describe("The payload's bucket. Default: <infra ID>-bootstrap-<part of the cluster's ID>."),
    ...accessOptions(ipv4Network),
  },
  { error: "an object with zone, clusterNetwork, …" },
);
export type GoogleConfig = z.output<typeof schema>;

const metadata = metadataPart({
  region: known(googleRegion()),
  projectID: known(projectId()),
  networkProjectID: known(projectId()),
});
type Context = PlatformContext<z.output<typeof metadata>>;

/** Shielded VM options, all three: the provider sends all or none. */
export type ShieldedOptions = Readonly<Record<"secureBoot" | "vtpm" | "integrityMonitoring", boolean>>;

/** What the Google stack is made from: everything in the config, with the defaults filled in and links parsed. */
export interface GoogleInputs extends Omit<GoogleConfig, keyof ShieldedOptions> {
  readonly project: string;
  /** The network's project: the same, or the host project of a shared VPC. */
  readonly networkProject: string;
  readonly region: string;
  /** Name of the network. */
  readonly clusterNetwork: string;
  /** Name of the subnet. */
  readonly subnet: string;
  /** Name of the given instance group. */
  readonly instanceGroup?: string;
  readonly controlPlaneTag: string;
  readonly workerTag: string;
  /** The machine's own network tag: no other machine has it, and no rule of the UPI templates names it. */
  readonly bootstrapTag: string;
  readonly backendService: string;
  readonly image: string;
  readonly machineType: string;
  /** @default - the config sets none of them */
  readonly shielded?: ShieldedOptions;
  /** What 0.1.0 put into the machine's digest for this config: it turned secure boot on by default. */
  readonly secureBootOf010: boolean;
}

function resolve(config: GoogleConfig, context: Context): GoogleInputs {
  const { infraId, architecture, metadata } = context;
  const project = required(
    { given: config.project, ofMetadata: metadata?.projectID },
    context,
    "google.project",
    "the cluster's project",
  );
  const region = required(
    { given: config.region, ofMetadata: metadata?.region },
    context,
    "google.region",
    "the cluster's region",
  );
  const [network, subnet] = [readLink(config.clusterNetwork), readLink(config.subnet)];
  const instanceGroup = config.instanceGroup === undefined ? undefined : readLink(config.instanceGroup);
  const { secureBoot, vtpm, integrityMonitoring, ...rest } = config;
  const resolved = {
    ...rest,
    project,
    networkProject: networkProjectOf(config, network, project, context),
    region,
    clusterNetwork: network.name,
    subnet: subnet.name,
    instanceGroup: instanceGroup?.name,
    controlPlaneTag: config.controlPlaneTag ?? `${infraId}-master`,
    workerTag: config.workerTag ?? `${infraId}-worker`,
    bootstrapTag: `${infraId}-konnectivity`,
    backendService: config.backendService ?? `${infraId}-api-internal`,
    image: imageFor(
      config.image,
      context,
      "google.image",
      (stream) => imageIn(stream, architecture),
      "projects/placeholder/global/images/placeholder",
    ),
    machineType: config.machineType ?? (architecture === "aarch64" ? "t2a-standard-4" : "n2-standard-4"),
    shielded: shieldedOf({ secureBoot, vtpm, integrityMonitoring }, context),
    secureBootOf010: secureBoot ?? architecture === "x86_64",
  };
  checkPlaces(resolved, { network, subnet, instanceGroup }, context);
  checkInstanceGroup(config, context);
  checkKeys(resolved, context);
  checkMachineType(resolved, context);
  checkBucketName(config.bucketName, context);
  checkTags(resolved, context);
  checkLabels(context);
  if (/^\d/.test(context.infraId))
    invalid(context, "infrastructureName", context.infraId, "one that starts with a letter, as Google requires");
  const { fixedAddress } = context;
  if (fixedAddress !== undefined && isIpv6(fixedAddress))
    refuse(
      context,
      { "tunnel.address": fixedAddress, google: undefined },
      "the machine has only an IPv4 address; set one, or `address: detect`",
    );
  warnOfWorld("google", config, context);
  return resolved;
}

/** The stream's image, as a path of Google's API. */
export function imageIn(stream: Stream, architecture: Architecture): string {
  const [project, name] = ["project", "name"].map((key) => stream.get(architecture, "images", "gcp", key));
  if (typeof project === "string" && typeof name === "string") {
    const { data } = imageLink().safeParse(`projects/${project}/global/images/${name}`);
    if (data !== undefined) return data;
  }
  throw stream.lacks(`a Google image for ${architecture}`, "google.image");
}

/** Options that are left out have Google's defaults, as in the provider. */
function shieldedOf(
  config: Readonly<Record<keyof ShieldedOptions, boolean | undefined>>,
  context: PlatformContext,
): ShieldedOptions | undefined {
  if (Object.values(config).every((option) => option === undefined)) return undefined;
  const { secureBoot = false, vtpm = true, integrityMonitoring = vtpm } = config;
  if (integrityMonitoring && !vtpm)
    refuse(
      context,
      { "google.integrityMonitoring": integrityMonitoring, "google.vtpm": vtpm },
      "integrity monitoring compares measurements of the TPM; set `vtpm: true`, or remove integrityMonitoring",
    );
  return { secureBoot, vtpm, integrityMonitoring };
}

/** The config, including the network's link, takes precedence over metadata.json. */
function networkProjectOf(config: GoogleConfig, network: Link, project: string, context: Context): string {
  const given = config.networkProject ?? network.project;
  const ofMetadata = context.metadata?.networkProjectID;
  if (given === undefined && ofMetadata === undefined) return project;
  return required({ given, ofMetadata }, context, "google.networkProject", "the host project of the shared VPC");
}

/** Checks that projects, regions and zones match. Missing ones are reported elsewhere. */
function checkPlaces(
  { project, networkProject, region, zone }: GoogleInputs,
  links: { readonly network: Link; readonly subnet: Link; readonly instanceGroup?: Link },
  context: PlatformContext,
): void {
  const compare = (path: string, found: string | undefined, otherPath: string, wanted: string) => {
    if (found !== undefined && wanted !== "" && found !== wanted)
      refuse(context, [`google.${path}`, `google.${otherPath}`], `it is in ${found}, not in ${wanted}`);
  };
  const { network, subnet, instanceGroup } = links;
  compare("clusterNetwork", network.project, "networkProject", networkProject);
  compare("subnet", subnet.project, "networkProject", networkProject);
  compare("subnet", subnet.location, "region", region);
  compare("instanceGroup", instanceGroup?.project, "project", project);
  compare("instanceGroup", instanceGroup?.location, "zone", zone);
  compare("zone", zone.replace(/-[^-]+$/, ""), "region", region);
}

function checkInstanceGroup(config: GoogleConfig, context: PlatformContext): void {
  const { autoRegisterInstanceGroup, instanceGroup, ownInstanceGroup, backendService } = config;
  const given = {
    ...(instanceGroup !== undefined && { "google.instanceGroup": undefined }),
    ...(ownInstanceGroup && { "google.ownInstanceGroup": true }),
  };
  const groups = Object.keys(given).length;
  if (!autoRegisterInstanceGroup && groups > 0)
    refuse(
      context,
      { "google.autoRegisterInstanceGroup": false, ...given },
      "the machine then joins no instance group; remove the other option",
    );
  else if (groups > 1) refuse(context, given, "the machine joins one instance group; set only one of them");
  else if (autoRegisterInstanceGroup && groups === 0)
    invalid(
      context,
      "google.instanceGroup",
      "missing",
      "the control plane's instance group in the zone (or `ownInstanceGroup: true`, or `autoRegisterInstanceGroup: false`, if the API has another load balancer)",
    );
  if (backendService !== undefined && !ownInstanceGroup)
    refuse(
      context,
      { "google.backendService": undefined, "google.ownInstanceGroup": false },
      "only a separate instance group needs it; set `ownInstanceGroup: true`, or remove backendService",
    );
}

/** A bucket's key must be in the bucket's region. A disk's may also be in a multi-region that contains it. */
function checkKeys({ payloadKmsKey, rootVolumeKmsKey, region }: GoogleInputs, context: PlatformContext): void {
  const compare = (path: string, location: string | undefined) => {
    if (location !== undefined && region !== "" && location !== region)
      refuse(context, [`google.${path}`, "google.region"], `the key is in ${location}, not in ${region}`);
  };
  compare("payloadKmsKey", payloadKmsKey?.split("/")[3]);
  const rootLocation = rootVolumeKmsKey?.split("/")[3];
  compare("rootVolumeKmsKey", /-[a-z]+\d+$/.test(rootLocation ?? "") ? rootLocation : undefined);
}

const armFamilies = ["a4x", "c4a", "n4a", "t2a"];
/** Families without support for persistent disks. */
const hyperdiskFamilies = ["a4", "a4x", "c4", "c4a", "c4d", "h4d", "m4", "n4", "n4a", "n4d", "x4"];

/** Families without support for Hyperdisk Balanced. */
const persistentDiskFamilies = ["e2", "n1", "n2", "n2d"];

function checkMachineType({ machineType, rootVolumeType }: GoogleInputs, context: PlatformContext): void {
  const family = machineType.split("-")[0] ?? "";
  const found = armFamilies.includes(family) ? "aarch64" : "x86_64";
  if (found !== context.architecture)
    refuse(
      context,
      { "google.machineType": machineType, architecture: context.architecture },
      `that machine type is ${found}`,
    );
  if (hyperdiskFamilies.includes(family) && rootVolumeType !== "hyperdisk-balanced")
    refuse(
      context,
      { "google.machineType": machineType, "google.rootVolumeType": rootVolumeType },
      "that family supports only `rootVolumeType: hyperdisk-balanced`",
    );
  if (persistentDiskFamilies.includes(family) && rootVolumeType === "hyperdisk-balanced")
    refuse(
      context,
      { "google.machineType": machineType, "google.rootVolumeType": rootVolumeType },
      "that family supports only pd-ssd and pd-balanced; use one of them, or a machine type like n4-standard-4",
    );
}

function checkBucketName(given: string | undefined, context: PlatformContext): void {
  const refused = (name: string) => name.startsWith("goog") || /g[o0]{2}g[l1]e/.test(name);
  if (given !== undefined && refused(given))
    invalid(context, "google.bucketName", given, "a name without google, which Cloud Storage does not allow in it");
  else if (given === undefined && refused(context.infraId))
    invalid(
      context,
      "google.bucketName",
      "missing",
      `a name, because the default one contains ${context.infraId}, and Cloud Storage does not allow google in a name`,
    );
}

/** A rule for the machine's own tag must apply to the bootstrap machine and to no other. */
function checkTags(inputs: GoogleInputs, context: PlatformContext): void {
  for (const path of ["controlPlaneTag", "workerTag"] as const)
    if (inputs[path] === inputs.bootstrapTag)
      invalid(
        context,
        `google.${path}`,
        inputs[path],
        "another tag, because this one identifies the bootstrap machine",
      );
}

function checkLabels(context: PlatformContext): void {
  const entries = Object.entries(context.tags);
  // The stack adds one label: the cluster's.
  if (entries.length > 63)
    invalid(context, "tags", `an object with ${entries.length} tags`, "at most 63 tags (Google)");
  for (const [key, value] of entries) {
    if (!/^[a-z][a-z0-9_-]{0,62}$/.test(key) || key.startsWith("goog"))
      invalid(
        context,
        `tags.${key}`,
        "a name that Google does not accept",
        "at most 63 lower case letters, digits, _ and -, starting with a letter and not with goog",
      );
    if (!/^[a-z0-9_-]{0,63}$/.test(value))
      invalid(context, `tags.${key}`, JSON.stringify(value), "at most 63 lower case letters, digits, _ and - (Google)");
  }
}

export const google = definePlatform({
  name: "google",
  description: "Google Cloud; see docs/google.md.",
  schema,
  resolve,
  provider: { name: "google", source: "hashicorp/google", versions: ">= 6.50.0, < 7.0.0" },
  metadata: { key: "gcp", schema: metadata },
  placeholders: { zone: "", clusterNetwork: "", subnet: "" },
  usualOptions: ["instanceGroup"],
  usesStream: true,
  firewallCommands,
  reportedFacts: ({ region, machineType }) => ({ region, machineType }),
  example: (infraId) => ({
    options: {
      zone: "europe-west1-b",
      clusterNetwork: `${infraId}-network`,
      subnet: `${infraId}-master-subnet`,
      instanceGroup: `${infraId}-master-europe-west1-b-ig`,
    },
    metadata: { region: "europe-west1", projectID: "example-project" },
    images: { gcp: { release: "9.6", project: "rhcos-cloud", name: "rhcos-9-6-gcp-x86-64" } },
  }),
});
