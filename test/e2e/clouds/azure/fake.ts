/**
 * Plays Azure's resource manager and its login, as far as the real Terraform provider calls them for the bootstrap
 * stack. It stores what it is told and says the same again, with what Azure adds. Blobs are azurite's.
 *
 * What it does not model: operations take no time and never fail later; no quota, no policy; the operator may do everything,
 * of the other roles only the one that reads blobs is known, and it is there at once; no check of names, sizes, images or
 * addresses, but one priority of a network security group is one rule's; no load balancer behind the backend pools; lists
 * in pages; a deleted account cannot be restored.
 */
import { randomUUID } from "node:crypto";
import { type FakeResponse, type Call, type Json, jsonOf, FakeServer } from "../fake-server.ts";
import type { BlobService } from "./blob-service.ts";
import type { Resource } from "./resource-manager.ts";
import { audiences, claimsIn, operator, tenant, tokenOf } from "./token.ts";

/** Every host name that it answers to. */
export const azureHosts = ["management.azure.com", "login.microsoftonline.com"];

const ok = (body: object = {}): FakeResponse => ({ status: 200, body });
const problem = (status: number, code: string, message: string): FakeResponse => ({
  status,
  body: { error: { code, message } },
});
const lastOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
/** The one built-in role that the stack gives away. */
const roleDefinition = {
  id: "/providers/Microsoft.Authorization/roleDefinitions/2a2b9908-6ea1-4ae2-8e65-a410df84e7d1",
  properties: { roleName: "Storage Blob Data Reader", type: "BuiltInRole" },
};

export class AzureFake extends FakeServer {
  /** Everything, by its id in lower case: Azure does not mind which. */
  readonly #resources = new Map<string, Resource>();
  readonly #customData = new Map<string, string>();
  readonly #blobs: BlobService;

  constructor(blobs: BlobService) {
    super();
    this.#blobs = blobs;
    blobs.refuses = (call) => this.#refusesBlob(call);
  }

  /** A resource that already exists. */
  has(id: string, properties: Json = {}, rest: Json = {}): void {
    this.#resources.set(id.toLowerCase(), {
      ...rest,
      id,
      name: lastOf(id),
      properties: { ...properties, provisioningState: "Succeeded" },
    });
  }

  /** What a machine was given to boot with: only the machine itself can read it, Azure never says it again. */
  customDataOf(machine: string): Buffer {
    return Buffer.from(this.#customData.get(machine.toLowerCase()) ?? "", "base64");
  }

  protected override respond(call: Call): FakeResponse | undefined | Promise<FakeResponse> {
    const { method, host, path, query, headers } = call;
    if (host === "login.microsoftonline.com")
      return path.endsWith("/oauth2/v2.0/token") ? this.#login(call) : undefined;
    if (path.startsWith("/operations/")) return ok({ status: "Succeeded" });
    const claims = claimsIn(headers.authorization);
    if (claims?.oid !== operator || claims.aud !== audiences.manager)
      return problem(401, "AuthenticationFailed", "whose token is this?");
    if (!query.has("api-version")) return problem(400, "MissingApiVersionParameter", "api-version is required");
    const key = path.toLowerCase().replace(/\/$/, "");
    if (method === "GET" && /^\/subscriptions\/[^/]+$/.test(key))
      return ok({ id: path, subscriptionId: lastOf(path), displayName: "sample", state: "Enabled" });
    if (method === "POST") return this.#post(key);
    if (method === "GET") return this.#get(path, key);
    if (/\/blobservices\/default\/containers\/[^/]+$/.test(key)) return this.#container(call, key);
    if (method === "PUT" || method === "PATCH") return this.#put(call, key);
    return method === "DELETE" ? this.#remove(key) : undefined;
  }

  /** Whoever logs in is the operator. */
  #login({ body }: Call): FakeResponse {
    const service = (new URLSearchParams(String(body)).get("scope") ?? "").replace(/\/+\.default.*$/, "");
    return ok({ token_type: "Bearer", expires_in: 86_400, access_token: tokenOf(operator, service) });
  }

  /** What azurite does not check: whether the account takes keys, and what a token's owner may do. */
  #refusesBlob({ method, path, query, headers }: Call): FakeResponse | undefined {
    const account = this.#list(/\/storageaccounts\/[^/]+$/).find(({ name }) => name === this.#blobs.account);
    if (account === undefined) return problem(404, "ResourceNotFound", "The account does not exist");
    const byKey = headers.authorization?.startsWith("SharedKey") === true || query.has("sig");
    if (byKey && account.properties.allowSharedKeyAccess === false)
      return problem(403, "KeyBasedAuthenticationNotPermitted", "The account takes no keys");
    const claims = claimsIn(headers.authorization);
    if (claims === undefined || claims.oid === operator) return undefined;
    const container = `${account.id}/blobServices/default/containers/${path.split("/")[1] ?? ""}`.toLowerCase();
    const mayRead = this.#list(/\/roleassignments\/[^/]+$/).some(
      ({ properties }) =>
        properties.principalId === claims.oid &&
        String(properties.roleDefinitionId).endsWith(lastOf(roleDefinition.id)) &&
        container.startsWith(String(properties.scope).toLowerCase()),
    );
    return mayRead && (method === "GET" || method === "HEAD")
      ? undefined
      : problem(403, "AuthorizationPermissionMismatch", "This identity has no role for that");
  }

  #post(key: string): FakeResponse | undefined {
    if (!key.endsWith("/listkeys")) return undefined;
    const { key: value } = this.#blobs;
    return ok({ keys: ["key1", "key2"].map((keyName) => ({ keyName, value, permissions: "FULL" })) });
  }

  #get(path: string, key: string): FakeResponse | undefined {
    if (key.endsWith("/roledefinitions")) return ok({ value: [roleDefinition] });
    if (key.endsWith(`/roledefinitions/${lastOf(roleDefinition.id)}`)) return ok(roleDefinition);
    const found = this.#resources.get(key);
    if (found !== undefined) return ok({ ...found, properties: { ...found.properties, ...this.#seenIn(key) } });
    if (/\/(blobservices|fileservices)\/default$/.test(key)) return ok({ id: path, properties: {} });
    const [, group] = /^(\/subscriptions\/[^/]+\/resourcegroups\/[^/]+)\/resources$/.exec(key) ?? [];
    if (group !== undefined) return ok({ value: this.#list(new RegExp(`^${group}/providers/[^/]+/[^/]+/[^/]+$`)) });
    const types = (key.split("/providers/").at(-1) ?? "").split("/").length;
    if (types < 2) return undefined;
    // An id has a name behind each type, a list has none behind the last.
    return types % 2 === 1
      ? problem(404, "ResourceNotFound", `${path} was not found`)
      : ok({ value: this.#inside(`${key}/`) });
  }

  /** What Azure shows in a thing but keeps in others. */
  #seenIn(key: string): Json {
    if (/\/networksecuritygroups\/[^/]+$/.test(key)) return { securityRules: this.#inside(`${key}/securityrules/`) };
    if (!/\/backendaddresspools\/[^/]+$/.test(key)) return {};
    type Configuration = Json & { id: string };
    const configurations = this.#list(/\/networkinterfaces\/[^/]+$/).flatMap(
      ({ properties }) => properties.ipConfigurations as Configuration[],
    );
    const members = configurations.filter((one) => JSON.stringify(one).toLowerCase().includes(`"${key}"`));
    return { backendIPConfigurations: members.map(({ id }) => ({ id })) };
  }

  #list(ids: RegExp): Resource[] {
    return [...this.#resources].filter(([key]) => ids.test(key)).map(([, resource]) => resource);
  }

  #inside(prefix: string): Resource[] {
    return [...this.#resources]
      .filter(([key]) => key.startsWith(prefix) && !key.slice(prefix.length).includes("/"))
      .map(([, resource]) => resource);
  }

  async #container({ method, path, body }: Call, key: string): Promise<FakeResponse> {
    if (method === "DELETE") {
      this.#resources.delete(key);
      await this.#blobs.call("DELETE", `/${lastOf(path)}?restype=container`);
      return ok();
    }
    const wanted = JSON.parse(body.toString()) as Json;
    this.has(path, { publicAccess: "None", ...(wanted.properties as Json) });
    const { publicAccess } = this.#resources.get(key)?.properties ?? {};
    const open: Record<string, string> =
      publicAccess === "None" ? {} : { "x-ms-blob-public-access": String(publicAccess).toLowerCase() };
    await this.#blobs.call("PUT", `/${lastOf(path)}?restype=container`, Buffer.alloc(0), open);
    return { status: 201, body: this.#resources.get(key) };
  }

  #put(call: Call, key: string): FakeResponse | undefined {
    const { path, method } = call;
    const before = this.#resources.get(key);
    const body = jsonOf(call);
    if (method === "PATCH" && before === undefined) return problem(404, "ResourceNotFound", `${path} was not found`);
    const properties = { ...(method === "PATCH" && before?.properties), ...(body.properties as Json) };
    const wanted = { ...(method === "PATCH" && before), ...body, properties };
    const type = /.*\/providers\/microsoft\.\w+\/([^/]+)(?:\/[^/]+\/([^/]+))?\/[^/]+$/.exec(key);
    const adders: Record<string, () => FakeResponse | Json> = {
      storageaccounts: () => this.#account(path, wanted),
      networkinterfaces: () => this.#interface(path, wanted),
      virtualmachines: () => this.#machine(path, wanted, before),
      securityrules: () => this.#rule(key, wanted),
      userassignedidentities: () => this.#identity(wanted),
      roleassignments: () => ({
        properties: { ...wanted.properties, scope: path.split("/providers/Microsoft.Auth")[0] },
      }),
    };
    const added = adders[type?.[2] ?? type?.[1] ?? ""]?.();
    if (added === undefined) return undefined;
    if ("status" in added) return added as unknown as FakeResponse;
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
      body: this.#resources.get(key),
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

  #identity(wanted: { properties: Json }): Json {
    const made = { principalId: randomUUID(), clientId: randomUUID(), tenantId: tenant };
    return { properties: { ...made, ...wanted.properties } };
  }

  #rule(key: string, { properties }: { properties: Json }): FakeResponse | Json {
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
    if (before === undefined && customData !== undefined) this.#customData.set(path.toLowerCase(), customData);
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

  #remove(key: string): FakeResponse {
    if (!this.#resources.has(key)) return { status: 204 };
    for (const found of [...this.#resources.keys()])
      if (found === key || found.startsWith(`${key}/`)) this.#resources.delete(found);
    return ok();
  }
}
