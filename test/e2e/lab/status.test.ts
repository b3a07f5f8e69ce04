import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { targetOf } from "../../../src/cli/target.ts";
import { collect } from "../../../src/cluster/collect.ts";
import type { Status } from "../../../src/cluster/diagnose.ts";
import { agentName, namespace, tls } from "../../../src/core/konnectivity/names.ts";
import { bootstrapIsUp, type Lab } from "../../../lab/lab.ts";
import { waitFor } from "../../../lab/wait.ts";
import { projectFile } from "../../../src/runtime/project-files.js";
import { command, program, run } from "../../support/cli.ts";
import { removeLab, reportAgent, startLab } from "../../support/lab.ts";
import { leaks, secretsOf } from "../../support/secrets.ts";

const name = `status${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-status-"));
let lab: Lab;

/** The kubelet of the node, which starts its agent; not the shell that asks. */
const kubelet = "$(pgrep -f '[f]akes/main.js kubelet')";
const port = "INPUT -p tcp --dport 8091";
/** What the agent's volume holds. */
const certs = `/run/lab-kubelet/${agentName}-0/certs`;
const restartAgent = "kill -9 $(pgrep -x proxy-agent)";

beforeAll(async () => {
  lab = await startLab({ name });
  // It has played the permanent control plane, and no agent yet.
  await waitFor("the node", 60, () => lab.node.run("pgrep -x kube-apiserver").status === 0);
  lab.node.must(`kill -STOP ${kubelet}`);
  await bootstrapIsUp(lab, () => undefined);
}, 180_000);
afterAll(async () => {
  await removeLab(name);
  rmSync(folder, { recursive: true });
});

const statusNow = async () => (await collect(await targetOf({ name }), 200)).status;
const codes = ({ findings }: Status) => findings.filter(({ kind }) => kind !== "note").map(({ code }) => code);
const sentence = ({ findings }: Status, code: string) => findings.find((one) => one.code === code)?.what;

/** Runs status until it reports exactly this. */
async function statusWith(...wanted: readonly string[]): Promise<Status> {
  const end = Date.now() + 40_000;
  for (;;) {
    const status = await statusNow();
    if (codes(status).join() === wanted.join()) return status;
    if (Date.now() > end) throw new Error(`not ${wanted.join(", ")} but ${codes(status).join(", ")} for 40 s`);
    // Each run starts a hundred processes.
    await sleep(1000);
  }
}

describe("status, of a tunnel that breaks step by step", () => {
  it("waits for the first agent", async () => {
    const status = await statusWith("no-agent-yet");
    expect(status).toMatchObject({ state: "waiting", server: { healthz: 200, readyz: 500, agents: 0 }, agents: [] });
    const { code, stdout } = await run("status", "--name", name);
    expect(stdout).toMatch(/^tunnel +the tunnel does not work yet$/m);
    expect(stdout).toMatch(
      /^waiting: no agent is running yet: .*\n {2}→ wait until the network of the first node is ready/m,
    );
    expect(code).toBe(1);
  });

  it("says that the port is blocked, before the agent's own log does", async () => {
    lab.bootstrap.must(`iptables -I ${port} -j DROP`);
    lab.node.must(`kill -CONT ${kubelet}`);
    const status = await statusWith("port-blocked");
    expect(status.state).toBe("broken");
    expect(sentence(status, "port-blocked")).toBe(
      "node-0 cannot reach 10.0.0.10:8091: its connection attempt gets no answer; the port is blocked between them",
    );
  });

  it("reports agents that are not connected from the API, without a reason", async () => {
    await lab.installWorkload();
    reportAgent(lab, "False");
    // As an operator: with access to the bootstrap machine, and to the API.
    const kubeconfig = "/opt/openshift/auth/kubeconfig-loopback";
    const { stdout } = lab.bootstrap.run(
      `mkdir /opt/lab/ssh && cp ${support("ssh-here.sh")} /opt/lab/ssh/ssh && chmod 755 /opt/lab/ssh/ssh
       PATH=/opt/lab/ssh:$PATH ${process.execPath} ${program} status --json --ssh core@bootstrap --kubeconfig ${kubeconfig}`,
    );
    const status = JSON.parse(stdout) as Status;
    expect(codes(status)).toEqual(["not-connected"]);
    expect(sentence(status, "not-connected")).toMatch(
      /^agents run on node-0, but none is connected: port 8091 is blocked, or/,
    );
    // What access to the node adds.
    const noLog = expect.stringContaining("No agent available") as string;
    expect(status.cluster).toMatchObject({ pods: [{ node: "node-0", state: "Running", ready: false, noLog }] });
  }, 60_000);

  it("distinguishes a port that is refused from one that is blocked", async () => {
    lab.bootstrap.must(`iptables -R INPUT 1 -p tcp --dport 8091 -j REJECT --reject-with tcp-reset`);
    lab.node.must(restartAgent);
    const status = await statusWith("port-refused");
    expect(sentence(status, "port-refused")).toMatch(
      /connect: connection refused.*\(it listens on 10\.0\.0\.10:8091\)$/,
    );
  });

  it("reports no problem with a tunnel that works", async () => {
    const watch = spawn(process.execPath, [program, "status", "--name", name, "--watch", "--json"]);
    const states: string[] = [];
    for await (const line of createInterface(watch.stdout)) {
      const { state } = JSON.parse(line) as Status;
      states.push(state);
      if (states.length === 1) lab.bootstrap.must(`iptables -D ${port} -j REJECT --reject-with tcp-reset`);
      else if (state === "carries") break;
    }
    // In between, the agent may be seen while it connects.
    expect([states[0], states.at(-1)]).toEqual(["broken", "carries"]);
    watch.kill("SIGINT");
    expect(await once(watch, "exit")).toEqual([130, null]);
    const status = await statusWith();
    expect(status).toMatchObject({
      state: "carries",
      server: { agents: 1, readyz: 200, peers: ["10.0.0.20"], certificates: { length: 4 } },
      agents: [{ where: "node-0", readyz: 200, reason: undefined }],
    });
    const { code, stdout, stderr } = await command("status", "--name", name);
    expect(stdout).toMatch(/^agents +1 connected, from 10\.0\.0\.20$/m);
    expect(stdout).toMatch(/^certificate +serving for 10\.0\.0\.10 until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/m);
    // The webhook was called in vain while the port was blocked.
    expect(stdout).toMatch(/^dials +errors: no_agent \d+$/m);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("is gathered without a secret", async () => {
    const file = join(folder, "gather.tar.gz");
    const { code, stdout, stderr } = await run("gather", "--name", name, "--out", file);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/gather\.tar\.gz is written: \d+ files/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const names = spawnSync("tar", ["-tzf", file], { encoding: "utf8" }).stdout;
    for (const one of ["status", "bootstrap/log", "bootstrap/readyz", "bootstrap/metrics", "bootstrap/certificates"])
      expect(names).toContain(`/${one}.txt\n`);
    for (const one of ["egress-selector", "stages", "record", "server-pod"])
      expect(names).toContain(`/bootstrap/${one}.txt\n`);
    for (const one of ["log", "readyz", "metrics", "certificates"])
      expect(names).toContain(`/node-0/agent-1.${one}.txt\n`);
    const archive = gunzipSync(readFileSync(file)).toString("latin1");
    expect(archive).toContain("Agent connected");
    expect(archive).toContain("notAfter=");
    const secrets = secretsOf(lab);
    expect(secrets.length).toBeGreaterThan(10);
    expect(leaks(secrets, archive)).toEqual([]);
    // Twice does not overwrite.
    expect(await command("gather", "--name", name, "--out", file)).toMatchObject({
      code: 1,
      stderr: `error: ${file} already exists and was not changed: give another name with --out.\n`,
    });
  });

  it("counts a webhook that does not listen as an agent's answer", async () => {
    // Its process goes on: without it newer podmans end the whole pod.
    const refusal = (verb: string) =>
      lab.node.must(
        `nsenter --net --target "$(/usr/bin/podman inspect --format '{{.State.Pid}}' webhook-webhook)" iptables ${verb} INPUT -p tcp --dport 8443 -j REJECT --reject-with tcp-reset`,
      );
    // The kube-apiserver's own calls fail too while the node is slow.
    const failed = async () =>
      Number(/(\d+) error_response \(an agent could not reach the/.exec(JSON.stringify(await statusWith()))?.[1] ?? 0);
    const before = await failed();
    refusal("-I");
    const words = `dial tcp ${lab.addresses.webhookPod}:8443: connect: connection refused`;
    const { code, body } = lab.createConfigMap(lab.bootstrap, "refused", { tunnelled: "true" });
    expect(code).toBe(500);
    expect(body.message).toContain(words);
    refusal("-D");
    expect(await failed()).toBeGreaterThan(before);
    const log = lab.bootstrap.must("/usr/bin/podman logs konnectivity-server-konnectivity-server 2>&1");
    expect(log).toContain(`"DIAL_RSP contains failure" err="${words}"`);
  });

  it("says that a proxy is in the way", async () => {
    const path = `/apis/apps/v1/namespaces/${namespace}/daemonsets/${agentName}`;
    const original = lab.request(lab.node, "GET", path).body as unknown as Workload;
    const [container] = original.spec.template.spec.containers;
    const env = [{ name: "HTTPS_PROXY", value: "http://someone:hidden@10.0.0.20:3128" }];
    const template = {
      ...original.spec.template,
      spec: { ...original.spec.template.spec, containers: [{ ...container, env }] },
    };
    put(path, { ...original, spec: { ...original.spec, template } });
    const status = await statusWith("proxy-in-the-way");
    expect(sentence(status, "proxy-in-the-way")).toMatch(
      /^the agent on node-0 dials through the proxy http:\/\/10\.0\.0\.20:3128 \(dial tcp 10\.0\.0\.20:3128: connect: /,
    );
    put(path, { ...original });
    await statusWith();
  }, 60_000);

  it("says that the agent has another CA", async () => {
    lab.node.must(`cp -a ${certs} /run/kept && cat /opt/lab/tls/ca.crt >${certs}/ca.crt && ${restartAgent}`);
    const status = await statusWith("tls-other-ca");
    expect(sentence(status, "tls-other-ca")).toMatch(
      /\(x509: certificate signed by unknown authority\): its Secret belongs to other keys$/,
    );
  });

  it("says that the server refuses the agent's certificate", async () => {
    lab.node.must(
      `cp /run/kept/ca.crt ${certs}/ && cp /opt/lab/tls/kubelet-client.crt ${certs}/tls.crt && cp /opt/lab/tls/kubelet-client.key ${certs}/tls.key && chmod 644 ${certs}/* && ${restartAgent}`,
    );
    const status = await statusWith("tls-agent-refused");
    expect(sentence(status, "tls-agent-refused")).toMatch(
      /remote error: tls: certificate required|unknown certificate/,
    );
    lab.node.must(`cp -a /run/kept/. ${certs}/ && ${restartAgent}`);
    await statusWith();
  });

  it("says that the server's certificate is for another address", async () => {
    lab.bootstrap.must(`cp -a ${tls}/serving /opt/lab/serving`);
    makeCertificate("10.0.0.11", "20240101000000Z", "20990101000000Z");
    startWithIt();
    const status = await statusWith("tls-other-name");
    expect(sentence(status, "tls-other-name")).toMatch(
      /\(x509: certificate is valid for 10\.0\.0\.11, not 10\.0\.0\.10\): the bootstrap machine's address has changed$/,
    );
  }, 60_000);

  it("says that a node's clock is behind", async () => {
    // All machines of a lab have one clock: to the agent it is the same if the server's certificate begins later.
    makeCertificate("10.0.0.10", "20980101000000Z", "20990101000000Z");
    startWithIt();
    const status = await statusWith("clock-behind");
    expect(sentence(status, "clock-behind")).toMatch(
      /\(x509: certificate has expired or is not yet valid: current time \S+ is before 2098-01-01T00:00:00Z\)$/,
    );
    lab.bootstrap.must(`cp -a /opt/lab/serving/. ${tls}/serving/`);
    startWithIt();
    await statusWith();
  }, 60_000);

  it("says that a certificate has expired", async () => {
    makeCertificate("10.0.0.10", "20240101000000Z", "20240102000000Z");
    const status = await statusWith("certificate-expired");
    expect(status.state).toBe("carries");
    expect(sentence(status, "certificate-expired")).toMatch(
      /^certificates have expired: serving\/tls\.crt on bootstrap \(2024-01-02T00:00:00Z\); agents stay connected, but cannot reconnect/,
    );
    // Keys are read once, at start: from then on nobody connects.
    startWithIt();
    await waitFor("the agent's word", 40, async () => (await statusNow()).agents[0]?.reason?.code === "expired", {
      every: 1,
    });
    const broken = await statusWith("certificate-expired");
    expect(broken).toMatchObject({ state: "broken", server: { healthz: 200, agents: 0 } });
  }, 60_000);

  it("says that the server is not running", async () => {
    // So podman does not start it again, and the fake kubelet does not know.
    lab.bootstrap.must("/usr/bin/podman kill konnectivity-server-konnectivity-server");
    const status = await statusWith("server-down", "certificate-expired");
    expect(status.state).toBe("broken");
    const { code, stdout } = await command("status", "--name", name);
    expect(stdout).toMatch(/^server +does not answer on bootstrap$/m);
    expect(stdout).toMatch(
      /^wrong: the server is not running, so every call into the cluster waits until it times out; /m,
    );
    expect(code).toBe(1);
  });
});

/** Puts a new CA with such a certificate of the server where the server's are. */
function makeCertificate(address: string, from: string, until: string): void {
  lab.bootstrap.must(`bash ${support("server-certificate.sh")} ${tls}/serving ${address} ${from} ${until}`);
}

/** Keys are read once, at start: server and agent begin again with what is there now. */
function startWithIt(): void {
  lab.bootstrap.must("kill -9 $(pgrep -x proxy-server)");
  lab.node.must(`cat >${certs}/ca.crt && ${restartAgent}`, {}, lab.bootstrap.must(`cat ${tls}/serving/ca.crt`));
}

describe("status, used wrongly", () => {
  it("is one sentence and exit code 1", async () => {
    expect(await command("status", "--name", "nobody")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("No lab named nobody is running") as string,
    });
    expect(await command("status", "--ssh=-oProxyCommand=x")).toMatchObject({ code: 2, stdout: "" });
  });

  it("says which machine ssh does not reach", async () => {
    const { code, stdout } = await command("status", "--ssh", "ssh://core@127.0.0.1:1");
    expect(stdout).toMatch(
      /^unknown: ssh:\/\/core@127\.0\.0\.1:1 cannot be checked: ssh: connect to host .* refused\.$/m,
    );
    expect(code).toBe(1);
  });
});

interface Workload {
  readonly spec: {
    readonly template: { readonly metadata: object; readonly spec: { readonly containers: readonly object[] } };
  };
}

const support = (file: string) => projectFile("test/support", file);

function put(path: string, object: object): void {
  const { resourceVersion: _, ...metadata } = (object as { metadata: Record<string, unknown> }).metadata;
  expect(lab.request(lab.node, "PUT", path, { ...object, metadata }).code).toBe(200);
}
