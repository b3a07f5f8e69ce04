import { createHmac, randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { type ChildProcess, spawn } from "node:child_process";
import type { OutgoingHttpHeaders } from "node:http";
import { join } from "node:path";
import { httpRequest, type Response } from "../http-request.ts";
import type { Certificate } from "../certificate.ts";
import { type FakeResponse, type Call, FakeServer, untilItPrints } from "../fake-server.ts";
import { ensureAzurite } from "./azurite.ts";

/** Apart from the resource manager, which is at the same port. */
export const blobAddress = "127.0.0.2";

/** Where azurite listens, behind our proxy. */
const azuriteAt = { address: "127.0.0.3", port: 10_000 };

/**
 * One storage account's blobs, as azurite, Microsoft's own emulator, keeps them. It judges keys, signed URLs and whether a
 * token is for it; what azurite does not know, whether the account takes keys and who has which role, is judged before.
 */
export class BlobService extends FakeServer {
  readonly account: string;
  readonly host: string;
  /** Gives access to everything in it. */
  readonly key = randomBytes(64).toString("base64");
  /** Refuses a call before azurite sees it. */
  refuses: (call: Call) => FakeResponse | undefined = () => undefined;
  #process: ChildProcess | undefined;

  constructor(account: string) {
    super();
    this.account = account;
    this.host = `${account}.blob.core.windows.net`;
  }

  async start(certificate: Certificate, folder: string): Promise<void> {
    const location = mkdtempSync(join(folder, "azurite-"));
    const azurite = spawn(
      process.execPath,
      [
        join(ensureAzurite(), "node_modules/azurite/dist/src/blob/main.js"),
        ...["--blobHost", azuriteAt.address, "--blobPort", String(azuriteAt.port), "--oauth", "basic"],
        ...["--cert", certificate.file, "--key", certificate.keyFile],
        ...["--location", location, "--disableTelemetry", "--skipApiVersionCheck"],
      ],
      {
        env: { ...process.env, AZURITE_ACCOUNTS: `${this.account}:${this.key}` },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    this.#process = azurite;
    await untilItPrints(azurite, azurite.stdout, "successfully listens", "azurite");
    await this.listen({ address: blobAddress, port: 443, certificate });
  }

  override async close(): Promise<void> {
    this.#process?.kill();
    await super.close();
  }

  protected override async respond(call: Call): Promise<FakeResponse> {
    const refusal = this.refuses(call);
    if (refusal !== undefined) return refusal;
    const { status, headers, body } = await this.#azurite(call.method, call.url, call.headers, call.body);
    // Calls that azurite does not implement.
    if (status === 501) this.unknown.push(`${call.method} ${this.host}${call.url}`);
    const { connection: _, "transfer-encoding": __, ...rest } = headers;
    return { status, headers: rest, body };
  }

  #azurite(method: string, path: string, headers: OutgoingHttpHeaders, body?: Buffer): Promise<Response> {
    const { address, port } = azuriteAt;
    const to = { host: address, https: { port, servername: this.host } };
    return httpRequest({ ...to, method, path, headers: { ...headers, host: this.host }, body });
  }

  /** A call with the account's key, even if the account does not accept keys. */
  async call(
    method: string,
    path: string,
    body: Buffer = Buffer.alloc(0),
    more: Record<string, string> = {},
  ): Promise<Response> {
    const headers: Record<string, string> = {
      "x-ms-date": new Date().toUTCString(),
      "x-ms-version": "2021-12-02",
      ...more,
      ...(method === "PUT" && !path.includes("restype=") && { "x-ms-blob-type": "BlockBlob" }),
    };
    const { pathname, searchParams } = new URL(path, `https://${this.host}`);
    const length = body.length === 0 ? "" : String(body.length);
    const canonicalHeaders = Object.entries(headers)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => `${name}:${value}\n`);
    const canonicalQuery = [...searchParams].sort().map(([name, value]) => `\n${name}:${value}`);
    const text = [
      method,
      "",
      "",
      length,
      ...Array<string>(8).fill(""),
      `${canonicalHeaders.join("")}/${this.account}${pathname}${canonicalQuery.join("")}`,
    ].join("\n");
    const signature = createHmac("sha256", Buffer.from(this.key, "base64")).update(text).digest("base64");
    return this.#azurite(method, path, { ...headers, Authorization: `SharedKey ${this.account}:${signature}` }, body);
  }

  /** Forwards a call unchanged. */
  fetch(method: string, path: string, headers: Record<string, string> = {}, body?: Buffer): Promise<Response> {
    return httpRequest({ host: this.host, path, method, headers, body });
  }
}
