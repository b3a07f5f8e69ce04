import { createHash } from "node:crypto";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";

/** A server on the loopback address that does with each request what the test says. */
export interface TestServer {
  readonly port: number;
  /** The paths that were asked for, in order. */
  readonly requests: readonly string[];
  readonly close: () => Promise<void>;
}

export type Answer = (response: ServerResponse, path: string) => void;

export function serve(answer: Answer, tls?: { readonly key: string; readonly cert: string }): Promise<TestServer> {
  const requests: string[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push(request.url ?? "");
    answer(response, request.url ?? "");
  };
  return listening(tls === undefined ? createServer(listener) : createTlsServer(tls, listener), requests);
}

/** A proxy for CONNECT that leads to one port, whatever it is asked for; its requests are the hosts. */
export function proxyTo(port: number): Promise<TestServer> {
  const requests: string[] = [];
  const proxy = createServer().on("connect", (request, client: Socket, head) => {
    requests.push(request.url ?? "");
    const target = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      target.write(head);
      target.pipe(client).pipe(target);
    });
    for (const socket of [target, client]) socket.on("error", () => target.destroy());
  });
  return listening(proxy, requests);
}

async function listening(server: Server, requests: readonly string[]): Promise<TestServer> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
      for (const socket of sockets) socket.destroy();
    });
  return { port: (server.address() as AddressInfo).port, requests, close };
}

/** A gzipped tar archive with these files. */
export async function archiveOf(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const archive = pack();
  for (const [name, text] of Object.entries(files)) archive.entry({ name }, text);
  archive.finalize();
  const parts: Uint8Array[] = [];
  for await (const part of archive) parts.push(part as Uint8Array);
  return gzipSync(Buffer.concat(parts));
}

export const digestOf = (content: Buffer, algorithm = "sha256") =>
  `${algorithm}:${createHash(algorithm).update(content).digest("hex")}`;

/** Everything that a registry has of an image with these layers, the lowest first, by path below the repository. */
export function registryOf(layers: readonly Buffer[], architecture: string) {
  const blobs = layers.map((layer) => [`/blobs/${digestOf(layer)}`, layer] as const);
  const manifest = Buffer.from(JSON.stringify({ layers: layers.map((layer) => ({ digest: digestOf(layer) })) }));
  const platforms = [
    { digest: `sha256:${"0".repeat(64)}`, platform: { os: "linux", architecture: "s390x" } },
    { digest: digestOf(manifest), platform: { os: "linux", architecture } },
  ];
  const index = Buffer.from(JSON.stringify({ schemaVersion: 2, manifests: platforms }));
  const manifests = [index, manifest].map((text) => [`/manifests/${digestOf(text)}`, text] as const);
  return { digest: digestOf(index), files: new Map<string, Buffer>([...blobs, ...manifests]) };
}
