import { describe, expect, it } from "vitest";
import type { AgentStatus, Certificate, ServerStatus } from "../../../../src/cluster/machine-status.ts";
import type { ReasonCode } from "../../../../src/cluster/reasons.ts";
import { diagnose, type Observations, type Status } from "../../../../src/cluster/diagnose.ts";
import { statusText } from "../../../../src/cluster/status-text.ts";

const now = new Date("2026-11-16T12:00:00Z");
const certificate = (file: string, hours = 20): Certificate => ({
  ...{ file, from: now, until: new Date(now.getTime() + 3600_000 * hours), sha256: "aa", names: [] },
});

/** A server with a connected agent, with these changes. */
const server = (changes: Partial<ServerStatus> = {}): ServerStatus => ({
  ...{
    machine: "bootstrap",
    tunnel: "ours" as const,
    now,
    ended: false,
    wanted: true,
    failedStage: undefined,
    said: undefined,
  },
  ...{ healthz: 200, readyz: 200, agents: 1, dialErrors: {}, pendingDials: 0, port: 8091 },
  listens: ["10.0.0.10:8091"],
  ...{ peers: ["10.0.0.20"], formerPeers: [], lastLogLine: undefined },
  certificates: [certificate("serving/ca.crt"), certificate("serving/tls.crt")],
  ...changes,
});
const alone = { agents: 0, readyz: 500, peers: [] };

const agent = (changes: Partial<AgentStatus> = {}): AgentStatus => ({
  ...{ where: "node-0", now, runs: true, readyz: 200, dials: "10.0.0.10:8091", dialling: false },
  ...{ reason: undefined, proxy: undefined, certificates: [certificate("ca.crt")] },
  ...changes,
});
const disconnected = (code: ReasonCode, changes: Partial<AgentStatus> = {}) =>
  agent({ readyz: 503, reason: { code, words: "these words" }, ...changes });

const pod = (changes: object = {}) => ({
  ...{ name: "agent-x", node: "node-0", state: "Running", ready: false, restarts: 0, reason: undefined },
  ...changes,
});

const observed = (one?: ServerStatus, ...agents: readonly AgentStatus[]): Observations => ({
  machines: [
    ...(one === undefined ? [] : [{ machine: "bootstrap", server: one, agents: [] }]),
    ...agents.map((each) => ({ machine: each.where, server: undefined, agents: [each] })),
  ],
  unreachable: [],
});
const refused = { machine: "core@10.0.0.5", reason: "Permission denied (publickey)." };
const codes = ({ findings }: Status) => findings.map(({ code }) => code);
const said = (status: Status) => `${status.state}: ${codes(status).join(", ")}`;

describe("a machine that has given up on its tunnel", () => {
  it("is reported in its own sentence, and nothing else is", () => {
    const givenUp = "the tunnel could not be set up (5 tries in 1 minutes), and tunnel.required is false: …";
    const { state, findings } = diagnose(
      observed(
        server({ ...alone, healthz: 0, wanted: false, certificates: [], failedStage: "konnectivity-certs", givenUp }),
      ),
    );
    expect(state).toBe("broken");
    expect(findings).toMatchObject([{ code: "given-up", what: givenUp }]);
  });
});

describe("keys that were issued again", () => {
  const inCluster = (pki: string | undefined): Observations => ({
    ...observed(server({ ...alone, pki: "0123456789abcdef" })),
    cluster: { ended: false, pods: [pod(pki === undefined ? {} : { pki })], events: [] },
  });

  it("are reported with the agents that have the old ones, and with what to do", () => {
    const found = diagnose(inCluster("fedcba9876543210")).findings.find(({ code }) => code === "keys-reissued");
    expect(found?.what).toContain("agent-x on node-0 still has the old ones");
    expect(found?.advice).toBe(
      "on the bootstrap machine: oc --kubeconfig=/opt/openshift/auth/kubeconfig-loopback replace -f /opt/openshift/manifests/bootstrap-konnectivity-secret.yaml -f /opt/openshift/manifests/bootstrap-konnectivity-agents.yaml",
    );
  });

  it.each(["0123456789abcdef", undefined])("are not: %s", (pki) => {
    expect(codes(diagnose(inCluster(pki)))).not.toContain("keys-reissued");
  });
});

describe("more agents than nodes", () => {
  const inCluster = (agents: number, nodes: number | undefined, pods = 1): Observations => ({
    ...observed(server({ agents, peers: ["10.0.0.20", "10.0.0.66"] }), agent()),
    cluster: {
      ended: false,
      pods: Array.from({ length: pods }, () => pod({ ready: true })),
      events: [],
      ...(nodes !== undefined && { nodes }),
    },
  });

  it("are reported with their addresses", () => {
    const { state, findings } = diagnose(inCluster(2, 1));
    expect(state).toBe("carries");
    expect(findings).toMatchObject([
      { code: "more-agents-than-nodes", what: "2 connected agents, but the cluster has 1 node" },
    ]);
    expect(findings[0]?.advice).toContain("(10.0.0.20, 10.0.0.66)");
  });

  it.each([
    ["as many as nodes", inCluster(2, 2)],
    ["a Deployment with more replicas than nodes", inCluster(2, 1, 2)],
    ["nodes that cannot be listed", inCluster(2, undefined)],
  ])("are not: %s", (_, observations) => {
    expect(codes(diagnose(observations))).toEqual([]);
  });
});

describe("the diagnosis", () => {
  it.each<[string, Observations]>([
    ["carries: ", observed(server(), agent())],
    ["ended: ended", observed(server({ ended: true, healthz: 0, ...alone, wanted: false }))],
    ["waiting: not-set-up", observed(server({ ...alone, healthz: 0, wanted: false }))],
    [
      "broken: set-up-failed",
      observed(server({ ...alone, healthz: 0, wanted: false, failedStage: "konnectivity-certs" })),
    ],
    ["broken: switched-off", observed(server({ switchedOff: true }))],
    ["broken: server-down", observed(server({ ...alone, healthz: 0 }), disconnected("refused"))],
    ["waiting: no-agent-yet", observed(server(alone))],
    ["waiting: agent-starts", observed(server(alone), agent({ readyz: 503 }))],
    ["broken: port-blocked", observed(server(alone), agent({ readyz: 503, dialling: true }))],
    ["broken: port-blocked", observed(server(alone), disconnected("no-answer"))],
    ["broken: port-blocked", observed(server(alone), disconnected("no-route"))],
    ["broken: port-refused", observed(server(alone), disconnected("refused"))],
    ["broken: name-not-resolved", observed(server(alone), disconnected("not-resolved"))],
    ["broken: tls-other-ca", observed(server(alone), disconnected("unknown-ca"))],
    ["broken: tls-other-name", observed(server(alone), disconnected("other-name"))],
    ["broken: tls-agent-refused", observed(server(alone), disconnected("certificate-refused"))],
    ["broken: token-refused", observed(server(alone), disconnected("token-refused"))],
    ["broken: clock-behind", observed(server(alone), disconnected("not-yet-valid"))],
    ["broken: certificate-expired", observed(server(alone), disconnected("expired"))],
    ["broken: proxy-in-the-way", observed(server(alone), disconnected("refused", { proxy: "http://10.0.0.1:3128" }))],
    [
      "broken: handshake-fails",
      {
        ...observed(server({ ...alone, formerPeers: ["10.0.0.20"] })),
        cluster: { ended: false, pods: [pod()], events: [] },
      },
    ],
    ["broken: handshake-fails", observed(server({ ...alone, formerPeers: ["10.0.0.20"] }))],
    // One of two agents is connected: the tunnel works, and the other one is reported.
    ["carries: port-blocked", observed(server(), agent(), disconnected("no-answer", { where: "node-1" }))],
    ["carries: agent-away", observed(server({ agents: 2 }), agent(), agent({ where: "node-1", readyz: 0 }))],
    // Errors from before the connection are not reported.
    ["carries: ", observed(server({ formerPeers: ["10.0.0.20"] }), disconnected("no-answer", { readyz: 200 }))],
    ["carries: dial-errors", observed(server({ dialErrors: { no_agent: 3 } }))],
    ["carries: certificate-ends-soon", observed(server({ certificates: [certificate("serving/tls.crt", 1)] }))],
    ["carries: certificate-expired", observed(server({ certificates: [certificate("serving/tls.crt", -1)] }))],
    // The date explains the failed handshake, and is reported once.
    [
      "broken: certificate-expired",
      observed(server({ ...alone, certificates: [certificate("serving/tls.crt", -1)] }), disconnected("expired")),
    ],
    // Agents up to 4.13 are ready without a connection.
    ["broken: port-blocked", observed(server(alone), disconnected("no-answer", { readyz: 200 }))],
    ["unknown: ", observed(undefined, agent())],
    ["ended: ended", { machines: [], unreachable: [], cluster: { ended: true, pods: [], events: [] } }],
    [
      "ended: ended",
      { machines: [{ machine: "node-0", server: undefined, agents: [] }], unreachable: [], machineRemoved: true },
    ],
    ["broken: no-tunnel", { machines: [{ machine: "bastion", server: undefined, agents: [] }], unreachable: [] }],
    ["unknown: machine-silent", { machines: [], unreachable: [refused] }],
    // The bootstrap machine refuses ssh, and a node has no agent yet.
    [
      "unknown: machine-silent",
      { machines: [{ machine: "node-0", server: undefined, agents: [] }], unreachable: [refused] },
    ],
    // Findings about the machines that can be reached are still reported.
    [
      "broken: machine-silent, port-blocked",
      { ...observed(undefined, disconnected("no-answer")), unreachable: [refused] },
    ],
    ["carries: machine-silent", { ...observed(server(), agent()), unreachable: [refused] }],
    ["waiting: machine-silent, no-agent-yet", { ...observed(server(alone)), unreachable: [refused] }],
    [
      "unknown: api-silent",
      { machines: [], unreachable: [], cluster: { unreachable: "https://api cannot be asked: 401" } },
    ],
    [
      "carries: ",
      { machines: [], unreachable: [], cluster: { ended: false, pods: [pod({ ready: true })], events: [] } },
    ],
    ["broken: not-connected", { ...observed(server(alone)), cluster: { ended: false, pods: [pod()], events: [] } }],
    ["waiting: no-agent-yet", { ...observed(server(alone)), cluster: { ended: false, pods: [], events: [] } }],
    [
      "waiting: agents-do-not-start",
      { ...observed(server(alone)), cluster: { ended: false, pods: [pod({ state: "ImagePullBackOff" })], events: [] } },
    ],
    // The same agent, seen on its node and through the API.
    [
      "broken: tls-other-ca",
      {
        ...observed(server(alone), disconnected("unknown-ca")),
        cluster: { ended: false, pods: [pod({ reason: { code: "unknown-ca", words: "these words" } })], events: [] },
      },
    ],
  ])("%s", (wanted, what) => {
    expect(said(diagnose(what))).toBe(wanted);
  });

  it("explains in sentences what is wrong and what to do", () => {
    const text = statusText(diagnose(observed(server(alone), disconnected("no-answer"))));
    expect(text).toContain(
      "\nwrong: node-0 cannot reach 10.0.0.10:8091: these words; the port is blocked between them.\n  → open TCP 8091 from the nodes",
    );
  });

  it("names the port that server and agents were started with", () => {
    const dials = "10.0.0.10:9591";
    const advice = (what: Observations) => diagnose(what).findings[0]?.advice;
    const cluster = (pods: ReturnType<typeof pod>[]) => ({ cluster: { ended: false, pods, events: [] } });
    expect(advice(observed(server({ ...alone, port: 9591 }), disconnected("no-answer")))).toMatch(
      /^open TCP 9591 from/,
    );
    expect(advice(observed(undefined, disconnected("refused", { dials })))).toMatch(/^open TCP 9591 from/);
    // The API alone.
    const reason = { code: "no-answer", words: "these words" };
    const [byApi] = diagnose({ ...observed(), ...cluster([pod({ reason, dials })]) }).findings;
    expect(byApi).toMatchObject({
      what: expect.stringContaining("node-0 cannot reach 10.0.0.10:9591: these words") as string,
      advice: "open TCP 9591 from the nodes to the bootstrap machine",
    });
    expect(diagnose({ ...observed(server({ ...alone, port: 9591 })), ...cluster([pod()]) }).findings[0]?.what).toMatch(
      /none is connected: port 9591 is blocked/,
    );
    const former = server({ ...alone, port: 9591, formerPeers: ["10.0.0.20"] });
    expect(diagnose(observed(former)).findings[0]?.what).toMatch(/^connections from 10\.0\.0\.20 reach port 9591 but/);
  });

  describe("of the installer's own tunnel", () => {
    const certificates = ["ca.crt", "server.crt", "agent.crt"].map((file) => certificate(file));
    const installers = (changes: Partial<ServerStatus> = {}) =>
      server({ tunnel: "installer", readyz: 500, certificates, ...changes });

    it("does not mention /readyz, which is never 200 there", () => {
      const status = diagnose(observed(installers()));
      expect(status.state).toBe("carries");
      const text = statusText(status);
      expect(text).toContain("made by      openshift-install\n");
      expect(text).toContain("server       answers on bootstrap, listens for agents on 10.0.0.10:8091\n");
      expect(text).toMatch(/^certificate {2}server until /m);
      expect(text).toMatch(/^certificate {2}agent until /m);
    });

    it("names its files and none of our options", () => {
      const found = (code: ReasonCode, changes: Partial<AgentStatus> = {}) =>
        diagnose(observed(installers({ ...alone, certificates }), disconnected(code, changes))).findings[0];
      const other = { certificates: [{ ...certificate("ca.crt"), sha256: "bb" }] };
      expect(found("unknown-ca", other)?.what).toMatch(/its Secret belongs to other keys$/);
      expect(found("unknown-ca", other)?.advice).toMatch(/^copy \/opt\/openshift\/tls\/konnectivity\/ca\.crt from /);
      expect(found("certificate-refused")?.advice).toContain(" with /opt/openshift/tls/konnectivity/agent.crt on ");
      expect(found("refused")?.advice).toBe("open TCP 8091 from the nodes to the bootstrap machine");
      expect(found("expired")?.advice).toMatch(/^start the installation again; /);
    });

    it("is not known from pods that are ready without a readiness probe", () => {
      const ready = { ended: false, pods: [pod({ ready: true, unprobed: true })], events: [] };
      expect(said(diagnose({ machines: [], unreachable: [], cluster: ready }))).toBe("unknown: ");
    });
  });

  it("says why the state is unknown", () => {
    expect(statusText(diagnose({ machines: [], unreachable: [refused] }))).toBe(
      "tunnel  unknown: not everything could be checked\n" +
        "\nunknown: core@10.0.0.5 cannot be checked: Permission denied (publickey).\n" +
        "  → check that ssh connects to it without a password, as a user who can run sudo.\n",
    );
  });

  it("distinguishes a foreign CA from one that changed after the agent had read it", () => {
    const what = (sha256: string) =>
      diagnose(
        observed(server(alone), disconnected("unknown-ca", { certificates: [{ ...certificate("ca.crt"), sha256 }] })),
      ).findings[0];
    expect(what("bb")?.what).toMatch(/its Secret belongs to other keys$/);
    expect(what("aa")?.what).toMatch(/their files are the same, but keys are read only at the start/);
    expect(what("aa")?.advice).toMatch(/^restart the agents: oc -n /);
  });

  it("quotes the API's event about pods that cannot be created", () => {
    const events = [
      "DaemonSet/konnectivity-agent: pods is forbidden: unable to validate against any security context constraint",
    ];
    expect(
      diagnose({ ...observed(server(alone)), cluster: { ended: false, pods: [], events } }).findings[0]?.advice,
    ).toBe(events[0]);
  });

  it("does not depend on the time", () => {
    const later = { now: new Date(now.getTime() + 60_000) };
    expect(statusText(diagnose(observed(server(later))))).toBe(statusText(diagnose(observed(server()))));
  });
});
