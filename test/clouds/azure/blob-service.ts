import { createHmac, randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { ask, type Said } from "../ask.ts";
import type { Certificate } from "../certificate.ts";
import { ensureAzurite } from "./azurite.ts";

/** Apart from the resource manager, which is at the same port. */
export const blobAddress = "127.0.0.2";

/** One storage account's blobs, as azurite, Microsoft's own emulator, keeps them; it judges keys and signed URLs. */
export class BlobService {
  readonly account: string;
  readonly host: string;
  /** Opens everything in it. */
  readonly key = randomBytes(64).toString("base64");
  #process: ChildProcess | undefined;

  constructor(account: string) {
    this.account = account;
    this.host = `${account}.blob.core.windows.net`;
  }

  async start(certificate: Certificate, folder: string): Promise<void> {
    const location = join(folder, "azurite");
    mkdirSync(location);
    const azurite = spawn(
      process.execPath,
      [
        join(ensureAzurite(), "node_modules/azurite/dist/src/blob/main.js"),
        ...["--blobHost", blobAddress, "--blobPort", "443", "--cert", certificate.file, "--key", certificate.keyFile],
        ...["--location", location, "--disableTelemetry", "--skipApiVersionCheck"],
      ],
      {
        env: { ...process.env, AZURITE_ACCOUNTS: `${this.account}:${this.key}` },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    this.#process = azurite;
    await new Promise<void>((resolve, reject) => {
      azurite.once("exit", () => {
        reject(new Error("azurite does not start"));
      });
      azurite.stdout.on("data", (chunk: Buffer) => {
        if (String(chunk).includes("successfully listens")) resolve();
      });
    });
  }

  stop(): void {
    this.#process?.kill();
  }

  /** A call with the account's key. */
  async call(method: string, path: string, body: Buffer = Buffer.alloc(0)): Promise<Said> {
    const headers: Record<string, string> = {
      "x-ms-date": new Date().toUTCString(),
      "x-ms-version": "2021-12-02",
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
    return this.fetch(method, path, { ...headers, Authorization: `SharedKey ${this.account}:${signature}` }, body);
  }

  /** A call as it is. */
  fetch(method: string, path: string, headers: Record<string, string> = {}, body?: Buffer): Promise<Said> {
    return ask({ host: this.host, path, method, headers, body });
  }
}
