/**
 * Plays Azure's resource manager and its login, as far as the real Terraform provider calls them for the bootstrap stack
 * with `pointer: sas`. It stores what it is told and says the same again, with what Azure adds. Blobs are azurite's.
 *
 * What it does not model: operations take no time and never fail later; no quota, no policy, no roles: every token may do
 * everything; no check of names, sizes, images or addresses, but one priority of a network security group is one rule's;
 * identities and role assignments; no load balancer behind the backend pools; a deleted account cannot be restored.
 */
import { randomUUID } from "node:crypto";
import { type Answer, type Call, type Json, jsonOf, StandIn } from "../stand-in.ts";
import type { BlobService } from "./blob-service.ts";

/** Every host name that it answers to. */
export const azureHosts = ["management.azure.com", "login.microsoftonline.com"];

interface Resource extends Json {
  readonly id: string;
  readonly name: string;
  readonly properties: Json;
}

const ok = (body: object = {}): Answer => ({ status: 200, body });
const problem = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { code, message } },
});
const lastOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
/** The operator's token: the provider reads who it is from it, and nobody verifies it. */
const token = [{ alg: "none" }, { tid: randomUUID(), oid: randomUUID(), appid: randomUUID(), exp: 9_999_999_999 }]
  .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
  .join(".")
  .concat(".x");

export class AzureStandIn extends StandIn {
  /** Everything, by its id in lower case: Azure does not mind which. */
  readonly resources = new Map<string, Resource>();
  /** What the machines were given to boot with, which Azure never says again. */
  readonly customData = new Map<string, string>();
  readonly #blobs: BlobService;

  constructor(blobs: BlobService) {
    super();
    this.#blobs = blobs;
  }

  /** Something that the cluster's owner has already. */
  has(id: string, properties: Json = {}, rest: Json = {}): void {
    this.resources.set(id.toLowerCase(), {
      ...rest,
      id,
      name: lastOf(id),
      properties: { ...properties, provisioningState: "Succeeded" },
    });
  }

  protected override answer(call: Call): Answer | undefined | Promise<Answer> {
    const { method, host, path } = call;
    if (host === "login.microsoftonline.com")
      return path.endsWith("/oauth2/v2.0/token")
        ? ok({ token_type: "Bearer", expires_in: 86_400, access_token: token })
        : undefined;
    if (path.startsWith("/operations/")) return ok({ status: "Succeeded" });
    const key = path.toLowerCase().replace(/\/$/, "");
    if (method === "GET" && /^\/subscriptions\/[^/]+$/.test(key))
      return ok({ id: path, subscriptionId: lastOf(path), displayName: "sample", state: "Enabled" });
    if (method === "POST") return this.#post(key);
    if (method === "GET") return this.#get(path, key);
    if (/\/blobservices\/default\/containers\/[^/]+$/.test(key)) return this.#container(call, key);
    if (method === "PUT" || method === "PATCH") return this.#put(call, key);
    return method === "DELETE" ? this.#remove(key) : undefined;
  }

  #post(key: string): Answer | undefined {
    if (!key.endsWith("/listkeys")) return undefined;
    const { key: value } = this.#blobs;
    return ok({ keys: ["key1", "key2"].map((keyName) => ({ keyName, value, permissions: "FULL" })) });
  }

  #get(path: string, key: string): Answer | undefined {
    const found = this.resources.get(key);
    if (/\/networksecuritygroups\/[^/]+$/.test(key) && found !== undefined)
      return ok({
        ...found,
        properties: { ...found.properties, securityRules: this.#inside(`${key}/securityrules/`) },
      });
    if (found !== undefined) return ok(found);
    if (/\/(blobservices|fileservices)\/default$/.test(key)) return ok({ id: path, properties: {} });
    // An id has a name behind each type.
    const names = (key.split("/providers/").at(-1) ?? "").split("/").length % 2 === 1;
    return names ? problem(404, "ResourceNotFound", `${path} was not found`) : undefined;
  }

  #inside(prefix: string): Resource[] {
    return [...this.resources].filter(([key]) => key.startsWith(prefix)).map(([, resource]) => resource);
  }

  async #container({ method, path, body }: Call, key: string): Promise<Answer> {
    if (method === "DELETE") {
      this.resources.delete(key);
      await this.#blobs.call("DELETE", `/${lastOf(path)}?restype=container`);
      return ok();
    }
    const wanted = JSON.parse(body.toString()) as Json;
    this.has(path, { publicAccess: "None", ...(wanted.properties as Json) });
    await this.#blobs.call("PUT", `/${lastOf(path)}?restype=container`);
    return { status: 201, body: this.resources.get(key) };
  }

  #put(call: Call, key: string): Answer | undefined {
    const { path, method } = call;
    const before = this.resources.get(key);
    const body = jsonOf(call);
    if (method === "PATCH" && before === undefined) return problem(404, "ResourceNotFound", `${path} was not found`);
    const properties = { ...(method === "PATCH" && before?.properties), ...(body.properties as Json) };
    const wanted = { ...(method === "PATCH" && before), ...body, properties };
    const type = /\/providers\/microsoft\.\w+\/([^/]+)(?:\/[^/]+\/([^/]+))?\/[^/]+$/.exec(key);
    const adders: Record<string, () => Answer | Json> = {
      storageaccounts: () => this.#account(path, wanted),
      networkinterfaces: () => this.#interface(path, wanted),
      virtualmachines: () => this.#machine(path, wanted, before),
      securityrules: () => this.#rule(key, wanted),
    };
    const added = adders[type?.[2] ?? type?.[1] ?? ""]?.();
    if (added === undefined) return undefined;
    if ("status" in added) return added as unknown as Answer;
    const { properties: more, ...rest } = { ...wanted, ...added } as { properties: Json };
    this.has(path, more, rest);
    // An account must be there at once, other things may say when they are.
    const later = {
      "Azure-AsyncOperation": "https://management.azure.com/operations/1?api-version=1",
      "Retry-After": "0",
    };
    const account = type?.[1] === "storageaccounts";
    return {
      status: before === undefined && !account ? 201 : 200,
      body: this.resources.get(key),
      headers: account ? {} : later,
    };
  }

  #account(path: string, wanted: { properties: Json } & Json): Json {
    const blob = `https://${lastOf(path)}.blob.core.windows.net/`;
    return {
      type: "Microsoft.Storage/storageAccounts",
      sku: { ...(wanted.sku as Json), tier: "Standard" },
      properties: {
        accessTier: "Hot",
        ...wanted.properties,
        primaryEndpoints: { blob },
        primaryLocation: wanted.location,
        statusOfPrimary: "available",
      },
    };
  }

  #rule(key: string, { properties }: { properties: Json }): Answer | Json {
    const same = this.#inside(key.slice(0, key.lastIndexOf("/") + 1)).find(
      (rule) =>
        rule.id.toLowerCase() !== key &&
        rule.properties.priority === properties.priority &&
        rule.properties.direction === properties.direction,
    );
    return same === undefined ? {} : problem(400, "SecurityRuleConflict", `${same.name} has the same priority`);
  }

  #interface(path: string, wanted: { properties: Json }): Json {
    const given = (configuration: Json) => ({
      privateIPAddress: configuration.privateIPAddressVersion === "IPv6" ? "fd00:10::7" : "10.0.0.7",
      ...configuration,
    });
    return {
      properties: {
        ...wanted.properties,
        macAddress: "00-00-00-00-00-01",
        ipConfigurations: (wanted.properties.ipConfigurations as { name: string; properties: Json }[]).map((one) => ({
          ...one,
          id: `${path}/ipConfigurations/${one.name}`,
          properties: given(one.properties),
        })),
      },
    };
  }

  #machine(path: string, wanted: { properties: Json } & Json, before: Resource | undefined): Json {
    const { customData, ...osProfile } = wanted.properties.osProfile as Record<string, string>;
    const storage = wanted.properties.storageProfile as { osDisk: Json & { name: string } };
    if (before === undefined && customData !== undefined) this.customData.set(path.toLowerCase(), customData);
    const group = path.slice(0, path.indexOf("/providers/"));
    const disk = `${group}/providers/Microsoft.Compute/disks/${storage.osDisk.name}`;
    this.has(disk, { diskSizeGB: storage.osDisk.diskSizeGB }, { location: wanted.location });
    const { additionalCapabilities: _, ...rest } = wanted.properties;
    return {
      properties: {
        ...rest,
        osProfile,
        vmId: before?.properties.vmId ?? randomUUID(),
        storageProfile: {
          ...storage,
          osDisk: { ...storage.osDisk, managedDisk: { ...(storage.osDisk.managedDisk as Json), id: disk } },
        },
      },
    };
  }

  #remove(key: string): Answer {
    if (!this.resources.has(key)) return { status: 204 };
    for (const found of [...this.resources.keys()])
      if (found === key || found.startsWith(`${key}/`)) this.resources.delete(found);
    return ok();
  }
}
