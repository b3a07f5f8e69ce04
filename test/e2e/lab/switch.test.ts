import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { egressSelector, home } from "../../../src/core/konnectivity/names.ts";
import type { Lab } from "../../../lab/lab.ts";
import { waitFor } from "../../../lab/wait.ts";
import { command, type Run } from "../../support/cli.ts";
import { labWith, removeLab } from "../../support/lab.ts";
import { LoadedLab } from "../load/loaded-lab.ts";
import { isBad } from "../load/statistics.ts";

const name = `switch${process.pid}`;
let lab: Lab;

beforeAll(async () => {
  lab = await labWith({ name });
  new LoadedLab(lab).installHookWithoutMemory();
}, 180_000);
afterAll(() => removeLab(name));

const tunnel = (to: "off" | "on", ...options: readonly string[]): Promise<Run> => {
  return command("tunnel", to, "--name", name, "--wait", "60", ...options);
};
const selector = () => lab.bootstrap.must(`cat ${egressSelector.host}`);
const isTunnelled = () => /uds(Name)?:/.test(selector());
const processOf = (program: string) => lab.bootstrap.must(`pgrep -xo ${program}`).trim();
const kubeApiServer = () => processOf("kube-apiserver");
const stateOnMachine = () => lab.bootstrap.must(`cd ${home} && ls switch* | grep -v lock || :`).trim().split("\n");
let made = 0;
const callWebhook = () => lab.createConfigMap(lab.bootstrap, `switch-${made++}`, { tunnelled: "true" });
const callKubelet = () => lab.request(lab.bootstrap, "GET", "/api/v1/nodes/node-0/proxy/healthz");

/** Calls a webhook 20 times a second while something happens. Reports the failed calls, which the docs page has. */
async function underLoad(act: () => Promise<Run>, after: number) {
  const pulse = new LoadedLab(lab).pulse("tunnel, new connections");
  await pulse.waitFor("twenty calls", 30, (calls) => calls.length >= 20);
  const begun = Date.now();
  const ran = await act();
  const ended = Date.now();
  await pulse.waitFor("calls after it", 30, (calls) => calls.some(({ sent }) => sent > ended + after));
  await pulse.stop();
  const failures = new Map<string, { count: number; first: number; last: number }>();
  for (const { sent, failure } of pulse.calls.filter(isBad)) {
    const reason = failure
      .replace(/^.*(?=No agent|no route to host|connection refused|EOF|reset by peer)/s, "")
      .slice(0, 160);
    const at = sent - begun;
    const { count, first, last } = failures.get(reason) ?? { count: 0, first: at, last: at };
    failures.set(reason, { count: count + 1, first: Math.min(first, at), last: Math.max(last, at) });
  }
  const slowest = Math.max(...pulse.calls.filter((call) => !isBad(call)).map(({ took }) => took));
  console.log(ran.stdout, { calls: pulse.calls.length, took: ended - begun, slowest }, failures);
  return { ran, failures };
}

describe("tunnel off and on", () => {
  it("shows with --dry-run what it would do, and changes nothing", async () => {
    const before = [selector(), kubeApiServer()];
    const { code, stdout } = await tunnel("off", "--dry-run");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^tunnel +on; the server runs and has agents\nAPI +ready\n/m);
    expect([selector(), kubeApiServer()]).toEqual(before);
    expect(stateOnMachine()).toEqual([""]);
  });

  it("switches off under load: webhooks fail as without a tunnel, nodes are reached directly", async () => {
    const [server, agent, old] = [processOf("proxy-server"), lab.node.must("pgrep -x proxy-agent"), kubeApiServer()];
    const { ran, failures } = await underLoad(() => tunnel("off", "--yes", "--json"), 2000);
    expect(ran.code, ran.stderr).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ to: "off", state: "off", changed: true, found: { state: "on" } });
    expect([...failures.keys()].filter((reason) => !/^(connection refused|no route to host|EOF|.*reset by peer.*)$/.test(reason))).toEqual([]); // prettier-ignore
    expect(isTunnelled()).toBe(false);
    expect(kubeApiServer()).not.toBe(old);
    expectOff();
    expect([processOf("proxy-server"), lab.node.must("pgrep -x proxy-agent")]).toEqual([server, agent]);
  }, 120_000);

  it("does nothing when it is repeated", async () => {
    const before = kubeApiServer();
    const { code, stdout } = await tunnel("off", "--yes");
    expect([code, stdout]).toEqual([0, "The tunnel of bootstrap is already off.\n"]);
    expect(kubeApiServer()).toBe(before);
  });

  it("is what status reports", async () => {
    const { code, stdout } = await command("status", "--name", name, "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ state: "broken", findings: [{ code: "switched-off" }] });
  });

  it("stays off when bootkube.sh runs again and the kube-apiserver is created again", async () => {
    lab.bootstrap.must("kill -9 $(pgrep -f 'bin/bootkube.sh$') $(pgrep -f 'fakes/main.js cluster-bootstrap$')");
    // bootkube.sh has repeated the tunnel's set-up by then: the fake of cluster-bootstrap overwrites no static pod.
    const refused = () => readFileSync(join(lab.bootstrap.folder, "bootkube.log"), "utf8").includes("EEXIST");
    await waitFor("a cluster-bootstrap that refuses", 60, refused);
    const [old, pod] = [kubeApiServer(), "/etc/kubernetes/manifests/kube-apiserver-pod.yaml"];
    lab.bootstrap.must(`rm ${pod}`);
    await waitFor("another kube-apiserver", 90, () => ![old, ""].includes(lab.bootstrap.run("pgrep -xo kube-apiserver").stdout.trim())); // prettier-ignore
    await waitFor("the kube-apiserver", 60, () => callKubelet().code === 200);
    expect(isTunnelled()).toBe(false);
    expectOff();
  }, 240_000);

  it("switches on again under load", async () => {
    const { ran } = await underLoad(() => tunnel("on", "--yes"), 2000);
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stdout).toContain(
      "The tunnel of bootstrap is on, and the kube-apiserver is ready. Its API did not answer",
    );
    expectOn();
    expect(stateOnMachine()).toEqual(["switched-on.yaml"]);
  }, 120_000);

  it("completes a switch that was killed", async () => {
    const old = kubeApiServer();
    const killed = tunnel("off", "--yes");
    await waitFor("a switch", 30, () => stateOnMachine().includes("switched-off.yaml"), { every: 0.02 });
    lab.bootstrap.must("kill -9 $(pgrep -f '[b]ash -s -- off')");
    expect((await killed).stderr).toMatch(/^error: It is not known whether the tunnel of bootstrap is off: /m);
    const { code, stdout, stderr } = await tunnel("off", "--yes");
    expect([code, stdout], stderr).toEqual([0, expect.stringContaining("an earlier switch was interrupted")]);
    expect(kubeApiServer()).not.toBe(old);
    expect(stateOnMachine()).toEqual(["switched-off.yaml", "switched-on.yaml"]);
    expectOff();
  }, 120_000);

  it("restores what was before when the kube-apiserver does not accept the selector", async () => {
    const saved = `${home}/switched-on.yaml`;
    lab.bootstrap.must(`cp ${saved} /opt/lab/kept && sed -i 's/GRPC/Nonsense/' ${saved}`);
    const { code, stderr } = await tunnel("on", "--yes", "--wait", "8");
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: With the tunnel on, .* so everything is as before \(in its log: .*Nonsense/m),
    ]);
    expect(stateOnMachine()).toEqual(["switched-off.yaml", "switched-on.yaml"]);
    expectOff();
    lab.bootstrap.must(`cp /opt/lab/kept ${saved}`);
    expect((await tunnel("on", "--yes")).code).toBe(0);
    expectOn();
  }, 180_000);

  it("refuses when the bootstrap has ended", async () => {
    await lab.completeBootstrap();
    const { code, stderr } = await tunnel("off", "--yes");
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: The tunnel of bootstrap cannot be switched, .*: the bootstrap has ended/),
    ]);
  }, 120_000);
});

function expectOff(): void {
  const { code, body } = callWebhook();
  expect([code, body.message]).toEqual([500, expect.stringContaining("connect: no route to host")]);
  expect(callKubelet()).toMatchObject({ code: 200, body: { message: "ok" } });
}

function expectOn(): void {
  expect(isTunnelled()).toBe(true);
  expect(callWebhook().code).toBe(201);
  expect(callKubelet()).toMatchObject({ code: 200, body: { message: "ok" } });
}
