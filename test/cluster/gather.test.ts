import { describe, expect, it } from "vitest";
import { gatheredFiles, withoutSecrets } from "../../cluster/gather.ts";
import { judge } from "../../cluster/status.ts";

const key = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n-----END PRIVATE KEY-----";
const token = `eyJhbGciOiJSUzI1NiIs.${"a".repeat(40)}.${"b".repeat(40)}`;

describe("a gather", () => {
  it.each([
    ["a key", `before\n${key}\nafter`, "before\n(a private key)\nafter"],
    ["a key that is cut off", key.slice(0, 40), "(a private key)"],
    ["a key as base64", `tls.key: ${Buffer.from(key).toString("base64")}`, "tls.key: (a PEM file)"],
    ["a token", `token="${token}"`, 'token="(a token)"'],
    ["a header", "Authorization: Bearer sha256~abcdefgh", "Authorization: Bearer (a secret)"],
    ["a password", "proxy http://me:hidden@10.0.0.1:3128/", "proxy http://(a password)@10.0.0.1:3128/"],
  ])("leaves out %s that a log holds", (_, text, wanted) => {
    expect(withoutSecrets(text)).toBe(wanted);
  });

  it("leaves everything else as it was", () => {
    const text = 'I1116 server.go:897] "Agent connected" agentID="08beec93-cfc6-45c4-8ed4-27f9d9ecb4ec"\n@IMAGE@ //x';
    expect(withoutSecrets(text)).toBe(text);
  });

  it("has the cluster's side, and no file outside its folder", () => {
    const status = judge({ machines: [], silent: [] });
    const pods = [
      { name: "agent-x", node: "node-0", state: "Running", ready: true, restarts: 0, log: token, reason: undefined },
    ];
    const answers = [{ machine: "../core@10.0.0.5", silent: "no route" }];
    const files = gatheredFiles({ answers, cluster: { ended: false, pods, events: ["a"] }, status }, new Date(0));
    expect([...files.keys()]).toEqual([
      ...["README", "status.txt", ".._core@10.0.0.5/silent.txt"],
      ...["cluster/pods.json", "cluster/events.txt", "cluster/agent-x.log.txt"],
    ]);
    expect(files.get("cluster/agent-x.log.txt")).toBe("(a token)\n");
    expect([...files.values()].join("")).not.toContain(token);
  });
});
