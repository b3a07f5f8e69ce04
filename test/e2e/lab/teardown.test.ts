import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { gateVariable } from "../../../src/cluster/gate-override.ts";
import type { Lab } from "../../../lab/lab.ts";
import { bootstrapped, type Progress } from "../../../lab/operators.ts";
import { sampleMetadata } from "../../../src/core/sample/sample.ts";
import { program, run, runWith } from "../../support/cli.ts";
import { statesOf } from "../../support/cluster-states.ts";
import { interruptedAt } from "../../support/interrupted.ts";
import { labWith, removeLab } from "../../support/lab.ts";

const name = `teardown${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), "teardown-"));
const config = join(folder, "konnectivity.yaml");
writeFileSync(config, `local: { name: ${name} }\n`);

let lab: Lab;
beforeAll(async () => {
  lab = await labWith({ name });
}, 120_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await removeLab(name);
});

const teardown = (...args: string[]) => run("teardown", ...args, "--config", config, "local");
/** From inside the lab, where its API can be reached. */
const onNode = (...words: string[]) => lab.node.run([process.execPath, program, "teardown", ...words].join(" "));

describe("the gate", () => {
  it("is closed while the cluster does not even have operators, and names all that it waits for", async () => {
    const { code, stdout, stderr } = await teardown("gate");
    expect(code).toBe(1);
    expect(stdout.split("\n").slice(0, 3)).toEqual([
      "not yet  the bootstrap is complete: ConfigMap kube-system/bootstrap does not exist",
      "not yet  the bootstrap machine's etcd member is removed: etcds/cluster does not exist",
      "not yet  the API is served by two nodes of the control plane: kubeapiservers/cluster does not exist",
    ]);
    expect(stderr).toMatch(
      /^error: The cluster still needs its bootstrap machine, so nothing was changed: the gate waits until/,
    );
    expect(stderr).toContain(gateVariable);
  });

  const check = () => onNode("gate", "--wait=0", "--kubeconfig=/opt/lab/kubeconfig", "local");

  // The unit tests have every combination; here a real kube-apiserver gives the answers.
  const lives = [
    ["HighlyAvailable", "4.15"],
    ["SingleReplica", "4.14"],
  ] as const;
  it.each(lives)("%s, as of %s: opens when etcd has removed the member, and not before", (topology, release) => {
    lab.request(lab.node, "DELETE", "/api/v1/namespaces/kube-system/configmaps/bootstrap");
    const results = statesOf(topology, release)
      .slice(-4, -1)
      .map(({ name: state, progress, waitsFor }) => {
        lab.reportProgress(progress);
        const { status, stderr } = check();
        expect(stderr.split(/(?:waits|and) until/).length - 1, state).toBe(waitsFor.length);
        return status;
      });
    expect(results).toEqual([1, 1, 0]);
  });

  const refusals: [string, Progress, string][] = [
    [
      "one node of three",
      { ...bootstrapped, revisions: [2, 0, 0] },
      "the API is served by two nodes of the control plane (1 of 3 nodes run a kube-apiserver revision)",
    ],
    [
      "a single node without its revision",
      { ...bootstrapped, revisions: [0], topology: "SingleReplica" },
      "the API is served by the node of the control plane (0 of 1 nodes run a kube-apiserver revision)",
    ],
  ];

  it.each(refusals)("%s: says what it waits for", (_, progress, waitsFor) => {
    lab.reportProgress(progress);
    const { status, stderr } = check();
    expect(status).toBe(1);
    expect(stderr).toContain(`until ${waitsFor}`);
    expect(stderr).toContain("; run the same command again");
  });

  it("waits while etcd has the bootstrap member, and says what changed", async () => {
    const [before, after] = statesOf("SingleReplica", "4.15").slice(-3);
    if (before === undefined || after === undefined) throw new Error("there are no such states");
    lab.reportProgress(before.progress);
    const waiting = spawn(process.execPath, [program, "teardown", "gate", "--wait=2", "--config", config, "local"]);
    const { code, said } = await interruptedAt(waiting, "still a member of etcd", () => {
      lab.reportProgress(after.progress);
    });
    expect(code).toBe(0);
    expect(said).toMatch(/^not yet {2}the bootstrap machine's etcd member is removed: /m);
    expect(said).toContain(
      "yes      the bootstrap machine's etcd member is removed: etcds/cluster has EtcdBootstrapMemberRemoved=True\n",
    );
  }, 60_000);

  it("opens by hand with a reason, which is shown, and not without one", async () => {
    lab.reportProgress({ ...bootstrapped, etcd: "enough members", bootstrap: "progress" });
    const open = (reason: string) =>
      runWith({ ...process.env, [gateVariable]: reason }, "teardown", "gate", "--config", config, "local");
    expect(await open("installation failed, case 7")).toEqual({
      code: 0,
      stdout: `The gate is opened by hand (${gateVariable}): installation failed, case 7\n`,
      stderr: "",
    });
    const { code, stderr } = await open(" ");
    expect(code).toBe(1);
    expect(stderr).toContain("is set but empty");
  });
});

describe("the sweep and the report", () => {
  const tunnel = [
    "daemonset/konnectivity-agent",
    "secret/konnectivity-agent-certs",
    "namespace/openshift-bootstrap-konnectivity",
  ];

  it("a user who may not delete gets a list of what is left, with the commands that delete it", () => {
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    lab.request(lab.node, "POST", accounts, { metadata: { name: "powerless" } });
    const token = lab.request(lab.node, "POST", `${accounts}/powerless/token`, { spec: {} });
    const { token: secret } = token.body.status as { token: string };
    const kubeconfig = lab.node
      .must("cat /opt/lab/kubeconfig")
      .replace(/client-key-data: .*/, "")
      .replace(/client-certificate-data: .*/, `token: ${secret}`);
    lab.node.must("cat >/opt/lab/powerless", {}, kubeconfig);
    const { status, stderr } = onNode("sweep", "--kubeconfig=/opt/lab/powerless", "local");
    expect(status).toBe(0);
    for (const one of tunnel)
      expect(stderr).toMatch(new RegExp(`warning: ${one} could not be deleted \\(.*\\(403\\)\\): oc delete ${one} `));
  });

  it("another cluster than the config's is left alone, by the gate and by the sweep", () => {
    lab.reportProgress(bootstrapped);
    const asked = (step: string, infraId: string) => {
      lab.node.must("cat >/opt/lab/some.yaml", {}, `infrastructureName: ${infraId}\n`);
      return onNode(step, "--kubeconfig=/opt/lab/kubeconfig", "--config=/opt/lab/some.yaml", "aws");
    };
    expect(asked("gate", sampleMetadata.infraID)).toMatchObject({ status: 0, stderr: "" });
    const refused = `is the API of the cluster ${sampleMetadata.infraID}, not of other-12345, so nothing was changed`;
    expect(asked("gate", "other-12345")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(refused) as string,
    });
    const swept = asked("sweep", "other-12345");
    expect(swept).toMatchObject({ status: 0, stdout: "" });
    expect(swept.stderr).toContain(refused);
    expect(lab.request(lab.node, "GET", "/api/v1/namespaces/openshift-bootstrap-konnectivity").body).not.toHaveProperty(
      "metadata.deletionTimestamp",
    );
  });

  it("deletes the tunnel's objects, and succeeds again when they are gone", async () => {
    expect(await teardown("sweep")).toEqual({ code: 0, stderr: "", stdout: `Deleted: ${tunnel.join(", ")}\n` });
    // Nothing finalizes namespaces in the lab.
    expect((await teardown("sweep")).stdout).toBe(`Deleted: ${tunnel[2] ?? ""}\n`);
  });
});

it("a lab's bootstrap is complete before its etcd operator removes the member, as in a real cluster", async () => {
  const bootstrap = "/api/v1/namespaces/kube-system/configmaps/bootstrap";
  lab.request(lab.node, "DELETE", bootstrap);
  const said: unknown[] = [];
  const say = lab.reportProgress.bind(lab);
  vi.spyOn(lab, "reportProgress").mockImplementation((progress) => {
    const { data } = lab.request(lab.node, "GET", bootstrap).body as { data?: { status: string } };
    said.push([data?.status, progress.etcd]);
    say(progress);
  });
  await lab.completeBootstrap();
  await lab.completeBootstrap();
  expect(said).toEqual([
    [undefined, "enough members"],
    ...[1, 2].flatMap(() => [
      ["complete", "member removed"],
      ["complete", "member known to be removed"],
    ]),
  ]);
  expect(await teardown("gate")).toMatchObject({ code: 0, stderr: "" });
}, 120_000);
