/**
 * Stands in for what OpenShift's operators say about themselves while a cluster is born: the CRDs of etcds, kubeapiservers
 * and infrastructures, and the one object of each. Left out: the operators, and every field that nobody here reads.
 */
import { sampleMetadata } from "../src/core/sample/sample.ts";

interface OperatorCondition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason: string;
}

const running = (status: OperatorCondition["status"], reason: string): OperatorCondition => ({
  type: "EtcdRunningInCluster",
  status,
  reason,
});

/**
 * What the etcd operator says, in this order. It removes the bootstrap machine's member after the bootstrap is complete, and
 * says so then. It never says that the member is not removed: until it is, that condition is absent.
 */
const etcdConditions = {
  "not enough members": () => [running("False", "NotEnoughEtcdMembers")],
  "enough members": () => [running("True", "EnoughEtcdMembers")],
  "member removed": (removed) => [running("True", "EnoughEtcdMembers"), removed],
  "member known to be removed": (removed) => [running("True", "BootstrapAlreadyRemoved"), removed],
} satisfies Record<string, (removed: OperatorCondition) => OperatorCondition[]>;

/** How far the permanent control plane is. */
export interface Progress {
  /** What the bootstrap machine says of itself, in the ConfigMap kube-system/bootstrap. @default - nothing */
  readonly bootstrap?: "progress" | "complete";
  /** How far the etcd operator is. @default - it has not said anything */
  readonly etcd?: keyof typeof etcdConditions;
  /** Which name its condition has: up to 4.14 it is misspelt. @default 4.15 */
  readonly release?: "4.14" | "4.15";
  /** currentRevision of each node's kube-apiserver; 0 is none yet. */
  readonly revisions: readonly number[];
  /** @default HighlyAvailable */
  readonly topology?: "HighlyAvailable" | "SingleReplica";
}

/** A cluster of three that needs its bootstrap machine no longer. */
export const bootstrapped: Progress = {
  bootstrap: "complete",
  etcd: "member known to be removed",
  revisions: [3, 3, 0],
};

export function operatorObjects({
  bootstrap,
  etcd,
  release = "4.15",
  revisions,
  topology = "HighlyAvailable",
}: Progress): object[] {
  const object = (group: string, kind: string, status: object) => ({
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name: "cluster" },
    status,
  });
  const conditions =
    etcd === undefined
      ? []
      : etcdConditions[etcd]({
          type: release === "4.14" ? "EtcdBoostrapMemberRemoved" : "EtcdBootstrapMemberRemoved",
          status: "True",
          reason: "BootstrapMemberRemoved",
        });
  const nodeStatuses = revisions.map((currentRevision, index) => ({ nodeName: `master-${index}`, currentRevision }));
  return [
    definition("operator.openshift.io", "Etcd", {
      conditions: list({ type: "string", status: "string", reason: "string" }),
    }),
    definition("operator.openshift.io", "KubeAPIServer", {
      nodeStatuses: list({ nodeName: "string", currentRevision: "integer" }),
    }),
    definition("config.openshift.io", "Infrastructure", {
      controlPlaneTopology: { type: "string" },
      infrastructureName: { type: "string" },
    }),
    object("operator.openshift.io", "Etcd", { conditions }),
    object("operator.openshift.io", "KubeAPIServer", { nodeStatuses }),
    object("config.openshift.io", "Infrastructure", {
      controlPlaneTopology: topology,
      infrastructureName: sampleMetadata.infraID,
    }),
    ...(bootstrap === undefined ? [] : [bootstrapStatus(bootstrap)]),
  ];
}

/** What report-progress.sh leaves on a real bootstrap machine's way out. */
export const bootstrapStatus = (status: "progress" | "complete") => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "bootstrap", namespace: "kube-system" },
  data: { status },
});

const list = (fields: Readonly<Record<string, string>>) => ({
  type: "array",
  items: {
    type: "object",
    properties: Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, { type }])),
  },
});

function definition(group: string, kind: string, status: object): object {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Cluster",
      names: { kind, plural, singular, listKind: `${kind}List` },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: "object", properties: { status: { type: "object", properties: status } } },
          },
        },
      ],
    },
  };
}
