import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentName, staticPodManifest } from "../../../src/core/konnectivity/names.ts";
import { bootstrapIsUp, type Lab, labIsUp } from "../../../lab/lab.ts";
import { waitFor } from "../../../lab/wait.ts";
import type { LabMachine } from "../../../lab/machine.ts";
import { KubeApiServerWithoutTunnel } from "../../../lab/without-tunnel.ts";
import { removeLab, startLab } from "../../support/lab.ts";

const name = `test${process.pid}`;
const ignore = () => undefined;
let lab: Lab;

beforeAll(async () => {
  lab = await startLab({ name, nodes: 2 });
  // Agents start seconds later: none has ever been connected.
  lab.bootstrap.must(`iptables -I ${blocked}`);
  await bootstrapIsUp(lab, ignore);
  await lab.installWorkload();
}, 180_000);
afterAll(() => removeLab(name));

/** As a firewall without our rule. */
const blocked = "INPUT -p tcp --dport 8091 -j REJECT --reject-with tcp-reset";

let made = 0;
/** Creates a ConfigMap with these labels through a kube-apiserver. */
const createConfigMap = (machine: LabMachine, labels: Record<string, string>) =>
  lab.createConfigMap(machine, `try-${made++}`, labels);
const request = (...args: Parameters<Lab["request"]>) => lab.request(...args);
/** How often something of the webhook's process was asked for, and from where. */
const calls = (node: LabMachine, place: string) =>
  JSON.parse(node.must(`curl -sk https://${place}/calls`)) as Record<
    string,
    { count: number; sources: Record<string, number> } | undefined
  >;
const webhookCalls = () => calls(lab.node, `${lab.addresses.webhookPod}:8443`)["/validate"];

const group = "/apis/lab.konnectivity-bootstrap.io";
const widget = {
  apiVersion: "lab.konnectivity-bootstrap.io/v1",
  kind: "Widget",
  metadata: { name: "one" },
  spec: {},
};
const nodeProxy = (index: number) => `/api/v1/nodes/node-${index}/proxy/healthz`;

describe("before the first agent", () => {
  // Each has the time to wait for one: these words, and not those of a timeout, say that it does not.
  it("whatever needs one fails at once, and says so", async () => {
    await waitFor("the CRD", 60, () => request(lab.bootstrap, "POST", `${group}/v1/widgets`, widget).code === 201);
    const answers = {
      webhook: createConfigMap(lab.bootstrap, { tunnelled: "true" }),
      conversion: request(lab.bootstrap, "GET", `${group}/v2/widgets/one`),
      aggregated: request(lab.bootstrap, "GET", `${group}/v1alpha1/echoes`),
      node: request(lab.bootstrap, "GET", nodeProxy(0)),
    };
    const said = Object.entries(answers).map(([what, { code, body }]) => [what, code, body.message?.trim()]);
    const call = 'failed to call webhook: Post "https://webhook.lab.svc:443/validate?timeout=3s"';
    expect(said).toEqual([
      [
        "webhook",
        500,
        `Internal error occurred: failed calling webhook "by-service.lab.konnectivity-bootstrap.io": ${call}: No agent available`,
      ],
      [
        "conversion",
        500,
        'conversion webhook for lab.konnectivity-bootstrap.io/v1, Kind=Widget failed: Post "https://webhook.lab.svc:443/convert?timeout=30s": No agent available',
      ],
      // The second when the kube-apiserver has already looked after it by itself.
      [
        "aggregated",
        503,
        expect.stringMatching(/^(error trying to reach service: No agent available|service unavailable)$/) as string,
      ],
      ["node", 503, "error trying to reach service: No agent available"],
    ]);
  });

  it("agents run, and say why they are not connected", async () => {
    const log = `/usr/bin/podman logs ${agentName}-0-${agentName} 2>&1`;
    await waitFor("an attempt", 30, () => lab.node.run(`${log} | grep 'connection refused'`).status === 0);
    lab.bootstrap.must(`iptables -D ${blocked}`);
    await labIsUp(lab, ignore);
  }, 60_000);
});

describe("the bootstrap machine", () => {
  it("has no route to the pod network", () => {
    const { webhookPod } = lab.addresses;
    expect(lab.bootstrap.run(`ip route get ${webhookPod}`).stderr).toMatch(/unreachable|No route to host/);
    expect(lab.bootstrap.run(`curl -sk --max-time 3 https://${webhookPod}:8443/healthz`).status).not.toBe(0);
  });

  it("does not reach a webhook there without the egress selector", async () => {
    const before = webhookCalls()?.count;
    const without = KubeApiServerWithoutTunnel.start(lab);
    await without.isReady();
    const { code, body } = without.createConfigMap("without-tunnel", { tunnelled: "true" });
    expect(code).toBe(500);
    expect(body.message).toMatch(
      /^Internal error occurred: failed calling webhook "by-service\..*: dial tcp 10\.128\.0\.10:8443: connect: no route to host$/,
    );
    expect(webhookCalls()?.count).toBe(before);
    without.stop();
    expect(createConfigMap(lab.bootstrap, { tunnelled: "true" }).code).toBe(201);
  }, 90_000);

  it("reaches a webhook in the pod network through the tunnel all the same", () => {
    const before = webhookCalls()?.count ?? 0;
    expect(createConfigMap(lab.bootstrap, { tunnelled: "true" })).toMatchObject({ code: 201 });
    expect(webhookCalls()?.count).toBe(before + 1);
  });

  it("receives a denial", () => {
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
    expect(request(lab.bootstrap, "GET", `${group}/v2/widgets/one`).body).toMatchObject({
      apiVersion: "lab.konnectivity-bootstrap.io/v2",
      spec: { convertedFrom: "lab.konnectivity-bootstrap.io/v1" },
    });
    await waitFor(
      "the aggregated API",
      60,
      () => request(lab.bootstrap, "GET", `${group}/v1alpha1/echoes`).code === 200,
    );
  }, 70_000);

  it("reaches every node's kubelet by the node proxy: an agent dials it", () => {
    for (const [index, node] of lab.nodes.entries()) {
      expect(request(lab.bootstrap, "GET", nodeProxy(index))).toMatchObject({ code: 200, body: { message: "ok" } });
      const seen = calls(node, `${lab.addresses.nodeAddress(index)}:10250`)["/healthz"];
      expect(Object.keys(seen?.sources ?? {})).not.toContain(lab.addresses.bootstrap);
    }
  });

  it("goes through another node's agent when the webhook's own node has none", async () => {
    const agents = `/usr/bin/podman pod ps --quiet --filter name=${agentName}`;
    lab.node.must(`/usr/bin/podman pod stop --time=0 $(${agents})`);
    await waitFor("the call", 30, () => createConfigMap(lab.bootstrap, { tunnelled: "true" }).code === 201);
    // With its own address: there is no masquerade between pods.
    expect(Object.keys(webhookCalls()?.sources ?? {})).toContainEqual(expect.stringMatching(/^10\.128\.2\./));
    lab.node.must(`/usr/bin/podman pod start $(${agents})`);
  }, 60_000);

  it("without the tunnel the same calls fail", async () => {
    lab.bootstrap.must(`mv ${staticPodManifest} /opt/lab/kept.yaml`);
    await waitFor("the server's end", 30, () => lab.bootstrap.run("pgrep -x proxy-server").status !== 0);
    expect(createConfigMap(lab.bootstrap, { tunnelled: "true" }).code).toBe(500);
    // There is a way from machine to machine, and it is not taken.
    const { nodeAddress } = lab.addresses;
    expect(lab.bootstrap.must(`curl -sk --max-time 5 https://${nodeAddress(1)}:10250/healthz`)).toBe("ok");
    expect(request(lab.bootstrap, "GET", nodeProxy(1), undefined, 5).code).not.toBe(200);
    lab.bootstrap.must(`mv /opt/lab/kept.yaml ${staticPodManifest}`);
    await labIsUp(lab, ignore);
    await waitFor("the call", 30, () => createConfigMap(lab.bootstrap, { tunnelled: "true" }).code === 201);
  }, 120_000);
});

describe("the permanent kube-apiserver, which knows no tunnel", () => {
  it("reaches the webhook before the bootstrap ends, and after", async () => {
    await waitFor("it is ready", 60, () => request(lab.node, "GET", "/readyz").code === 200);
    expect(createConfigMap(lab.node, { tunnelled: "true" }).code).toBe(201);
    lab.finish();
    await waitFor("bootkube's end", 60, () => lab.bootstrap.run("test -e /opt/openshift/.bootkube.done").status === 0);
    expect(createConfigMap(lab.node, { tunnelled: "true" }).code).toBe(201);
    // The bootstrap kube-apiserver serves for 70 s more.
    expect(createConfigMap(lab.bootstrap, { tunnelled: "true" }).code).toBe(201);
    await waitFor("the clean-up", 120, () => lab.bootstrap.must("ls /etc/kubernetes/manifests") === "", { every: 1 });
    expect(
      request(lab.node, "GET", "/apis/apps/v1/namespaces/openshift-bootstrap-konnectivity/daemonsets").body.items,
    ).toEqual([]);
  }, 240_000);

  it("tells the nodes that the agents are gone", async () => {
    for (const node of lab.nodes) {
      // podman forgets a container a moment after its process has ended.
      const containers = `/usr/bin/podman ps --all --quiet --filter label=app=${agentName}`;
      await waitFor("the agent's end", 30, () => node.must(containers) === "");
      expect(node.run("pgrep -x proxy-agent").status).not.toBe(0);
    }
  }, 90_000);
});
