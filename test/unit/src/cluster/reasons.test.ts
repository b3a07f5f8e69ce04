import { describe, expect, it } from "vitest";
import { lastReason, reasonCodes } from "../../../../src/cluster/reasons.ts";

const line = (description: string) =>
  `E1116 10:51:10.467266       1 clientset.go:238] "cannot connect once" err="rpc error: code = Unavailable desc = ${description}"`;
const transport = (words: string) => line(`connection error: desc = \\"transport: ${words}\\"`);
const handshake = (words: string) => transport(`authentication handshake failed: ${words}`);
const connected =
  'I1116 10:48:43.211715       1 clientset.go:286] "successfully connected to new proxy server" serverID="2ec43633" newServerCount=1';

/** As agents wrote them. */
const lines = {
  expired: handshake(
    "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-11-16T10:52:17Z is after 2024-01-02T00:00:00Z",
  ),
  "not-yet-valid": handshake(
    "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2020-11-16T10:52:17Z is before 2024-01-02T00:00:00Z",
  ),
  "unknown-ca": handshake("tls: failed to verify certificate: x509: certificate signed by unknown authority"),
  "other-name": handshake("tls: failed to verify certificate: x509: certificate is valid for 10.0.0.10, not 10.0.0.11"),
  "certificate-refused": line(
    'connection error: desc = \\"error reading server preface: remote error: tls: certificate required\\"',
  ),
  "token-refused":
    'E1116 10:51:10.4 1 clientset.go:238] "cannot connect once" err="rpc error: code = Unknown desc = Failed to validate authentication context: [invalid bearer token]"',
  "not-resolved": transport("Error while dialing: dial tcp: lookup tunnel.example.com: no such host"),
  refused: transport("Error while dialing: dial tcp 10.0.0.10:8091: connect: connection refused"),
  "no-route": transport("Error while dialing: dial tcp 10.0.0.10:8091: connect: no route to host"),
  "no-answer": transport("Error while dialing: dial tcp 10.0.0.10:8091: i/o timeout"),
};

describe("the reason in an agent's log", () => {
  it("is tested with a line for every code", () => {
    expect(Object.keys(lines).sort()).toEqual([...reasonCodes].sort());
  });

  it.each(Object.entries(lines))("is found: %s", (code, text) => {
    const reason = lastReason(`I1116 something else\n${text}\nI1116 server.go:210] server-connected check failed:\n`);
    expect(reason?.code).toBe(code);
    expect(reason?.words, "complete, without the surrounding quotes").toMatch(/^[^"\\]{10,}[^"\\:, ]$/);
  });

  it("is the last one", () => {
    expect(lastReason([lines.refused, lines["unknown-ca"]].join("\n"))?.code).toBe("unknown-ca");
  });

  it("is found among the errors of the broken connection that follow", () => {
    const broken = line("write tcp 10.128.0.2:41536->10.0.0.10:8091: write: broken pipe");
    expect(lastReason([lines["certificate-refused"], broken, broken].join("\n"))?.code).toBe("certificate-refused");
  });

  it("is not reported if the agent has connected since", () => {
    expect(lastReason([lines.refused, connected].join("\n"))).toBeUndefined();
    expect(lastReason([lines.refused, connected, lines["no-answer"]].join("\n"))?.code).toBe("no-answer");
    expect(lastReason("")).toBeUndefined();
  });
});
