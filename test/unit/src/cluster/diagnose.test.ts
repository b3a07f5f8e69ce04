import { describe, expect, it } from "vitest";
import type { AgentSeen, Certificate, ServerStatus } from "../../../../src/cluster/probe.ts";
import type { ReasonCode } from "../../../../src/cluster/reasons.ts";
import { diagnose, type Seen, type Status } from "../../../../src/cluster/diagnose.ts";
import { statusText } from "../../../../src/cluster/status-text.ts";

const now = new Date("2026-11-16T12:00:00Z");
const certificate = (file: string, hours = 20): Certificate => ({
  ...{ file, from: now, until: new Date(now.getTime() + 3600_000 * hours), sha256: "aa", names: [] },
});

/** A server that carries, and what is otherwise. */
const server = (otherwise: Partial<ServerStatus> = {}): ServerStatus => ({
  ...{ machine: "bootstrap", now, ended: false, wanted: true, failedStage: undefined, said: undefined },
  ...{ healthz: 200, readyz: 200, agents: 1, dialErrors: {}, pendingDials: 0, listens: ["10.0.0.10:8091"] },
  ...{ peers: ["10.0.0.20"], formerPeers: [], lastLogLine: undefined },
  certificates: [certificate("serving/ca.crt"), certificate("serving/tls.crt")],
  ...otherwise,
});
const alone = { agents: 0, readyz: 500, peers: [] };

const agent = (otherwise: Partial<AgentSeen> = {}): AgentSeen => ({
  ...{ where: "node-0", now, runs: true, readyz: 200, dials: "10.0.0.10:8091", dialling: false },
  ...{ reason: undefined, proxy: undefined, certificates: [certificate("ca.crt")] },
  ...otherwise,
});
const away = (code: ReasonCode, otherwise: Partial<AgentSeen> = {}) =>
  agent({ readyz: 503, reason: { code, words: "these words" }, ...otherwise });

const pod = (otherwise: object = {}) => ({
  ...{ name: "agent-x", node: "node-0", state: "Running", ready: false, restarts: 0, reason: undefined },
  ...otherwise,
});

const seen = (one?: ServerStatus, ...agents: readonly AgentSeen[]): Seen => ({
  machines: [
    ...(one === undefined ? [] : [{ machine: "bootstrap", server: one, agents: [] }]),
    ...agents.map((each) => ({ machine: each.where, server: undefined, agents: [each] })),
  ],
  silent: [],
});
const refused = { machine: "core@10.0.0.5", reason: "Permission denied (publickey)." };
const codes = ({ findings }: Status) => findings.map(({ code }) => code);
const said = (status: Status) => `${status.state}: ${codes(status).join(", ")}`;

describe("a status", () => {
  it.each<[string, Seen]>([
    ["carries: ", seen(server(), agent())],
    ["ended: ended", seen(server({ ended: true, healthz: 0, ...alone, wanted: false }))],
    ["waiting: not-set-up", seen(server({ ...alone, healthz: 0, wanted: false }))],
    ["broken: set-up-failed", seen(server({ ...alone, healthz: 0, wanted: false, failedStage: "konnectivity-certs" }))],
    ["broken: server-down", seen(server({ ...alone, healthz: 0 }), away("refused"))],
    ["waiting: no-agent-yet", seen(server(alone))],
    ["waiting: agent-starts", seen(server(alone), agent({ readyz: 503 }))],
    ["broken: port-blocked", seen(server(alone), agent({ readyz: 503, dialling: true }))],
    ["broken: port-blocked", seen(server(alone), away("no-answer"))],
    ["broken: port-blocked", seen(server(alone), away("no-route"))],
    ["broken: port-refused", seen(server(alone), away("refused"))],
    ["broken: name-not-resolved", seen(server(alone), away("not-resolved"))],
    ["broken: tls-other-ca", seen(server(alone), away("unknown-ca"))],
    ["broken: tls-other-name", seen(server(alone), away("other-name"))],
    ["broken: tls-agent-refused", seen(server(alone), away("certificate-refused"))],
    ["broken: token-refused", seen(server(alone), away("token-refused"))],
    ["broken: clock-behind", seen(server(alone), away("not-yet-valid"))],
    ["broken: certificate-expired", seen(server(alone), away("expired"))],
    ["broken: proxy-in-the-way", seen(server(alone), away("refused", { proxy: "http://10.0.0.1:3128" }))],
    [
      "broken: handshake-fails",
      {
        ...seen(server({ ...alone, formerPeers: ["10.0.0.20"] })),
        cluster: { ended: false, pods: [pod()], events: [] },
      },
    ],
    ["broken: handshake-fails", seen(server({ ...alone, formerPeers: ["10.0.0.20"] }))],
    // One of two: the tunnel carries, and yet somebody must know.
    ["carries: port-blocked", seen(server(), agent(), away("no-answer", { where: "node-1" }))],
    ["carries: agent-away", seen(server({ agents: 2 }), agent(), agent({ where: "node-1", readyz: 0 }))],
    // What is over is over.
    ["carries: ", seen(server({ formerPeers: ["10.0.0.20"] }), away("no-answer", { readyz: 200 }))],
    ["carries: dial-errors", seen(server({ dialErrors: { no_agent: 3 } }))],
    ["carries: certificate-ends-soon", seen(server({ certificates: [certificate("serving/tls.crt", 1)] }))],
    ["carries: certificate-expired", seen(server({ certificates: [certificate("serving/tls.crt", -1)] }))],
    // The date explains the handshake: once.
    [
      "broken: certificate-expired",
      seen(server({ ...alone, certificates: [certificate("serving/tls.crt", -1)] }), away("expired")),
    ],
    // Older agents are ready anyway.
    ["broken: port-blocked", seen(server(alone), away("no-answer", { readyz: 200 }))],
    ["unknown: ", seen(undefined, agent())],
    ["ended: ended", { machines: [], silent: [], cluster: { ended: true, pods: [], events: [] } }],
    ["broken: no-tunnel", { machines: [{ machine: "bastion", server: undefined, agents: [] }], silent: [] }],
    ["unknown: machine-silent", { machines: [], silent: [refused] }],
    // The bootstrap machine refuses ssh, and a node has no agent yet.
    [
      "unknown: machine-silent",
      { machines: [{ machine: "node-0", server: undefined, agents: [] }], silent: [refused] },
    ],
    // What could be looked at still counts.
    ["broken: machine-silent, port-blocked", { ...seen(undefined, away("no-answer")), silent: [refused] }],
    ["carries: machine-silent", { ...seen(server(), agent()), silent: [refused] }],
    ["waiting: machine-silent, no-agent-yet", { ...seen(server(alone)), silent: [refused] }],
    ["unknown: api-silent", { machines: [], silent: [], cluster: { silent: "https://api cannot be asked: 401" } }],
    ["carries: ", { machines: [], silent: [], cluster: { ended: false, pods: [pod({ ready: true })], events: [] } }],
    ["broken: not-connected", { ...seen(server(alone)), cluster: { ended: false, pods: [pod()], events: [] } }],
    ["waiting: no-agent-yet", { ...seen(server(alone)), cluster: { ended: false, pods: [], events: [] } }],
    [
      "waiting: agents-do-not-start",
      { ...seen(server(alone)), cluster: { ended: false, pods: [pod({ state: "ImagePullBackOff" })], events: [] } },
    ],
    // The same agent, by two ways.
    [
      "broken: tls-other-ca",
      {
        ...seen(server(alone), away("unknown-ca")),
        cluster: { ended: false, pods: [pod({ reason: { code: "unknown-ca", words: "these words" } })], events: [] },
      },
    ],
  ])("%s", (wanted, what) => {
    expect(said(diagnose(what))).toBe(wanted);
  });

  it("says in whole sentences what is wrong and what to do", () => {
    const text = statusText(diagnose(seen(server(alone), away("no-answer"))));
    expect(text).toContain(
      "\nwrong: node-0 does not reach 10.0.0.10:8091: these words; the port is blocked between them.\n  → open TCP 8091 from the nodes",
    );
  });

  it("says that it does not know, and why", () => {
    expect(statusText(diagnose({ machines: [], silent: [refused] }))).toBe(
      "tunnel  not known: not everything could be looked at\n" +
        "\nunknown: core@10.0.0.5 cannot be looked at: Permission denied (publickey).\n" +
        "  → check that ssh leads there without a password, as a user who may run sudo.\n",
    );
  });

  it("tells another CA from one that was read before", () => {
    const what = (sha256: string) =>
      diagnose(seen(server(alone), away("unknown-ca", { certificates: [{ ...certificate("ca.crt"), sha256 }] })))
        .findings[0];
    expect(what("bb")?.what).toMatch(/its Secret is of another set of keys$/);
    expect(what("aa")?.what).toMatch(/their files agree, but keys are read once, at start/);
    expect(what("aa")?.advice).toMatch(/^start the agents again: oc -n /);
  });

  it("has what the API knows of pods that cannot be made", () => {
    const events = [
      "DaemonSet/konnectivity-agent: pods is forbidden: unable to validate against any security context constraint",
    ];
    expect(diagnose({ ...seen(server(alone)), cluster: { ended: false, pods: [], events } }).findings[0]?.advice).toBe(
      events[0],
    );
  });

  it("is the same text whenever it is asked for", () => {
    const later = { now: new Date(now.getTime() + 60_000) };
    expect(statusText(diagnose(seen(server(later))))).toBe(statusText(diagnose(seen(server()))));
  });
});
