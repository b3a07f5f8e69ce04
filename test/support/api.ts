import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The text of a kubeconfig for the API at this address. */
export function kubeconfigText(server: string): string {
  const clusters = [{ name: "c", cluster: { server, "insecure-skip-tls-verify": true } }];
  const contexts = [{ name: "x", context: { cluster: "c", user: "u" } }];
  const users = [{ name: "u", user: { token: "t" } }];
  return JSON.stringify({ clusters, contexts, "current-context": "x", users });
}

/** In place of an object: the connection is closed without a response. */
export const hangUp = Symbol("hangUp");

/** The object at a path of an API, or a Status with the code of a refusal; undefined if there is none. */
export type ApiObjects = (path: string) => unknown;

/** Runs with a fake API that has only these objects, by a part of their path; the tests in test/e2e/lab use a real one. */
export async function withApi<T>(
  objects: Readonly<Record<string, unknown>> | ApiObjects,
  act: (kubeconfig: string) => Promise<T>,
  seen?: (request: { readonly method: string; readonly url: string }) => void,
): Promise<T> {
  const objectAt: ApiObjects =
    typeof objects === "function"
      ? objects
      : (path) => Object.entries(objects).find(([part]) => path.includes(part))?.[1];
  const server = createServer((request, response) => {
    const { method = "", url = "" } = request;
    seen?.({ method, url });
    const found = objectAt(url);
    if (found === hangUp) {
      request.destroy();
      return;
    }
    response.writeHead(statusCodeOf(found), { "Content-Type": "application/json" });
    response.end(JSON.stringify(found ?? {}));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-api-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, kubeconfigText(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  try {
    return await act(kubeconfig);
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
}

function statusCodeOf(found: unknown): number {
  if (found === undefined) return 404;
  const { kind, code } = found as { kind?: string; code?: number };
  return kind === "Status" && code !== undefined ? code : 200;
}
