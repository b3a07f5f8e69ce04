import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentName, staticPodManifest } from "../../../src/core/konnectivity/names.ts";
import { type Lab, labIsUp } from "../../../lab/lab.ts";
import { waitFor } from "../../../lab/wait.ts";
import { labChecks } from "../../../lab/verify-lab.ts";
import {
  type CheckId,
  checkIds,
  runChecks,
  titles,
  type Outcome,
  type VerifiedCheck,
} from "../../../src/cluster/verify.ts";
import { command, program, run } from "../../support/cli.ts";
import { labWith, removeLab, reportAgent } from "../../support/lab.ts";

const name = `verify${process.pid}`;

interface Report {
  readonly passed: number;
  readonly failed: number;
  readonly notLookedAt: number;
  readonly results: readonly VerifiedCheck[];
}

const resultsOf = (rows: readonly VerifiedCheck[]) =>
  Object.fromEntries(rows.map(({ id, result }) => [id, result])) as Record<CheckId, Outcome>;
const seenOf = (rows: readonly VerifiedCheck[], id: CheckId) => rows.find((row) => row.id === id)?.seen;
/** What did not pass. */
const others = (rows: readonly VerifiedCheck[]) =>
  Object.fromEntries(Object.entries(resultsOf(rows)).filter(([, result]) => result !== "passed"));

/** Runs the command on a machine of the lab, against an API as a user's kubeconfig knows it. */
function byKubeconfig(lab: Lab): { code: number | null; report: Report } {
  const kubeconfig = "/opt/openshift/auth/kubeconfig-loopback";
  const { status, stdout } = lab.bootstrap.run(
    `${process.execPath} ${program} verify --json --kubeconfig ${kubeconfig}`,
  );
  return { code: status, report: JSON.parse(stdout) as Report };
}

describe("verify, with a tunnel as it is by default", () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await labWith({ name });
    await waitFor("the permanent kube-apiserver", 60, () => lab.request(lab.node, "GET", "/readyz").code === 200);
  }, 180_000);
  afterAll(() => removeLab(name));

  it("passes everything but what comes after the end of the bootstrap", async () => {
    const { code, stdout, stderr } = await run("verify", "--name", name);
    expect(stdout).toContain("15 passed, 0 failed, 1 not looked at.");
    expect(stdout).toMatch(/^step-6 +not looked at .*\n +needs --finish, which ends the bootstrap$/m);
    expect(stdout).toMatch(/^security-7 +passed .*\n +alert, TLS 1\.3: certificate required, TLS 1\.2: /m);
    expect(stdout).toMatch(/^security-8 +passed .*\n +alert, TLS 1\.3: unknown ca, TLS 1\.2: /m);
    for (const title of Object.values(titles)) expect(stdout).toContain(title);
    expect(stdout).not.toMatch(/PRIVATE KEY|BEGIN /);
    expect(stderr).toBe("");
    expect(code).toBe(0);
  }, 120_000);

  it("leaves no ConfigMap behind", () => {
    const { items } = lab.request(lab.node, "GET", "/api/v1/namespaces/lab/configmaps").body;
    const names = (items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
    expect(names.filter((one) => one.startsWith("verify"))).toEqual([]);
  });

  it("shows by a kubeconfig what the API alone can show", () => {
    const before = byKubeconfig(lab);
    // Nobody reports pods here: the lab's kubelet has no status.
    expect(others(before.report.results.filter(({ result }) => result === "failed"))).toEqual({
      "step-3": "failed",
      "security-5": "failed",
    });
    expect(before.code).toBe(1);
    reportAgent(lab, "False");
    expect(seenOf(byKubeconfig(lab).report.results, "security-5")).toBe("0 of 1 pods are ready; not ready: agent");
    reportAgent(lab, "True");
    const { code, report } = byKubeconfig(lab);
    expect(report).toMatchObject({ passed: 3, failed: 0, notLookedAt: 13 });
    expect(seenOf(report.results, "step-3")).toBe("DaemonSet konnectivity-agent; pods run on node-0");
    expect(seenOf(report.results, "security-7")).toContain("openssl s_client -connect 10.0.0.10:8091");
    expect(code).toBe(0);
  }, 120_000);

  it("fails when a certificate is not the CA's", async () => {
    const tls = "/opt/openshift/konnectivity-bootstrap/tls";
    lab.bootstrap.must(
      `cp ${tls}/agent/tls.crt /opt/lab/kept.crt && cp /opt/openshift/tls/kubelet-client.crt ${tls}/agent/tls.crt`,
    );
    const rows = await runChecks(labChecks(lab, { finish: false }).filter(({ id }) => id === "security-3"));
    lab.bootstrap.must(`cp /opt/lab/kept.crt ${tls}/agent/tls.crt`);
    expect(rows).toMatchObject([{ result: "failed", seen: expect.stringMatching(/^agent: error \d+ at /) as string }]);
  });

  it("fails when an agent has another CA", async () => {
    startAgent(lab, "other");
    const two = labChecks(lab, { finish: false }).filter(({ id }) => id === "security-5" || id === "security-9");
    await waitFor("its attempt", 30, () => lab.node.run("/usr/bin/podman logs other 2>&1 | grep x509").status === 0);
    const rows = await runChecks(two);
    lab.node.must("/usr/bin/podman rm --force --time=1 other");
    expect(resultsOf(rows)).toEqual({ "security-5": "failed", "security-9": "failed" });
    expect(seenOf(rows, "security-9")).toMatch(/x509: certificate signed by unknown authority/);
    expect(others(await runChecks(two))).toEqual({});
  }, 60_000);

  it("fails when the server is stopped, and takes that for no refusal", async () => {
    lab.bootstrap.must(`mv ${staticPodManifest} /opt/lab/`);
    await waitFor("the server's end", 30, () => lab.bootstrap.run("pgrep -x proxy-server").status !== 0);
    const rows = await runChecks(labChecks(lab, { finish: false }));
    lab.bootstrap.must(`mv /opt/lab/bootstrap-konnectivity-server.yaml ${staticPodManifest}`);
    expect(others(rows)).toEqual({
      "step-2": "failed",
      "step-5": "failed",
      "step-6": "not looked at",
      "security-1": "failed",
      "security-2": "not looked at",
      "security-4": "failed",
      "security-5": "failed",
      "security-6": "failed",
      "security-7": "not looked at",
      "security-8": "not looked at",
    });
    await labIsUp(lab, () => undefined);
  }, 180_000);

  it("ends the bootstrap if it is told to, and says so when it is asked again", async () => {
    await waitFor(
      "the call",
      30,
      () => lab.createConfigMap(lab.bootstrap, `${Date.now()}`, { tunnelled: "true" }).code === 201,
    );
    const { code, stdout } = await run("verify", "--name", name, "--finish", "--json");
    const report = JSON.parse(stdout) as Report;
    expect(others(report.results)).toEqual({});
    expect(report.results.map(({ id }) => id)).toEqual(checkIds);
    expect(report).toMatchObject({ passed: 16, failed: 0, notLookedAt: 0 });
    expect(seenOf(report.results, "step-7")).toMatch(
      /^after the end of the bootstrap, .* created, webhook called once$/,
    );
    expect(code).toBe(0);

    const rows = await runChecks(labChecks(lab, { finish: false }));
    expect(rows.filter(({ result }) => result === "passed").map(({ id }) => id)).toEqual([
      ...["step-1", "step-4", "step-6", "step-7"],
    ]);
    expect(seenOf(rows, "security-7")).toBe("the bootstrap has ended, and the tunnel with it");
  }, 180_000);

  it("fails when an agent still runs after the end of the bootstrap", async () => {
    startAgent(lab, "forgotten");
    const rows = await runChecks(labChecks(lab, { finish: false }).filter(({ id }) => id === "step-6"));
    expect(rows).toMatchObject([
      { result: "failed", seen: expect.stringMatching(/^left: an agent on node-0 \(process \d+\)$/) as string },
    ]);
  }, 180_000);
});

describe("verify, with other kinds of agent authentication", () => {
  const tunnels = {
    none: { authentication: "none", acceptUnauthenticatedAgents: true },
    token: { authentication: "service-account-token" },
  };
  const nameOf = (which: string) => `${name}${which}`;
  const labs: Record<string, Lab> = {};
  const labOf = (which: keyof typeof tunnels) => {
    const lab = labs[which];
    if (lab === undefined) throw new Error("it did not come up");
    return lab;
  };
  beforeAll(async () => {
    // Side by side: most of the time they wait.
    await Promise.all(
      Object.entries(tunnels).map(async ([which, tunnel]) => {
        const lab = await labWith({ name: nameOf(which), tunnel });
        await waitFor("the permanent kube-apiserver", 60, () => lab.request(lab.node, "GET", "/readyz").code === 200);
        labs[which] = lab;
      }),
    );
  }, 240_000);
  afterAll(() => Promise.all(Object.keys(tunnels).map((which) => removeLab(nameOf(which)))));

  it("fails if agents need no authentication", async () => {
    const lab = labOf("none");
    const rows = await runChecks(labChecks(lab, { finish: false }));
    expect(others(rows)).toEqual({
      "step-6": "not looked at",
      "security-1": "failed",
      "security-2": "not looked at",
      "security-7": "failed",
      "security-8": "failed",
    });
    expect(seenOf(rows, "security-7")).toBe("TLS 1.3: the server accepted the connection");
    const { report } = byKubeconfig(lab);
    expect(resultsOf(report.results)).toMatchObject({ "security-1": "failed", "security-7": "failed" });
  }, 180_000);

  it("passes with tokens", async () => {
    const lab = labOf("token");
    // What one run tries is in the log of the next.
    await runChecks(labChecks(lab, { finish: false }).filter(({ id }) => id === "security-8"));
    const rows = await runChecks(labChecks(lab, { finish: false }));
    expect(others(rows)).toEqual({ "step-6": "not looked at" });
    expect(seenOf(rows, "security-1")).toBe("--authentication-audience=system:konnectivity-server");
    expect(seenOf(rows, "security-7")).toMatch(/^agents use tokens; with no token: "/);
    expect(seenOf(rows, "security-8")).toMatch(/^agents use tokens; with foreign token: ".*invalid bearer token"$/);
  }, 180_000);
});

describe("verify, used wrongly", () => {
  it("is one sentence, and exit code 1 or, for wrong usage, 2", async () => {
    expect(await command("verify", "--name", "nobody")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("No lab named nobody is running") as string,
    });
    expect(await command("verify", "--kubeconfig", "x", "--finish")).toMatchObject({
      code: 2,
      stderr: "error: --finish is only for a lab: remove it, or remove --kubeconfig.\n",
    });
    const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-verify-"));
    const closed = join(folder, "kubeconfig");
    const config = {
      "current-context": "a",
      contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
      clusters: [{ name: "a", cluster: { server: "https://127.0.0.1:1" } }],
      users: [{ name: "a", user: {} }],
    };
    writeFileSync(closed, JSON.stringify(config));
    const asked = await command("verify", "--kubeconfig", closed);
    rmSync(folder, { recursive: true });
    expect(asked).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: The request to https:\/\/127\.0\.0\.1:1 failed: connect ECONNREFUSED/,
      ) as string,
    });
  }, 60_000);
});

/** An agent beside those of the cluster, with another CA. */
function startAgent({ node }: Lab, container: string): void {
  const image = "--network=host --volume=/opt/lab/tls:/tls:ro localhost/lab/apiserver-network-proxy:latest";
  const flags = "--ca-cert=/tls/ca.crt --proxy-server-host=10.0.0.10 --proxy-server-port=8091 --sync-interval=1s";
  const agent = `${image} /usr/bin/proxy-agent ${flags} --health-server-port=2041 --logtostderr=true`;
  node.must(`/usr/bin/podman run --detach --pull=never --name=${container} --label=app=${agentName} ${agent}`);
}
