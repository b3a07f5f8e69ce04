import type { Progress } from "../../lab/operators.ts";

/** A state of a cluster, and whether the bootstrap machine may be removed then. */
export interface ClusterState {
  readonly name: string;
  readonly progress: Progress;
  /** Conditions that do not hold yet. Empty: the machine may be removed. */
  readonly waitsFor: readonly ("bootstrap" | "etcd" | "nodes")[];
}

/** Every state that a real cluster passes through while its operators run, in order. */
export function statesOf(
  topology: NonNullable<Progress["topology"]>,
  release: NonNullable<Progress["release"]>,
): ClusterState[] {
  const [none, first, enough] =
    topology === "SingleReplica"
      ? [[0], [0], [1]]
      : ([
          [0, 0, 0],
          [1, 0, 0],
          [1, 1, 0],
        ] as const);
  const states: [string, Omit<Progress, "topology" | "release">, ClusterState["waitsFor"]][] = [
    ["the operators start", { revisions: [] }, ["bootstrap", "etcd", "nodes"]],
    ["etcd grows", { etcd: "not enough members", revisions: none }, ["bootstrap", "etcd", "nodes"]],
    ["etcd has enough members", { etcd: "enough members", revisions: first }, ["bootstrap", "etcd", "nodes"]],
    ["the control plane serves", { etcd: "enough members", revisions: enough }, ["bootstrap", "etcd"]],
    [
      "complete, but etcd still has the bootstrap member",
      { bootstrap: "complete", etcd: "enough members", revisions: enough },
      ["etcd"],
    ],
    ["etcd has removed it", { bootstrap: "complete", etcd: "member removed", revisions: enough }, []],
    [
      "etcd knows that it is removed",
      { bootstrap: "complete", etcd: "member known to be removed", revisions: enough },
      [],
    ],
  ];
  return states.map(([name, progress, waitsFor]) => ({ name, progress: { ...progress, topology, release }, waitsFor }));
}

export const topologies = ["HighlyAvailable", "SingleReplica"] as const;
export const releases = ["4.14", "4.15"] as const;
