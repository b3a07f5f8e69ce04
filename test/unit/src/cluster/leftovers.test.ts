import { describe, expect, it } from "vitest";
import { clusterLeftovers } from "../../../../src/cluster/leftovers.ts";
import { agentName, namespace } from "../../../../src/core/konnectivity/names.ts";
import { withApi } from "../../../support/api.ts";

describe("the tunnel's objects in a cluster", () => {
  it("are gone if the API does not have them", async () => {
    const rows = await withApi({}, clusterLeftovers);
    expect(rows).toHaveLength(6);
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(["gone"]));
  });

  it("are reported with the command that removes them if they are left", async () => {
    const rows = await withApi({ [`/daemonsets/${agentName}`]: { metadata: {} } }, clusterLeftovers);
    expect(rows.filter(({ state }) => state !== "gone")).toEqual([
      {
        state: "left",
        what: `daemonset/${agentName}`,
        note: `oc delete daemonset/${agentName} -n ${namespace} --ignore-not-found --wait=false`,
      },
    ]);
  });

  it("are waited for while they are terminating", async () => {
    let reads = 0;
    const rows = await withApi((path) => {
      if (!path.endsWith(`/namespaces/${namespace}`)) return undefined;
      return ++reads < 2 ? { metadata: { deletionTimestamp: "2026-11-18T12:00:00Z" } } : undefined;
    }, clusterLeftovers);
    expect(reads).toBe(2);
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(["gone"]));
  });

  it("are not looked at if the kubeconfig cannot be read or the API refuses", async () => {
    expect(await clusterLeftovers("/no/such/kubeconfig")).toMatchObject([
      { state: "not looked at", note: expect.stringContaining("/no/such/kubeconfig") as string },
    ]);
    expect(await withApi(() => ({ kind: "Status", code: 401 }), clusterLeftovers)).toEqual([
      {
        state: "not looked at",
        what: "objects of the tunnel in the cluster",
        note: "the API does not accept the kubeconfig's credentials (401)",
      },
    ]);
  });
});
