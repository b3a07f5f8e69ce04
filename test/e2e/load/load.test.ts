import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { crowd, Pulse } from "./load.ts";

/** What stands for a kube-apiserver, and what was asked of it. */
let answer: (asked: { name: string; label: string }, response: ServerResponse) => void;
let asked: { path: string; name: string; label: string; connection: number | undefined }[] = [];
const server = createServer((request, response) => {
  void read(request).then((text) => {
    const { metadata } = JSON.parse(text) as { metadata: { name: string; labels: Record<string, string> } };
    const [label = ""] = Object.keys(metadata.labels);
    asked.push({ path: request.url ?? "", name: metadata.name, label, connection: request.socket.remotePort });
    answer({ name: metadata.name, label }, response);
  });
});
const here = { enter: (command: readonly string[]) => [...command] };
const target = (...flags: string[]) => [
  `--server=http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  ...flags,
];
const created = (_: unknown, response: ServerResponse) => response.writeHead(201).end("{}");

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
  answer = created;
});

async function read(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of request) text += String(part);
  return text;
}

describe("a crowd", () => {
  it("makes as many calls as asked for, each with another name, each client over one connection of its own", async () => {
    const seen = await crowd(here, target("--label=once", "--name=a-"), { clients: 4, count: 40, seconds: 20 });
    expect(seen.microseconds).toHaveLength(40);
    expect(seen.seconds).toBeGreaterThan(0);
    expect(asked).toHaveLength(44);
    expect(new Set(asked.map(({ name }) => name)).size).toBe(44);
    expect(new Set(asked.map(({ connection }) => connection)).size).toBe(4);
    expect(new Set(asked.map(({ path, label }) => `${path} ${label}`))).toEqual(
      new Set(["/api/v1/namespaces/lab/configmaps once"]),
    );
  });

  it("stops when its time is over", async () => {
    const seen = await crowd(here, target(), { clients: 1, count: 1_000_000, seconds: 0.2 });
    expect(seen.microseconds.length).toBeGreaterThan(0);
    expect(seen.microseconds.length).toBeLessThan(1_000_000);
  });

  it("counts no failure as an answer, and reports it", async () => {
    answer = ({ name }, response) => {
      if (name.endsWith("7")) response.writeHead(500).end('{"message":"no agent"}');
      else created(undefined, response);
    };
    await expect(crowd(here, target(), { clients: 2, count: 20, seconds: 20 })).rejects.toThrow(
      "2 of 20 calls failed: 500 Internal Server Error: no agent",
    );
  });
});

describe("a pulse", () => {
  it("goes on whatever becomes of its calls, and waits for those under way when it is stopped", async () => {
    const held: ServerResponse[] = [];
    answer = (_, response) => {
      if (held.length < 3) held.push(response);
      else created(undefined, response);
    };
    const pulse = new Pulse(here, target("--every=10ms", "--dry-run"));
    await pulse.waitFor("ten answers", 20, (calls) => calls.length >= 10);
    const stopped = pulse.stop();
    // It has heard of its end when no further call comes.
    let before = -1;
    while (before !== asked.length) {
      before = asked.length;
      await sleep(100);
    }
    for (const response of held) response.writeHead(500).end('{"message":"late"}');
    await stopped;
    expect(pulse.calls).toHaveLength(asked.length);
    expect(pulse.calls.filter(({ failure }) => failure === "500 Internal Server Error: late")).toHaveLength(3);
    expect(asked[0]?.path).toBe("/api/v1/namespaces/lab/configmaps?dryRun=All");
  });

  it("names what did not happen", async () => {
    answer = (_, response) => response.writeHead(500).end('{"message":"no agent"}');
    const pulse = new Pulse(here, target("--every=10ms"));
    await pulse.waitFor("an answer", 20, (calls) => calls.length > 0);
    await expect(pulse.waitFor("a quiet tunnel", 0.1, () => false)).rejects.toThrow(
      "timed out after 0.1 s while waiting for a quiet tunnel (last failure: 500 Internal Server Error: no agent)",
    );
    await pulse.stop();
  });
});
