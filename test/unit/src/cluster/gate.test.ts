import { describe, expect, it } from "vitest";
import { bootstrapped, operatorObjects, type Progress } from "../../../../lab/operators.ts";
import { type ApiObjects, withApi } from "../../../support/api.ts";
import { command, linesOf } from "../../../support/cli.ts";
import { releases, statesOf, topologies } from "../../../support/cluster-states.ts";

/** The API's objects by path. */
type Objects = Record<string, object>;

const paths: Readonly<Record<string, string>> = {
  ConfigMap: "/api/v1/namespaces/kube-system/configmaps/bootstrap",
  Etcd: "/apis/operator.openshift.io/v1/etcds/cluster",
  KubeAPIServer: "/apis/operator.openshift.io/v1/kubeapiservers/cluster",
  Infrastructure: "/apis/config.openshift.io/v1/infrastructures/cluster",
};

function objectsOf(progress: Progress): Objects {
  const objects = operatorObjects(progress) as { kind: string }[];
  return Object.fromEntries(
    objects.flatMap((object) => {
      const path = paths[object.kind];
      return path === undefined ? [] : [[path, object]];
    }),
  );
}

const gate = (objects: Objects | ApiObjects, wait = "0") =>
  withApi(objects, (kubeconfig) => command("teardown", "gate", "aws", "--wait", wait, "--kubeconfig", kubeconfig));

/** The conditions that are not met, according to the output. */
function unmetConditions(stdout: string): string[] {
  const words = {
    "the bootstrap is complete": "bootstrap",
    "etcd member is removed": "etcd",
    "API is served": "nodes",
  };
  return linesOf(stdout)
    .filter((line) => line.startsWith("not yet"))
    .flatMap((line) => Object.entries(words).flatMap(([part, name]) => (line.includes(part) ? [name] : [])));
}

const notYet =
  "until the bootstrap machine's etcd member is removed (etcds/cluster does not have the condition EtcdBootstrapMemberRemoved yet, so the machine is still a member of etcd)";

/** A cluster that no longer needs the machine, apart from the conditions of etcd. */
function withEtcd(conditions: unknown, topology: Progress["topology"] = "SingleReplica"): Objects {
  const objects = objectsOf({ bootstrap: "complete", revisions: [1, 1, 1], topology });
  return { ...objects, [paths.Etcd ?? ""]: { status: { conditions } } };
}

describe.each(topologies)("the gate of a %s control plane", (topology) => {
  const states = releases.flatMap((release) =>
    statesOf(topology, release).map((state) => [release, state.name, state] as const),
  );

  it.each(states)("on release %s: %s", async (release, _, { progress, waitsFor }) => {
    const { code, stdout, stderr } = await gate(objectsOf(progress));
    expect(unmetConditions(stdout)).toEqual(waitsFor);
    expect(code).toBe(waitsFor.length === 0 ? 0 : 1);
    if (waitsFor.includes("etcd")) expect(stderr).toContain(notYet);
    if (waitsFor.length > 0) return;
    // No config file names the cluster.
    expect(stderr).toMatch(/^warning: The infra ID .* was not checked which cluster \S+ belongs to\.\n$/);
    const type = release === "4.14" ? "EtcdBoostrapMemberRemoved" : "EtcdBootstrapMemberRemoved";
    expect(stdout).toContain(
      `yes      the bootstrap machine's etcd member is removed: etcds/cluster has ${type}=True\n`,
    );
  });

  it("also accepts the reason BootstrapAlreadyRemoved, and no other reason", async () => {
    const running = (reason: string, status = "True") => [{ type: "EtcdRunningInCluster", status, reason }];
    const { code, stdout } = await gate(withEtcd(running("BootstrapAlreadyRemoved"), topology));
    expect(code).toBe(0);
    expect(stdout).toContain("etcds/cluster has EtcdRunningInCluster=True, reason BootstrapAlreadyRemoved\n");
    for (const conditions of [running("EnoughEtcdMembers"), running("BootstrapAlreadyRemoved", "False")])
      expect((await gate(withEtcd(conditions, topology))).stderr).toContain(notYet);
  });
});

it("opens while it waits, when etcd reports that the member is removed", async () => {
  const waiting = topologies.flatMap((topology) =>
    releases.map(async (release) => {
      const [before, after] = statesOf(topology, release).slice(-3);
      if (before === undefined || after === undefined) throw new Error("there are no such states");
      expect(before.waitsFor).toEqual(["etcd"]);
      let requests = 0;
      // The member is removed between the first request and the second.
      const api: ApiObjects = (path) => {
        if (path === paths.Etcd) requests++;
        return objectsOf(requests < 2 ? before.progress : after.progress)[path];
      };
      const { code, stdout } = await gate(api, "2");
      const ofEtcd = linesOf(stdout).filter((line) => line.includes("etcd member is removed"));
      return [code, requests, ...ofEtcd.map((line) => line.slice(0, 7).trim())];
    }),
  );
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => [0, 2, "not yet", "yes"]));
}, 60_000);

describe("values that no real cluster has", () => {
  it.each(["progress", "Complete", ""])("the gate stays closed with a bootstrap status of %j", async (status) => {
    const objects = objectsOf(bootstrapped);
    const { code, stderr } = await gate({ ...objects, [paths.ConfigMap ?? ""]: { data: { status } } });
    expect(code).toBe(1);
    expect(stderr).toContain(
      `the gate waits until the bootstrap is complete (ConfigMap kube-system/bootstrap has status ${status})`,
    );
  });

  const types = ["EtcdBootstrapMemberRemoved", "EtcdBoostrapMemberRemoved"];
  const statuses = ["False", "Unknown", "true", "", undefined, true];
  it.each(types.flatMap((type) => statuses.map((status) => [type, status] as const)))(
    "the gate stays closed with %s=%s",
    async (type, status) => {
      const { code, stderr } = await gate(withEtcd([{ type, status }]));
      expect(code).toBe(1);
      expect(stderr).toContain(`member is removed (etcds/cluster has ${type}=${String(status)})`);
    },
  );

  it.each([[null], ["EtcdBootstrapMemberRemoved=True"], [{ EtcdBootstrapMemberRemoved: "True" }], [[null, 5, "x"]]])(
    "the gate stays closed with %j instead of a list of conditions",
    async (conditions) => {
      const { code, stderr } = await gate(withEtcd(conditions));
      expect(code).toBe(1);
      expect(stderr).toContain(notYet);
    },
  );
});
