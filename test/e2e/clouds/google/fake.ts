/**
 * Plays Google's APIs: Compute Engine, Cloud Storage and IAM, as far as the real Terraform provider and real Ignition call
 * them for the bootstrap stack. It stores what it is told and says the same again, with what Google adds.
 *
 * What it does not model: operations take no time and never fail later; no quota, no organization policy, no check of
 * names, sizes, images, networks or addresses; a permission is there at once; no IAM on the operator's own calls; roles
 * other than objectViewer, and permissions of single objects; one generation of an object; lists in pages; no load balancer
 * behind the instance groups.
 */
import { createHash } from "node:crypto";
import { type FakeResponse, type Call, type Json, jsonOf, FakeServer } from "../fake-server.ts";

/** Every host name that it answers to. */
export const googleHosts = [
  "compute.googleapis.com",
  "storage.googleapis.com",
  "iam.googleapis.com",
  "openidconnect.googleapis.com",
  "www.googleapis.com",
];

/** Links in answers begin with this, whatever host was asked: the provider compares them. */
const links = "https://www.googleapis.com/compute/v1/";
const projectNumber = "123456789012";
const created = "2026-01-01T00:00:00Z";
const done: FakeResponse = { status: 200, body: { kind: "compute#operation", name: "operation-1", status: "DONE" } };

interface StoredObject {
  readonly description: Json;
  bytes: Buffer;
}
interface Policy extends Json {
  bindings?: { role: string; members: string[] }[];
}

export const operatorToken = "operator";

/** The token that the metadata service gives to a machine with this account. */
export const tokenOf = (email: string) => `token of ${email}`;

const problem = (status: number, message: string): FakeResponse => ({
  status,
  body: { error: { code: status, message, errors: [{ reason: status === 404 ? "notFound" : "refused", message }] } },
});
const ok = (body: object = {}): FakeResponse => ({ status: 200, body });
const lastOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
const asLink = (path: string) => (path.startsWith("https://") ? path : `${links}${path}`);

/** Whether a policy lets everybody in. */
const isPublic = ({ bindings = [] }: Policy) =>
  bindings.some(({ members }) => members.some((member) => ["allUsers", "allAuthenticatedUsers"].includes(member)));

/** What Compute Engine has lists of here. */
const collections = ["instances", "instanceGroups", "firewalls", "disks", "subnetworks"];

export class GoogleFake extends FakeServer {
  /** Everything in Compute Engine, by its path from "projects/" on. */
  readonly #things = new Map<string, Json>();
  readonly #buckets = new Map<string, Json>();
  readonly #policies = new Map<string, Policy>();
  readonly #objects = new Map<string, StoredObject>();
  readonly #accounts = new Map<string, Json>();
  /** The instances of each group, as links. */
  readonly #members = new Map<string, string[]>();
  readonly #project: string;

  constructor(project: string) {
    super();
    this.#project = project;
  }

  protected override respond(call: Call): FakeResponse | undefined {
    const { host, path, headers } = call;
    const api = /^(\/upload)?\/(compute|storage)\/v1\//.test(path) || host === "iam.googleapis.com";
    if (api && headers.authorization !== `Bearer ${operatorToken}`) return problem(401, "Whose token is this?");
    if (path.startsWith("/compute/v1/")) return this.#compute(call, path.slice("/compute/v1/".length));
    if (path.startsWith("/upload/storage/v1/b/")) return this.#upload(call);
    if (path.startsWith("/storage/v1/b")) return this.#storage(call, path.split("/").slice(4));
    if (host === "storage.googleapis.com") return this.#fetch(call);
    if (host === "iam.googleapis.com") return this.#account(call);
    // The provider asks whether it runs on a machine of Google's. It does not.
    if (path.startsWith("/computeMetadata/")) return { status: 404 };
    // Who the operator is: the provider only writes it into its log.
    if (path.endsWith("/userinfo")) return ok({ email: "operator@example.com" });
    return undefined;
  }

  /**
   * A resource that already exists.
   * @param members paths of a group's instances
   */
  has(path: string, description: Json = {}, members: readonly string[] = []): void {
    this.#things.set(path, { name: lastOf(path), selfLink: `${links}${path}`, ...description });
    if (path.includes("/instanceGroups/")) this.#members.set(path, members.map(asLink));
  }

  /** Changes one byte of an object, without a trace in any API. */
  flipByte(bucket: string, name: string): void {
    const bytes = this.#objects.get(`${bucket}/${name}`)?.bytes;
    if (bytes !== undefined) bytes[100] = (bytes[100] ?? 0) ^ 1;
  }

  #compute(call: Call, path: string): FakeResponse | undefined {
    const { method } = call;
    const parts = path.split("/");
    const collection = parts.at(-2) ?? "";
    if (method === "GET" && parts.length === 4 && (parts[2] === "zones" || parts[2] === "regions"))
      return ok({ name: parts[3], selfLink: `${links}${path}`, status: "UP" });
    // The provider wants to know whose number a bucket has.
    if (method === "GET" && path === `projects/${projectNumber}`) return ok({ name: this.#project });
    const makers: Record<string, (wanted: Json, parent: string) => Json> = {
      instances: (wanted, parent) => this.#newInstance(wanted, parent),
      instanceGroups: (wanted, parent) => this.#newGroup(wanted, parent),
      firewalls: (wanted) => ({ priority: 1000, ...wanted }),
    };
    const make = makers[parts.at(-1) ?? ""];
    if (method === "POST" && make !== undefined) {
      const wanted = jsonOf(call);
      const key = `${path}/${String(wanted.name)}`;
      if (this.#things.has(key)) return problem(409, `The resource '${key}' already exists`);
      const parent = parts.slice(0, -1).join("/");
      this.#things.set(key, {
        ...make(wanted, parent),
        id: "42",
        selfLink: `${links}${key}`,
        creationTimestamp: created,
      });
      return done;
    }
    if (method === "POST") return this.#change(call, parts.slice(0, -1).join("/"), parts.at(-1) ?? "");
    if (method === "GET" && collections.includes(parts.at(-1) ?? "")) return ok({ items: this.#list(`${path}/`) });
    const found = this.#things.get(path);
    const known = collections.includes(collection);
    if (found === undefined) return known ? problem(404, `The resource '${path}' was not found`) : undefined;
    if (method === "GET")
      return ok(this.#members.has(path) ? { ...found, size: this.#members.get(path)?.length } : found);
    if (method === "PATCH" && collection === "firewalls") {
      this.#things.set(path, { ...found, ...jsonOf(call) });
      return done;
    }
    return method === "DELETE" ? this.#remove(path) : undefined;
  }

  #list(prefix: string): Json[] {
    return [...this.#things].filter(([path]) => path.startsWith(prefix)).map(([, thing]) => thing);
  }

  #newInstance(wanted: Json, parent: string): Json {
    const name = String(wanted.name);
    const [disk] = wanted.disks as Json[];
    const parameters = (disk?.initializeParams ?? {}) as Record<string, string>;
    const diskPath = `${parent}/disks/${name}`;
    this.has(diskPath, {
      sizeGb: parameters.diskSizeGb,
      type: `${links}${parent}/diskTypes/${lastOf(parameters.diskType ?? "")}`,
      sourceImage: asLink(parameters.sourceImage ?? ""),
      labels: parameters.labels,
    });
    return {
      // What Google sets for an image with UEFI_COMPATIBLE if nobody asks for anything.
      shieldedInstanceConfig: { enableSecureBoot: false, enableVtpm: true, enableIntegrityMonitoring: true },
      ...wanted,
      zone: `${links}${parent}`,
      status: "RUNNING",
      fingerprint: "x=",
      labelFingerprint: "x=",
      metadata: { ...(wanted.metadata as Json), fingerprint: "x=" },
      tags: { ...(wanted.tags as Json), fingerprint: "x=" },
      networkInterfaces: (wanted.networkInterfaces as Json[]).map((face) => ({
        networkIP: "10.0.1.77",
        name: "nic0",
        stackType: "IPV4_ONLY",
        ...face,
        network: `${links}projects/sample-project/global/networks/sample`,
        subnetwork: asLink(String(face.subnetwork)),
        accessConfigs: (face.accessConfigs as Json[] | undefined)?.map((access) => ({
          natIP: "203.0.113.9",
          networkTier: "PREMIUM",
          ...access,
        })),
      })),
      disks: [
        {
          boot: true,
          autoDelete: disk?.autoDelete,
          deviceName: "persistent-disk-0",
          index: 0,
          mode: "READ_WRITE",
          type: "PERSISTENT",
          source: `${links}${diskPath}`,
        },
      ],
    };
  }

  #newGroup(wanted: Json, parent: string): Json {
    this.#members.set(`${parent}/instanceGroups/${String(wanted.name)}`, []);
    return { namedPorts: [], ...wanted, zone: `${links}${parent}`, fingerprint: "x=" };
  }

  /** What is done to something that exists. */
  #change(call: Call, path: string, verb: string): FakeResponse | undefined {
    const found = this.#things.get(path);
    const wanted = jsonOf(call);
    const members = this.#members.get(path);
    if (members !== undefined) {
      const named = ((wanted.instances ?? []) as { instance: string }[]).map(({ instance }) => asLink(instance));
      if (verb === "listInstances") return ok({ items: members.map((instance) => ({ instance, status: "RUNNING" })) });
      if (verb === "addInstances") this.#members.set(path, [...members, ...named]);
      else if (verb === "removeInstances")
        this.#members.set(
          path,
          members.filter((member) => !named.includes(member)),
        );
      else return undefined;
      return done;
    }
    const attribute = { setMetadata: "metadata", setLabels: "labels", setTags: "tags" }[verb];
    if (found === undefined || attribute === undefined) return undefined;
    this.#things.set(path, { ...found, [attribute]: verb === "setLabels" ? wanted.labels : wanted });
    return done;
  }

  #remove(path: string): FakeResponse {
    this.#things.delete(path);
    this.#members.delete(path);
    // Deleting an instance deletes its disk and removes it from its groups.
    this.#things.delete(path.replace("/instances/", "/disks/"));
    for (const [group, instances] of this.#members)
      this.#members.set(
        group,
        instances.filter((instance) => !instance.endsWith(`/${path}`)),
      );
    return done;
  }

  #storage(call: Call, [bucket = "", kind, ...rest]: readonly string[]): FakeResponse | undefined {
    const { method } = call;
    const found = this.#buckets.get(bucket);
    if (bucket === "" && method === "GET") return ok({ items: [...this.#buckets.values()] });
    if (bucket === "") return method === "POST" ? this.#newBucket(call) : undefined;
    if (found === undefined) return problem(404, `The bucket ${bucket} does not exist`);
    const inside = [...this.#objects].filter(([name]) => name.startsWith(`${bucket}/`));
    switch (kind) {
      case undefined:
        if (method === "GET") return ok(found);
        if (method === "PATCH") {
          this.#buckets.set(bucket, { ...found, ...jsonOf(call) });
          return ok(this.#buckets.get(bucket));
        }
        if (method !== "DELETE") return undefined;
        if (inside.length > 0) return problem(409, "The bucket is not empty");
        this.#buckets.delete(bucket);
        this.#policies.delete(bucket);
        return { status: 204 };
      case "iam":
        return this.#policy(call, bucket, found);
      // The provider looks for whatever else could prevent a bucket's deletion.
      case "anywhereCaches":
      case "managedFolders":
        return ok({ items: [] });
      case "o":
        return rest.length === 0
          ? ok({ items: inside.map(([, object]) => object.description) })
          : this.#object(call, `${bucket}/${rest.join("/")}`);
      default:
        return undefined;
    }
  }

  #newBucket(call: Call): FakeResponse {
    const wanted = jsonOf(call);
    const name = String(wanted.name);
    if (this.#buckets.has(name)) return problem(409, `The bucket ${name} already exists`);
    const bucket = {
      softDeletePolicy: { retentionDurationSeconds: "604800" },
      storageClass: "STANDARD",
      ...wanted,
      id: name,
      location: String(wanted.location).toUpperCase(),
      projectNumber,
      selfLink: `https://www.googleapis.com/storage/v1/b/${name}`,
      timeCreated: created,
      updated: created,
    };
    this.#buckets.set(name, bucket);
    this.#policies.set(name, { kind: "storage#policy", bindings: [], etag: "x=", version: 1 });
    return ok(bucket);
  }

  #policy(call: Call, name: string, { iamConfiguration }: Json): FakeResponse | undefined {
    if (call.method === "GET") return ok(this.#policies.get(name));
    if (call.method !== "PUT") return undefined;
    const policy: Policy = { ...jsonOf(call), etag: "x=" };
    if ((iamConfiguration as Json | undefined)?.publicAccessPrevention === "enforced" && isPublic(policy))
      return problem(412, "Public access prevention is enforced");
    this.#policies.set(name, policy);
    return ok(policy);
  }

  #object({ method, query }: Call, path: string): FakeResponse | undefined {
    const found = this.#objects.get(path);
    if (found === undefined) return problem(404, `The object ${path} does not exist`);
    if (method === "GET" && query.get("alt") === "media") return { status: 200, body: found.bytes };
    if (method === "GET") return ok(found.description);
    if (method !== "DELETE") return undefined;
    this.#objects.delete(path);
    return { status: 204 };
  }

  /** Two parts in one request: the description and the bytes. */
  #upload({ method, path, query, headers, body }: Call): FakeResponse | undefined {
    const bucket = path.split("/")[5] ?? "";
    const boundary = /boundary="?([^";]+)/.exec(headers["content-type"] ?? "")?.[1];
    if (method !== "POST" || query.get("uploadType") !== "multipart" || boundary === undefined) return undefined;
    if (!this.#buckets.has(bucket)) return problem(404, `The bucket ${bucket} does not exist`);
    const [, first = "", second = ""] = body.toString("latin1").split(`--${boundary}`);
    const contentOf = (part: string) => Buffer.from(part.slice(part.indexOf("\r\n\r\n") + 4, -2), "latin1");
    const wanted = JSON.parse(contentOf(first).toString()) as Json;
    const name = query.get("name") ?? String(wanted.name);
    const bytes = contentOf(second);
    const description = {
      ...wanted,
      name,
      bucket,
      id: `${bucket}/${name}/1`,
      generation: "1",
      metageneration: "1",
      storageClass: "STANDARD",
      size: String(bytes.length),
      md5Hash: createHash("md5").update(bytes).digest("base64"),
      crc32c: "AAAAAA==",
      selfLink: `https://www.googleapis.com/storage/v1/b/${bucket}/o/${name}`,
      mediaLink: `https://storage.googleapis.com/${bucket}/${name}`,
    };
    this.#objects.set(`${bucket}/${name}`, { description, bytes });
    return ok(description);
  }

  /** As Ignition does: the bytes, if the caller's account may read them. */
  #fetch({ method, path, headers }: Call): FakeResponse | undefined {
    if (method !== "GET") return undefined;
    const [, bucket = ""] = path.split("/");
    const found = this.#objects.get(path.slice(1));
    const token = headers.authorization?.replace("Bearer ", "");
    const policy = this.#policies.get(bucket);
    if (policy !== undefined && isPublic(policy)) return { status: 200, body: found?.bytes };
    if (token === undefined) return problem(401, "Anonymous caller does not have storage.objects.get access");
    const readers = policy?.bindings?.filter(({ role }) => role === "roles/storage.objectViewer");
    const allowed = readers?.some(({ members }) =>
      members.some((member) => member.startsWith("serviceAccount:") && token === tokenOf(member.split(":")[1] ?? "")),
    );
    if (allowed !== true) return problem(403, "The caller does not have storage.objects.get access");
    return found === undefined ? problem(404, "No such object") : { status: 200, body: found.bytes };
  }

  #account(call: Call): FakeResponse | undefined {
    const [, project, email] = /^\/v1\/projects\/([^/]+)\/serviceAccounts(?:\/([^/]+))?$/.exec(call.path) ?? [];
    if (project === undefined) return undefined;
    if (email === undefined) {
      if (call.method === "GET") return ok({ accounts: [...this.#accounts.values()] });
      if (call.method !== "POST") return undefined;
      const wanted = jsonOf(call);
      const made = `${String(wanted.accountId)}@${project}.iam.gserviceaccount.com`;
      const account = {
        displayName: "",
        ...(wanted.serviceAccount as Json),
        name: `projects/${project}/serviceAccounts/${made}`,
        email: made,
        projectId: project,
        uniqueId: "1".repeat(21),
      };
      this.#accounts.set(made, account);
      return ok(account);
    }
    const found = this.#accounts.get(email);
    if (found === undefined) return problem(404, `Service account ${email} does not exist`);
    if (call.method === "GET") return ok(found);
    if (call.method !== "DELETE") return undefined;
    this.#accounts.delete(email);
    return ok();
  }
}
