import { httpRequest } from "../http-request.ts";
import type { Json } from "../fake-server.ts";

/** Anything in Azure. */
export interface Resource extends Json {
  readonly id: string;
  readonly name: string;
  readonly properties: Json;
}

/** Azure's resource manager, asked as its clients ask it: with a token, by the ids of things and of lists. */
export class ResourceManager {
  readonly #operator: Readonly<Record<string, string>>;

  /** @param operator what a user has in the environment */
  constructor(operator: Readonly<Record<string, string>>) {
    this.#operator = operator;
  }

  async get(id: string): Promise<Resource> {
    return (await this.#get(id)) as Resource;
  }

  async list(collection: string): Promise<Resource[]> {
    const { value } = (await this.#get(collection)) as { value: Resource[] };
    return value;
  }

  async #get(id: string): Promise<object> {
    const headers = { Authorization: `Bearer ${await this.tokenFor("https://management.azure.com")}` };
    const path = `${id}?api-version=2025-01-01`;
    const { status, body } = await httpRequest({ host: "management.azure.com", path, headers });
    if (status !== 200) throw new Error(`GET ${id}: ${status} ${String(body)}`);
    return JSON.parse(String(body)) as object;
  }

  /** The operator's own, for one of Azure's services. */
  async tokenFor(service: string): Promise<string> {
    const { ARM_TENANT_ID = "", ARM_CLIENT_ID = "", ARM_CLIENT_SECRET = "" } = this.#operator;
    const form = new URLSearchParams({
      ...{ grant_type: "client_credentials", scope: `${service}/.default` },
      ...{ client_id: ARM_CLIENT_ID, client_secret: ARM_CLIENT_SECRET },
    });
    const { body } = await httpRequest({
      ...{ host: "login.microsoftonline.com", path: `/${ARM_TENANT_ID}/oauth2/v2.0/token`, method: "POST" },
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: Buffer.from(String(form)),
    });
    return (JSON.parse(String(body)) as { access_token: string }).access_token;
  }
}
