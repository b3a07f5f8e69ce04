import { request as overHttp, type OutgoingHttpHeaders } from "node:http";
import { request as overHttps } from "node:https";

export interface Request {
  readonly host: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Buffer;
  /** @default - https, at its own port */
  readonly httpPort?: number;
  /** For https at another port: the name that the certificate must have. */
  readonly https?: { readonly port: number; readonly servername: string };
}

export interface Response {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** Sends one request and reads the whole response. */
export function httpRequest({
  httpPort,
  https,
  body = Buffer.alloc(0),
  headers = {},
  ...target
}: Request): Promise<Response> {
  const options = { ...target, ...https, agent: false, headers: { ...headers, "content-length": body.length } };
  return new Promise((resolve, reject) => {
    const request = httpPort === undefined ? overHttps(options) : overHttp({ ...options, port: httpPort });
    request.once("error", reject).once("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const { statusCode = 0, headers: given } = response;
        resolve({ status: statusCode, headers: given as Record<string, string>, body: Buffer.concat(chunks) });
      });
    });
    request.end(body);
  });
}
