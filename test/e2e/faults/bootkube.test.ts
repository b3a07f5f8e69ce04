import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentSecretName, namespace, staticPodManifest, tls } from "../../../src/core/konnectivity/names.ts";
import { decodeContents, replaceContents } from "../../../src/core/ignition/contents.ts";
import type { IgnitionConfig } from "../../../src/core/ignition/config.ts";
import { type Lab, labIsUp } from "../../../lab/lab.ts";
import { waitFor } from "../../../lab/wait.ts";
import { projectFile } from "../../../src/runtime/project-files.js";
import { LoadedLab, processes } from "../load/loaded-lab.ts";
import { labPayload, removeLab, startLab } from "../../support/lab.ts";
import { record } from "./fault.ts";

const name = `stages${process.pid}`;
const stages = [
  ...["resolve-images", "cvo-bootstrap", "etcd-bootstrap", "konnectivity-certs", "konnectivity-server-bootstrap"],
  ...["kube-apiserver-bootstrap", "mco-bootstrap", "wait-for-etcd", "konnectivity-agent-manifest", "cb-bootstrap"],
  ...["wait-for-ceo", "konnectivity-cleanup"],
];
const oldAddress = "10.0.0.10";
const newAddress = "10.0.0.11";
const apiServerManifest = "/etc/kubernetes/manifests/kube-apiserver-pod.yaml";

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ name, payload: killedAtStages(labPayload("4.23", {})) });
  // Long before anything asks for an address.
  lab.bootstrap.must("ip route del default && ! [ -e /opt/lab/killed-at-konnectivity-certs ]");
}, 60_000);
afterAll(() => removeLab(name));

/** The payload, with a bootkube.sh that is killed where each stage begins, once. */
function killedAtStages(payload: string): string {
  const ignition = JSON.parse(payload) as IgnitionConfig;
  const path = "/usr/local/bin/bootstrap-service-record.sh";
  const file = ignition.storage?.files?.find((entry) => entry.path === path);
  if (file?.contents === undefined) throw new Error(`the payload has no ${path}`);
  const more = readFileSync(projectFile("test/e2e/faults/kill-at-stages.sh"));
  file.contents = replaceContents(file.contents, Buffer.concat([decodeContents(file.contents), more]));
  return JSON.stringify(ignition);
}

const killedAt = (stage: string) => lab.bootstrap.run(`test -e /opt/lab/killed-at-${stage}`).status === 0;
const bootkubeSaid = (words: string) =>
  readFileSync(join(lab.bootstrap.folder, "bootkube.log"), "utf8")
    .split("\n")
    .filter((line) => line.includes(words));
const issued = () => bootkubeSaid("issued certificates for").map((line) => line.replace(/.* |\.$/g, ""));
const calls = () => lab.createConfigMap(lab.bootstrap, `stage-${Date.now()}`, { tunnelled: "true" });

describe("bootkube.sh, killed at the beginning of each stage and started again", () => {
  it("makes the tunnel on a machine without a default route, and again when that gets another address", async () => {
    await waitFor("the last stage before cluster-bootstrap", 120, () => killedAt("konnectivity-agent-manifest"));
    expect(lab.bootstrap.must("ip route show default")).toBe("");
    expect(issued()).toEqual([oldAddress]);
    lab.bootstrap.must(`ip address del ${oldAddress}/24 dev ens3 && ip address add ${newAddress}/24 dev ens3`);
    // As a load balancer in front of it would, and not after seconds: nobody is there any more.
    lab.node.must(`ip route add unreachable ${oldAddress}`);
    await labIsUp(lab, () => undefined);
    expect(issued()).toEqual([oldAddress, newAddress]);
    expect(lab.bootstrap.must("ss -Hltn 'sport = 8091'")).toContain(`${newAddress}:8091`);
    await lab.installWorkload();
    expect(calls()).toMatchObject({ code: 201 });
    record({
      done: "the machine has no default route",
      lost: "nothing",
      recovered: `the address is taken from the machine network (certificates for ${oldAddress})`,
    });
    record({
      done: "the bootstrap machine gets another address before the agents are created",
      lost: "nothing, because no agent was connected",
      recovered: `\`bootkube.sh\` finds the new address when it runs again, creates certificates for ${newAddress}, and server and agents use that address`,
    });
  }, 180_000);

  it("keeps the tunnel when it is killed while cluster-bootstrap runs", async () => {
    const loaded = new LoadedLab(lab);
    const programs = () => [
      ...processes(lab.bootstrap, "proxy-server"),
      ...processes(lab.node, "proxy-agent"),
      loaded.agents(),
    ];
    const before = programs();
    expect(before).toHaveLength(3);
    lab.bootstrap.must("kill -9 $(pgrep -f 'bin/bootkube.sh$') $(pgrep -f 'fakes/main.js cluster-bootstrap$')");
    // cluster-bootstrap never overwrites what it has copied: that is upstream's, and has nothing to do with a tunnel.
    await waitFor("a cluster-bootstrap that refuses", 60, () => bootkubeSaid("EEXIST").length > 0);
    const refusals = bootkubeSaid("EEXIST").length;
    lab.bootstrap.must(`rm ${apiServerManifest}`);
    await waitFor("cluster-bootstrap's work", 60, () => lab.bootstrap.run(`test -e ${apiServerManifest}`).status === 0);
    await waitFor("a call", 60, () => calls().code === 201);
    expect(programs()).toEqual(before);
    expect(refusals).toBeGreaterThan(0);
    record({
      done: "`bootkube.sh` and cluster-bootstrap are killed while cluster-bootstrap runs",
      lost: "nothing of the tunnel. The processes of server and agents continue and stay connected",
      recovered:
        "`bootkube.sh` runs again, but cluster-bootstrap refuses to overwrite the static pods that it has already copied. Delete them from `/etc/kubernetes/manifests`, except `bootstrap-konnectivity-server.yaml`",
    });
  }, 180_000);

  it("ends, and leaves nothing", async () => {
    lab.finish();
    await waitFor("bootkube's end", 120, () => lab.bootstrap.run("test -e /opt/openshift/.bootkube.done").status === 0);
    expect(stages.filter((stage) => !killedAt(stage))).toEqual([]);
    expect(bootkubeSaid("Killed")).toHaveLength(stages.length + 1);
    expect(issued()).toEqual([oldAddress, newAddress]);
    await waitFor("the clean-up", 60, () => lab.bootstrap.run(`test -e ${tls}`).status !== 0);
    expect(lab.bootstrap.run(`test -e ${staticPodManifest}`).status).not.toBe(0);
    const secret = `/api/v1/namespaces/${namespace}/secrets/${agentSecretName}`;
    expect(lab.request(lab.node, "GET", secret).code).toBe(404);
    await waitFor("the agent's end", 60, () => processes(lab.node, "proxy-agent").length === 0);
    record({
      done: `\`bootkube.sh\` is killed at the beginning of each of its ${stages.length} stages`,
      lost: "the time of one restart for each stage, but no key and no manifest",
      recovered: "each stage runs again. At the end, keys, server and agents are removed",
    });
  }, 180_000);
});
