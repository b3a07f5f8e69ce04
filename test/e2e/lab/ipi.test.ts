import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Lab } from "../../../lab/lab.ts";
import { LabView } from "../../../lab/lab-view.ts";
import type { Progress } from "../../../lab/operators.ts";
import { labChecks } from "../../../lab/verify-lab.ts";
import { waitFor } from "../../../lab/wait.ts";
import { runChecks } from "../../../src/cluster/verify.ts";
import { namespace } from "../../../src/core/konnectivity/names.ts";
import { command, run } from "../../support/cli.ts";
import { leftOf } from "../../support/lab.ts";
import { LabStacks } from "./lab-stacks.ts";

const stacks = new LabStacks(`ipi${process.pid}`);
afterAll(() => stacks.remove());

let lab: Lab;
beforeAll(async () => {
  stacks.describe({ local: { ipi: true } });
  stacks.deploy();
  lab = stacks.runningLab();
  await lab.installWorkload();
}, 180_000);

const itemsAt = (path: string) => {
  const { code, body } = lab.request(lab.node, "GET", path);
  if (code !== 200) throw new Error(`${path}: ${code} ${body.message ?? ""}`);
  return (body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
};

/** What the tunnel has in the cluster. The namespace may be terminating: nobody waits for that. */
function ofTheTunnel(): string[] {
  const { code, body } = lab.request(lab.node, "GET", `/api/v1/namespaces/${namespace}`);
  const { deletionTimestamp } = (body.metadata ?? {}) as { deletionTimestamp?: string };
  return [
    ...(code === 404 || deletionTimestamp !== undefined ? [] : ["namespace"]),
    ...itemsAt(`/apis/apps/v1/namespaces/${namespace}/daemonsets`),
    ...itemsAt(`/apis/apps/v1/namespaces/${namespace}/deployments`),
    ...itemsAt(`/api/v1/namespaces/${namespace}/secrets`),
    ...itemsAt("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings").filter((name) =>
      name.includes("konnectivity"),
    ),
  ];
}

/** How a node fares that dials a port of the bootstrap machine: 0 connected, 1 refused, 124 no answer. */
const dial = (port: number) =>
  lab.node.run(`timeout 2 bash -c '</dev/tcp/${lab.addresses.bootstrap}/${port}' 2>/dev/null`).status;

describe("a lab with `ipi: true`", () => {
  it("has neither gate nor sweep in its stacks", () => {
    expect(stacks.inState("local-teardown")).toEqual([]);
    expect(stacks.inState("local-bootstrap")).toEqual([
      "machine",
      "payload_later-parts",
      "payload_replacement",
      "report",
    ]);
  });

  it("boots the payload as openshift-install rewrote it: its own manifest is in the cluster", () => {
    const { code, body } = lab.request(
      lab.node,
      "GET",
      "/api/v1/namespaces/openshift-config/configmaps/openshift-install",
    );
    expect(code).toBe(200);
    expect(body.data).toMatchObject({ invoker: "user" });
  });

  it("has its tunnel on 9591, where the installer's firewall lets nodes in, and not on 8091, where it does not", () => {
    expect(new LabView(lab).server()?.flags.get("agent-port")).toBe("9591");
    expect(lab.node.must("tr '\\0' '\\n' </proc/$(pgrep -xo proxy-agent)/cmdline")).toContain(
      "--proxy-server-port=9591",
    );
    expect([dial(9591), dial(9592), dial(8091)]).toEqual([0, 1, 124]);
  });

  it("reaches a webhook in the pod network through it", () => {
    expect(lab.bootstrap.run(`ip route get ${lab.addresses.webhookPod}`).status).not.toBe(0);
    expect(lab.createConfigMap(lab.bootstrap, "one", { tunnelled: "true" })).toMatchObject({ code: 201 });
    expect(lab.createConfigMap(lab.bootstrap, "two", { tunnelled: "true", deny: "true" })).toMatchObject({ code: 403 });
    expect(ofTheTunnel()).toEqual(["namespace", "konnectivity-agent", "konnectivity-agent-certs"]);
  });

  it("holds what verify asks of it", async () => {
    await waitFor("the permanent kube-apiserver", 60, () => lab.request(lab.node, "GET", "/readyz").code === 200);
    const rows = await runChecks(labChecks(lab, { finish: false }));
    expect(rows.filter(({ result }) => result !== "passed")).toMatchObject([{ id: "step-6" }]);
  }, 120_000);

  const control: Progress = { revisions: [1], topology: "SingleReplica" };

  it("keeps its bootstrap machine while that is a member of etcd, with nothing of the tunnel left in the cluster", async () => {
    lab.reportProgress({ ...control, etcd: "enough members" });
    lab.finish();
    await waitFor("the end of the bootstrap", 60, () =>
      itemsAt("/api/v1/namespaces/kube-system/configmaps").includes("bootstrap"),
    );
    // The kube-apiserver of a single replica ends at once, and the tunnel with it.
    await waitFor("the clean-up", 30, () => ofTheTunnel().length === 0);
    // The installer looks every second.
    await sleep(4000);
    expect(lab.bootstrap.isRemoved).toBe(false);
    expect(lab.bootstrap.must("cat /opt/openshift/.bootkube.done")).toBe("");
  }, 90_000);

  it("loses it at once when etcd's operator says so, by the name of 4.14 too", async () => {
    lab.reportProgress({ ...control, etcd: "member removed", release: "4.14" });
    await waitFor("the removal of the bootstrap machine", 10, () => lab.bootstrap.isRemoved);
    expect(ofTheTunnel()).toEqual([]);
    expect(existsSync(lab.bootstrap.folder)).toBe(false);
    expect(leftOf(stacks.name).filter((path) => path.endsWith(".bootstrap"))).toEqual([]);
    await waitFor("the agents' end", 30, () => new LabView(lab).agents().length === 0);
    expect(lab.createConfigMap(lab.node, "three", { tunnelled: "true" })).toMatchObject({ code: 201 });
  }, 90_000);

  it("is still a lab to every command", async () => {
    lab = stacks.runningLab();
    const rows = await runChecks(labChecks(lab, { finish: false }));
    expect(rows.filter(({ result }) => result === "failed")).toEqual([]);
    expect(rows.find(({ id }) => id === "step-6")).toMatchObject({ result: "passed" });
    expect(await command("status", "--name", stacks.name)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^tunnel +.*ended.*[^]*the bootstrap machine is removed too/) as string,
    });
    const archive = join(stacks.outdir, "gathered.tar.gz");
    expect(await command("gather", "--name", stacks.name, "--out", archive)).toMatchObject({ code: 0, stderr: "" });
    expect(await run("lab", "finish", "--name", stacks.name)).toEqual({
      code: 0,
      stdout: "The bootstrap has ended. The installer has removed the bootstrap machine.\n",
      stderr: "",
    });
    expect((await run("teardown", "report", "--config", stacks.configFile, "local")).stdout).toMatch(
      /^gone +machine bootstrap of the lab .*\nleft +machine node-0 of the lab /,
    );
  }, 120_000);

  it("goes as a whole with `cdktf destroy`, as with `openshift-install destroy cluster`", async () => {
    const { code, output } = await stacks.destroy().ended;
    expect(output).toContain("2 gone, 0 terminating, 0 left, 0 not looked at.");
    expect(code).toBe(0);
    expect([stacks.inState("local-teardown"), stacks.inState("local-bootstrap")]).toEqual([[], []]);
    expect(leftOf(stacks.name)).toEqual([]);
  }, 120_000);
});
