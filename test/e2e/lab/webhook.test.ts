import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureGoProgram } from "../../../lab/go-programs.js";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-webhook-"));
const [cert, key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
let program: ChildProcess;
/** Where it answers: as a webhook, and as a kubelet. */
const ports: Record<string, number> = {};

beforeAll(async () => {
  const make = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=webhook -days 1".split(" ");
  const files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert];
  execFileSync("openssl", [...make, ...files], { stdio: "pipe" });
  const flags = ["--listen", "127.0.0.1:0", "--kubelet-listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key];
  program = spawn(ensureGoProgram("webhook").webhook, flags, { stdio: ["ignore", "pipe", "inherit"] });
  if (program.stdout === null) throw new Error("no output");
  for await (const line of createInterface(program.stdout)) {
    const [, name, port] = /^(\w+) answers on 127\.0\.0\.1:(\d+)$/.exec(line) ?? [];
    if (name !== undefined) ports[name] = Number(port);
    if (Object.keys(ports).length === 2) break;
  }
});
afterAll(() => {
  program.kill();
  rmSync(folder, { recursive: true });
});

interface HttpResponse {
  readonly status: number | undefined;
  readonly text: string;
  readonly connection: string | undefined;
}

function request(path: string, { body, as = "webhook" }: { body?: unknown; as?: string } = {}): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(
      {
        ...{ host: "127.0.0.1", port: ports[as], path, ca: readFileSync(cert) },
        ...{ method: body === undefined ? "GET" : "POST", headers: { "X-Remote-User": "alice" } },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () => {
          resolve({ status: response.statusCode, text, connection: response.headers.connection });
        });
      },
    );
    sent.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function json(...args: Parameters<typeof request>): Promise<unknown> {
  const { status, text } = await request(...args);
  expect(status, text).toBe(200);
  return JSON.parse(text);
}

describe("the lab's webhook", () => {
  const review = (labels: Record<string, string>) => ({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid: "123", object: { metadata: { name: "one", labels } } },
  });

  it("allows an object, and denies one with the label", async () => {
    expect(await json("/validate", { body: review({}) })).toEqual({
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      response: { uid: "123", allowed: true },
    });
    expect(await json("/validate", { body: review({ deny: "true" }) })).toMatchObject({
      response: {
        uid: "123",
        allowed: false,
        status: { code: 403, message: expect.stringContaining("deny") as string },
      },
    });
  });

  it("reviews once, and closes the connection", async () => {
    const reviewed = await request("/validate-once", { body: review({ deny: "true" }) });
    expect(reviewed.connection).toBe("close");
    expect(JSON.parse(reviewed.text)).toMatchObject({ response: { allowed: false } });
    expect((await request("/validate", { body: review({}) })).connection).not.toBe("close");
  });

  it("allows a deletion, which has no object", async () => {
    const deletion = { request: { uid: "123", operation: "DELETE", object: null } };
    expect(await json("/validate", { body: deletion })).toMatchObject({ response: { allowed: true } });
  });

  it("refuses a body that is not a review", async () => {
    expect(await request("/validate", { body: "nonsense" })).toMatchObject({ status: 400 });
    expect(await request("/validate")).toMatchObject({ status: 405 });
  });

  it("converts objects", async () => {
    const objects = [
      { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "one" }, spec: { size: 1 } },
      { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "two" } },
    ];
    const request = { uid: "123", desiredAPIVersion: "example.com/v2", objects };
    expect(await json("/convert", { body: { request } })).toEqual({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "ConversionReview",
      response: {
        uid: "123",
        result: { status: "Success" },
        convertedObjects: objects.map((object) => ({
          ...object,
          apiVersion: "example.com/v2",
          spec: { ...object.spec, convertedFrom: "example.com/v1" },
        })),
      },
    });
  });

  it("is an aggregated API that says who asked", async () => {
    const api = "/apis/lab.konnectivity-bootstrap.io";
    expect(await json(api)).toMatchObject({ kind: "APIGroup", name: "lab.konnectivity-bootstrap.io" });
    expect(await json(`${api}/v1alpha1`)).toMatchObject({ kind: "APIResourceList", resources: [{ name: "echoes" }] });
    expect(await json(`${api}/v1alpha1/echoes`)).toMatchObject({
      kind: "EchoList",
      items: [{ kind: "Echo", status: { user: "alice", source: "127.0.0.1" } }],
    });
  });

  it("answers as a kubelet, on a port where it is no webhook", async () => {
    expect(await request("/healthz", { as: "kubelet" })).toEqual({ status: 200, text: "ok" });
    expect(await json("/pods", { as: "kubelet" })).toMatchObject({ kind: "PodList", items: [] });
    expect(await request("/validate", { as: "kubelet", body: review({}) })).toMatchObject({ status: 404 });
  });

  it("counts calls and where they came from", async () => {
    const count = async () => ((await json("/calls")) as Record<string, { count: number }>)["/validate"]?.count ?? 0;
    const before = await count();
    await request("/validate", { body: review({}) });
    expect(await count()).toBe(before + 1);
    expect(await json("/calls")).toMatchObject({ "/validate": { sources: { "127.0.0.1": before + 1 } } });
  });

  it("sends header and body in one packet", async () => {
    const first = await new Promise<string>((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port: ports.webhook, ca: readFileSync(cert) }, () => {
        socket.write("GET /apis/lab.konnectivity-bootstrap.io HTTP/1.1\r\nHost: webhook\r\n\r\n");
      });
      socket.on("error", reject).once("data", (record: Buffer) => {
        resolve(record.toString());
        socket.destroy();
      });
    });
    expect(first).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n\{.*\}$/);
  });

  it("ends at once when it is told to", async () => {
    const ended = new Promise((resolve) =>
      program.on("exit", (...how) => {
        resolve(how);
      }),
    );
    program.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });
});
