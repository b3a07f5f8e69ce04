import { request as overHttp, type OutgoingHttpHeaders } from "node:http";
import { request as overHttps } from "node:https";

export interface Asked {
  readonly host: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Buffer;
  /** @default - https, at its own port */
  readonly httpPort?: number;
  /** For https elsewhere: whose certificate is expected there. */
  readonly https?: { readonly port: number; readonly servername: string };
}

export interface Said {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** One request, and all of its answer. */
export function ask({ httpPort, https, body = Buffer.alloc(0), headers = {}, ...asked }: Asked): Promise<Said> {
  const options = { ...asked, ...https, agent: false, headers: { ...headers, "content-length": body.length } };
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
