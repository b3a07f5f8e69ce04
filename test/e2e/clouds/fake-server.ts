import { createServer as createHttpServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { Certificate } from "./certificate.ts";

/** A request to a fake server. */
export interface Call {
  readonly method: string;
  readonly host: string;
  /** As it was sent. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** The response of a fake server. An object is sent as JSON. */
export interface FakeResponse {
  readonly status: number;
  readonly body?: Buffer | object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Where a fake server listens: a cloud's own port on a loopback address. */
export interface Listening {
  readonly address: string;
  readonly port: number;
  /** @default - plain HTTP */
  readonly certificate?: Certificate;
}

/**
 * A server that imitates a cloud's API. It answers unknown calls with 501 and records them in `unknown`, which a test must
 * find empty: a fake that guesses proves nothing.
 */
export abstract class FakeServer {
  readonly unknown: string[] = [];
  readonly #servers: Server[] = [];
  #trap: { matches: (call: Call) => boolean; spring: () => void } | undefined;

  /** @returns undefined for an unknown call */
  protected abstract respond(call: Call): FakeResponse | undefined | Promise<FakeResponse>;

  async listen({ address, port, certificate }: Listening): Promise<number> {
    const listener: RequestListener = (request, response) => {
      void read(request).then(async (call) => {
        if (this.#trap?.matches(call) === true) {
          const { spring } = this.#trap;
          this.#trap = undefined;
          // Neither carried out nor answered, as if the connection had been cut.
          spring();
          return;
        }
        const { status, body, headers = {} } = (await this.respond(call)) ?? this.#notKnown(call);
        const json = body !== undefined && !Buffer.isBuffer(body);
        response.writeHead(status, { ...(json && { "Content-Type": "application/json" }), ...headers });
        response.end(call.method === "HEAD" ? undefined : json ? JSON.stringify(body) : body);
      });
    };
    const server =
      certificate === undefined
        ? createHttpServer(listener)
        : createHttpsServer({ cert: certificate.certificate, key: certificate.key }, listener);
    this.#servers.push(server);
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, address, resolve));
    return (server.address() as AddressInfo).port;
  }

  /** Calls `spring` at the first call that matches, which is then neither carried out nor answered. */
  trap(matches: (call: Call) => boolean, spring: () => void): void {
    this.#trap = { matches, spring };
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#servers.map((server) => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
      }),
    );
  }

  #notKnown({ method, host, path }: Call): FakeResponse {
    this.unknown.push(`${method} ${host}${path}`);
    return { status: 501, body: { error: { code: 501, message: `The fake does not know ${method} ${path}` } } };
  }
}

async function read(request: IncomingMessage): Promise<Call> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const host = (request.headers.host ?? "").replace(/:\d+$/, "");
  const { pathname, searchParams } = new URL(request.url ?? "/", `https://${host || "none"}`);
  return {
    method: request.method ?? "GET",
    host,
    url: request.url ?? "/",
    path: decodeURIComponent(pathname.replaceAll(/\/{2,}/g, "/")),
    query: searchParams,
    headers: request.headers,
    body: Buffer.concat(chunks),
  };
}

export type Json = Record<string, unknown>;

/** The call's body, or nothing if it has none. */
export const jsonOf = ({ body }: Call): Json => (body.length === 0 ? {} : (JSON.parse(body.toString()) as Json));

/** Waits until a program prints this text to a stream, or fails if it ends before. */
export async function untilItPrints(
  program: ChildProcess,
  stream: Readable,
  text: string,
  name: string,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    program.once("exit", () => {
      reject(new Error(`${name} does not start`));
    });
    stream.on("data", (chunk: Buffer) => {
      if (String(chunk).includes(text)) resolve();
    });
  });
}
