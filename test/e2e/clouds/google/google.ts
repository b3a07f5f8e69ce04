import { httpRequest } from "../http-request.ts";
import type { Certificate } from "../certificate.ts";
import type { Cloud, Deployed, OpenPort } from "../cloud.ts";
import { MetadataService } from "../metadata-service.ts";
import { accepted } from "../policy/checkov.ts";
import type { Json } from "../fake-server.ts";
import { metadata } from "../../../support/stacks.ts";
import { GoogleFake, operatorToken, tokenOf } from "./fake.ts";

const { infraID } = metadata;
const project = metadata.gcp.projectID;
const region = `projects/${project}/regions/${metadata.gcp.region}`;
const zone = `projects/${project}/zones/${metadata.gcp.region}-b`;
const network = `projects/${project}/global/networks/${infraID}-network`;
const firewalls = `projects/${project}/global/firewalls`;
const group = `${infraID}-master-${metadata.gcp.region}-b-ig`;
const bucket = `${infraID}-bootstrap-${metadata.clusterID.slice(0, 8)}`;
const machine = `${zone}/instances/${infraID}-bootstrap`;
const object = "payload.ign";

/** Asks an API, with the operator's token. */
async function say(host: string, path: string, method = "GET"): Promise<Buffer> {
  const headers = { Authorization: `Bearer ${operatorToken}` };
  const { status, body } = await httpRequest({ host: `${host}.googleapis.com`, path, method, headers });
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${String(body)}`);
  return body;
}
const json = async (...call: Parameters<typeof say>) => JSON.parse(String(await say(...call))) as Json;
const compute = (path: string, method?: string) => json("compute", `/compute/v1/${path}`, method);
const listed = async (answer: Promise<Json>, field = "items") =>
  (((await answer)[field] as Json[] | undefined) ?? []) as Named[];
const membersOf = async (path: string) =>
  (await listed(compute(`${path}/listInstances`, "POST"))).map(({ instance }) => String(instance));

type Named = Json & { readonly name: string };
interface Rule extends Json {
  readonly name: string;
  readonly allowed?: readonly { IPProtocol: string; ports?: string[] }[];
  readonly sourceTags?: readonly string[];
  readonly sourceRanges?: readonly string[];
  readonly targetTags?: readonly string[];
}

/** The cluster's own rule, for machines of which ours is one. */
const clusterRule = `${infraID}-api`;

export class Google implements Cloud {
  readonly name = "google";
  readonly ignitionPlatform = "gcp";
  readonly options = {
    zone: `${metadata.gcp.region}-b`,
    clusterNetwork: `${infraID}-network`,
    subnet: `${infraID}-master-subnet`,
    instanceGroup: group,
    image: "projects/rhcos-cloud/global/images/rhcos-9-6-gcp-x86-64",
    // Permissions take effect at once.
    identityWaitSeconds: 0,
  };
  readonly accepted = accepted.google;
  readonly mistake = { right: '"direction":"INGRESS"', wrong: '"direction":"INWARDS"', said: "direction" };
  readonly otherParts = { machineType: "n2-standard-8", rootVolumeSize: 256 };
  readonly rest = { tunnel: { address: "10.0.1.5" } };
  readonly environment = { GOOGLE_OAUTH_ACCESS_TOKEN: operatorToken, GCE_METADATA_HOST: "127.0.0.1:8080" };
  readonly expected = {
    sources: [`${infraID}-master`, `${infraID}-worker`],
    destination: new RegExp(`^${infraID}-konnectivity$`),
    memberOf: [group],
    clusterTag: { [`kubernetes-io-cluster-${infraID}`]: "owned" },
    pointer: { source: `gs://${bucket}/${object}` },
    store: {
      iamConfiguration: { publicAccessPrevention: "enforced", uniformBucketLevelAccess: { enabled: true } },
      softDeletePolicy: { retentionDurationSeconds: "0" },
    },
  };
  readonly #fake = new GoogleFake(project);

  async start(certificate: Certificate): Promise<void> {
    const fake = this.#fake;
    fake.has(`${region}/subnetworks/${infraID}-master-subnet`, {
      ipCidrRange: "10.0.1.0/24",
      network: `https://www.googleapis.com/compute/v1/${network}`,
    });
    fake.has(`${zone}/instanceGroups/${group}`, { namedPorts: [] }, [`${zone}/instances/${infraID}-master-0`]);
    const rule = (name: string, port: string, tag: string) => {
      const allowed = [{ IPProtocol: "tcp", ports: [port] }];
      fake.has(`${firewalls}/${name}`, { allowed, sourceRanges: ["10.0.0.0/8"], targetTags: [tag] });
    };
    rule(clusterRule, "6443", `${infraID}-master`);
    // A decoy: another cluster's bootstrap, with names that are nearly ours.
    rule(`${infraID}2-bootstrap-konnectivity`, "8091", `${infraID}2-konnectivity`);
    fake.has(`${zone}/instances/${infraID}2-bootstrap`);
    await fake.listen({ address: "127.0.0.1", port: 443, certificate });
    await fake.listen({ address: "127.0.0.1", port: 8080 });
  }

  stop(): Promise<void> {
    return this.#fake.close();
  }

  async everything(): Promise<string[]> {
    const collections = [
      ...["instances", "disks", "instanceGroups"].map((collection) => `${zone}/${collection}`),
      ...[firewalls, `${region}/subnetworks`],
    ];
    const things = (await Promise.all(collections.map((path) => listed(compute(path))))).flat();
    const buckets = await listed(json("storage", `/storage/v1/b?project=${project}`));
    const objects = await Promise.all(buckets.map(({ name }) => listed(json("storage", `/storage/v1/b/${name}/o`))));
    const accounts = await listed(json("iam", `/v1/projects/${project}/serviceAccounts`), "accounts");
    const found = [...things, ...buckets, ...objects.flat(), ...accounts].map((one) => JSON.stringify(one));
    return [...found, ...(await membersOf(`${zone}/instanceGroups/${group}`))].sort();
  }

  unknownCalls(): readonly string[] {
    return this.#fake.unknown;
  }

  async deployed(): Promise<Deployed> {
    const instance = await compute(machine);
    const { items } = instance.metadata as { items: { key: string; value: string }[] };
    const tags = (instance.tags as { items: string[] }).items;
    // A rule without a tag is for every machine.
    const rules = ((await listed(compute(firewalls))) as Rule[]).filter(
      ({ name, targetTags }) => name !== clusterRule && (targetTags?.some((tag) => tags.includes(tag)) ?? true),
    );
    const openPorts = rules.flatMap(({ allowed = [], sourceTags = [], sourceRanges = [], targetTags = [] }) =>
      allowed.map(({ IPProtocol, ports = ["all"] }): OpenPort => ({
        port: `${IPProtocol} ${ports.join()}`,
        sources: [...sourceTags, ...sourceRanges],
        destination: targetTags.join(),
      })),
    );
    const groups: string[] = [];
    for (const { name } of await listed(compute(`${zone}/instanceGroups`)))
      if ((await membersOf(`${zone}/instanceGroups/${name}`)).some((member) => member.endsWith(`/${machine}`)))
        groups.push(name);
    return {
      machine: JSON.stringify(instance),
      userData: Buffer.from(items.find(({ key }) => key === "user-data")?.value ?? ""),
      tags: instance.labels as Record<string, string>,
      openPorts,
      memberOf: groups,
      store: await json("storage", `/storage/v1/b/${bucket}`),
      object: await say("storage", `/storage/v1/b/${bucket}/o/${object}?alt=media`),
    };
  }

  async anonymousStatus(): Promise<number> {
    return (await httpRequest({ host: "storage.googleapis.com", path: `/${bucket}/${object}` })).status;
  }

  flipByte(): void {
    this.#fake.flipByte(bucket, object);
  }

  async metadata(identity: "its own" | "another" | "none"): Promise<MetadataService> {
    const { userData } = await this.deployed();
    const [account] = (await compute(machine)).serviceAccounts as { email: string; scopes: string[] }[];
    const email = identity === "its own" ? account?.email : "other@sample-project.iam.gserviceaccount.com";
    const flavor = { "Metadata-Flavor": "Google" };
    return new MetadataService(({ path }) => {
      const ok = (body: Buffer | object) => ({ status: 200, body, headers: flavor });
      if (path === "/") return ok(Buffer.from("computeMetadata/\n"));
      if (path === "/computeMetadata/v1/project/project-id") return ok(Buffer.from(project));
      if (path === "/computeMetadata/v1/instance/attributes/user-data") return ok(userData);
      if (identity !== "none" && path.endsWith("/service-accounts/default/scopes"))
        return ok(Buffer.from((account?.scopes ?? []).join("\n")));
      if (identity !== "none" && path.endsWith("/service-accounts/default/token"))
        return ok({ access_token: tokenOf(email ?? ""), expires_in: 3600, token_type: "Bearer" });
      return path.includes("/service-accounts/") ? { status: 404, headers: flavor } : undefined;
    });
  }

  when(what: "machine is made" | "machine is removed", then: () => void): void {
    const [method, path] = what === "machine is made" ? ["POST", `${zone}/instances`] : ["DELETE", machine];
    this.#fake.trap((call) => call.method === method && call.path === `/compute/v1/${path}`, then);
  }
}
