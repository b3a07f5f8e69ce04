import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addresses } from "../../lab/addresses.ts";
import { type Lab, labIsUp, until } from "../../lab/lab.ts";
import type { Machine } from "../../lab/machine.ts";
import { labWith, removeLab } from "../support/lab.ts";

const name = `test${process.pid}`;
let lab: Lab;

beforeAll(async () => {
  lab = await labWith({ name });
}, 180_000);
afterAll(() => removeLab(name));

let made = 0;
/** Creates a ConfigMap with these labels through a kube-apiserver. */
const createConfigMap = (machine: Machine, labels: Record<string, string>) =>
  lab.createConfigMap(machine, `try-${made++}`, labels);
const ask = (machine: Machine, method: string, path: string, body?: object) => lab.ask(machine, method, path, body);
const calls = () =>
  JSON.parse(lab.node.must(`curl -sk https://${addresses.webhookPod}:8443/calls`)) as Record<string, { count: number }>;

describe("the bootstrap machine", () => {
  it("has no route to the pod network", () => {
    expect(lab.bootstrap.run(`ip route get ${addresses.webhookPod}`).stderr).toMatch(/unreachable|No route to host/);
    expect(lab.bootstrap.run(`curl -sk --max-time 3 https://${addresses.webhookPod}:8443/healthz`).status).not.toBe(0);
  });

  it("reaches a webhook in the pod network through the tunnel all the same", () => {
    const before = calls()["/validate"]?.count ?? 0;
    expect(createConfigMap(lab.bootstrap, { tunnelled: "true" })).toMatchObject({ code: 201 });
    expect(calls()["/validate"]?.count).toBe(before + 1);
  });

  it("hears a denial", () => {
    const { code, body } = createConfigMap(lab.bootstrap, { tunnelled: "true", deny: "true" });
    expect(code).toBe(403);
    expect(body.message).toContain('the label deny: "true" is not wanted in the lab');
  });

  it("does not reach a webhook by URL: that is not tunnelled", () => {
    const { code, body } = createConfigMap(lab.bootstrap, { "by-url": "true" });
    expect(code).toBe(500);
    expect(body.message).toMatch(/no route to host|network is unreachable/i);
  });

  it("reaches a conversion webhook, an aggregated API", async () => {
    const group = "/apis/lab.konnectivity-bootstrap.io";
    await until("the CRD", 20, () => ask(lab.bootstrap, "GET", `${group}/v1/widgets`).code === 200);
    const widget = {
      apiVersion: "lab.konnectivity-bootstrap.io/v1",
      kind: "Widget",
      metadata: { name: "one" },
      spec: {},
    };
    expect(ask(lab.bootstrap, "POST", `${group}/v1/widgets`, widget).code).toBe(201);
    expect(ask(lab.bootstrap, "GET", `${group}/v2/widgets/one`).body).toMatchObject({
      apiVersion: "lab.konnectivity-bootstrap.io/v2",
      spec: { convertedFrom: "lab.konnectivity-bootstrap.io/v1" },
    });
    await until("the aggregated API", 20, () => ask(lab.bootstrap, "GET", `${group}/v1alpha1/echoes`).code === 200);
  });

  it("without the tunnel the same call fails", async () => {
    lab.bootstrap.must("mv /etc/kubernetes/manifests/bootstrap-konnectivity-server.yaml /opt/lab/");
    await until("the server's end", 30, () => lab.bootstrap.run("pgrep -x proxy-server").status !== 0);
    expect(createConfigMap(lab.bootstrap, { tunnelled: "true" }).code).toBe(500);
    lab.bootstrap.must("mv /opt/lab/bootstrap-konnectivity-server.yaml /etc/kubernetes/manifests/");
    await labIsUp(lab, () => undefined);
    await until("the call", 30, () => createConfigMap(lab.bootstrap, { tunnelled: "true" }).code === 201);
  });
});

describe("the permanent kube-apiserver, which knows no tunnel", () => {
  it("reaches the webhook before the bootstrap ends, and after", async () => {
    await until("it is ready", 60, () => ask(lab.node, "GET", "/readyz").code === 200);
    expect(createConfigMap(lab.node, { tunnelled: "true" }).code).toBe(201);
    lab.finish();
    await until("bootkube's end", 60, () => lab.bootstrap.run("test -e /opt/openshift/.bootkube.done").status === 0);
    expect(createConfigMap(lab.node, { tunnelled: "true" }).code).toBe(201);
    expect(
      ask(lab.node, "GET", "/apis/apps/v1/namespaces/openshift-bootstrap-konnectivity/daemonsets").body.items,
    ).toEqual([]);
    expect(lab.bootstrap.must("ls /etc/kubernetes/manifests")).toBe("");
  });
});
