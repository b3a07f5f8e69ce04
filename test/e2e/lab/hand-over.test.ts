import { afterEach, describe, expect, it } from "vitest";
import type { Lab } from "../../../lab/lab.ts";
import { LabView } from "../../../lab/lab-view.ts";
import { waitFor } from "../../../lab/wait.ts";
import { namespace } from "../../../src/core/konnectivity/names.ts";
import { labWith, removeLab, startLab } from "../../support/lab.ts";
import { LoadedLab } from "../load/loaded-lab.ts";

const name = `handover${process.pid}`;
afterEach(() => removeLab(name));

const done = ({ bootstrap }: Lab) => bootstrap.run("test -e /opt/openshift/.bootkube.done").status === 0;
const serves = ({ bootstrap }: Lab) => bootstrap.must("ss -Hltn 'sport = :6443'") !== "";

/** Seconds from the end of the bootstrap until bootkube is done. */
async function finish(lab: Lab): Promise<number> {
  await waitFor("cluster-bootstrap", 60, () => lab.bootstrap.run("pgrep -f 'main.js cluster-bootstrap'").status === 0);
  const start = performance.now();
  lab.finish();
  await waitFor("bootkube's end", 60, () => done(lab));
  return (performance.now() - start) / 1000;
}

/**
 * Twenty calls a second through the webhook at the bootstrap kube-apiserver, from before the end of the bootstrap until it
 * serves no more: 70 s, because the control plane is highly available.
 * @returns how many there were, and what those said that failed because of the webhook
 */
async function callsThroughTheEnd(lab: Lab): Promise<{ calls: number; failures: string[]; seconds: number }> {
  const pulse = new LoadedLab(lab).pulse("tunnel");
  await pulse.waitFor("calls", 30, (calls) => calls.length > 40);
  const seconds = await finish(lab);
  await waitFor("the kube-apiserver's end", 150, () => !serves(lab), { every: 1 });
  await pulse.stop();
  const failures = pulse.calls.map(({ failure }) => failure).filter((failure) => failure.includes("webhook"));
  return { calls: pulse.calls.filter(({ failure }) => failure === "").length, failures, seconds };
}

describe("the end of the bootstrap", () => {
  it("fails no call because of the tunnel while the bootstrap kube-apiserver serves on, and delays nothing", async () => {
    const lab = await labWith({ name, nodes: 2 });
    const { calls, failures, seconds } = await callsThroughTheEnd(lab);
    expect(failures).toEqual([]);
    expect(calls).toBeGreaterThan(1000);
    await waitFor(
      "the clean-up",
      60,
      () => lab.bootstrap.run("ls /opt/openshift/konnectivity-bootstrap/tls").status !== 0,
    );
    await waitFor("the server's end", 30, () => new LabView(lab).server() === undefined);
    expect(lab.request(lab.node, "GET", `/apis/apps/v1/namespaces/${namespace}/daemonsets`).body.items).toEqual([]);
    console.log(`${calls} calls, none failed because of the tunnel; bootkube was done after ${seconds.toFixed(1)} s`);
  }, 360_000);

  it("would fail calls if the clean-up did not wait", async () => {
    const lab = await labWith({ name, nodes: 2 });
    lab.bootstrap.must("sed -i 's/SECONDS + 150/SECONDS/' /usr/local/bin/konnectivity-bootstrap-setup.sh");
    const { calls, failures } = await callsThroughTheEnd(lab);
    expect(failures.length).toBeGreaterThan(100);
    console.log(`without the wait, ${failures.length} of ${calls + failures.length} calls fail`);
  }, 360_000);

  it("is no later than without a tunnel", async () => {
    const lab = await startLab({ name, tunnel: "off" });
    const seconds = await finish(lab);
    console.log(`without a tunnel, bootkube was done after ${seconds.toFixed(1)} s`);
    expect(seconds).toBeLessThan(5);
  }, 120_000);
});

/** How often; the release's figure is of 20. */
const runs = Number(process.env.HAND_OVER_RUNS ?? 2);

describe("with openshift-install's own infrastructure", () => {
  it.each(Array.from({ length: runs }, (_, run) => run + 1))(
    "nothing is left in the cluster when the machine is removed seconds after etcd's report (%i)",
    async () => {
      const lab = await labWith({ name, nodes: 2, ipi: true });
      await waitFor("the permanent kube-apiserver", 60, () => lab.request(lab.node, "GET", "/readyz").code === 200);
      await lab.completeBootstrap();
      const { code, body } = lab.request(lab.node, "GET", `/api/v1/namespaces/${namespace}`);
      const { deletionTimestamp } = (body.metadata ?? {}) as { deletionTimestamp?: string };
      expect(code === 404 || deletionTimestamp !== undefined).toBe(true);
      for (const path of [
        `/apis/apps/v1/namespaces/${namespace}/daemonsets`,
        `/api/v1/namespaces/${namespace}/secrets`,
      ])
        expect(lab.request(lab.node, "GET", path).body.items, path).toEqual([]);
    },
    180_000,
  );
});
