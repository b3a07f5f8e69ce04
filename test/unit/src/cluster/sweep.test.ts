import { describe, expect, it } from "vitest";
import { sweepCluster } from "../../../../src/cluster/sweep.ts";
import { agentName, agentSecretName, namespace, tokenReviewRole } from "../../../../src/core/konnectivity/names.ts";
import { type ApiObjects, hangUp, withApi } from "../../../support/api.ts";

const infrastructure = { status: { infrastructureName: "prod-x7k2p" } };

/** Sweeps a cluster with these objects, and says which paths were deleted. */
async function swept(objects: Readonly<Record<string, unknown>> | ApiObjects, infraId = "prod-x7k2p") {
  const deletions: string[] = [];
  const result = await withApi(
    objects,
    (kubeconfig) => sweepCluster(kubeconfig, infraId),
    ({ method, url }) => {
      if (method === "DELETE") deletions.push(url.replace(/[?].*/, ""));
    },
  );
  return { deletions, ...("unreachable" in result ? result : { unreachable: undefined, ...result }) };
}

const inNamespace = `/namespaces/${namespace}`;
const all = [
  `/apis/apps/v1${inNamespace}/daemonsets/${agentName}`,
  `/apis/apps/v1${inNamespace}/deployments/${agentName}`,
  `/api/v1${inNamespace}/secrets/${agentSecretName}`,
  `/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${tokenReviewRole}`,
  `/apis/rbac.authorization.k8s.io/v1/clusterroles/${tokenReviewRole}`,
  `/api/v1${inNamespace}`,
];

describe("the sweep", () => {
  it("deletes the agents before the keys that they use, and the namespace last", async () => {
    const { deletions, ...result } = await swept((path) => (path.includes("infrastructures") ? infrastructure : {}));
    expect(deletions).toEqual(all);
    expect(result).toMatchObject({
      deleted: [
        `daemonset/${agentName}`,
        `deployment/${agentName}`,
        `secret/${agentSecretName}`,
        `clusterrolebinding/${tokenReviewRole}`,
        `clusterrole/${tokenReviewRole}`,
        `namespace/${namespace}`,
      ],
      left: [],
    });
  });

  it("says nothing of objects that the bootstrap has already removed", async () => {
    const { deletions, ...result } = await swept({ infrastructures: infrastructure });
    expect(deletions).toEqual(all);
    expect(result).toMatchObject({ deleted: [], left: [] });
  });

  it("deletes nothing in another cluster", async () => {
    const result = await swept({ infrastructures: infrastructure, "": {} }, "prod-other");
    expect(result).toMatchObject({ deletions: [], unreachable: expect.stringContaining("prod-x7k2p") as string });
  });

  it("goes on after a refusal, and gives the command that removes what is left", async () => {
    const { deletions, ...result } = await swept((path) => {
      if (path.includes("infrastructures")) return infrastructure;
      return path.includes("/secrets/") ? { kind: "Status", code: 403 } : {};
    });
    expect(deletions).toEqual(all);
    expect(result).toMatchObject({
      left: [
        {
          name: `secret/${agentSecretName}`,
          reason: "the kubeconfig's user lacks the permission (403)",
          command: `oc delete secret/${agentSecretName} -n ${namespace} --ignore-not-found --wait=false`,
        },
      ],
    });
  });

  it("asks a cluster that has stopped answering only once", async () => {
    const dropped = await swept((path) => (path.includes("infrastructures") ? infrastructure : hangUp));
    expect(dropped.deletions).toEqual(all.slice(0, 1));
    expect("left" in dropped && dropped.left).toHaveLength(all.length);
  });

  it("reports a cluster that does not answer, or a kubeconfig that is none, and does not fail", async () => {
    expect(await sweepCluster("/no/such/kubeconfig", undefined)).toMatchObject({
      unreachable: expect.stringContaining("/no/such/kubeconfig") as string,
    });
  });
});
