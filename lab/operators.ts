/**
 * Fakes the status that OpenShift's operators report during a bootstrap: the CRDs of etcds, kubeapiservers and
 * infrastructures, and the one object of each. Left out: the operators, and every field that nothing here reads.
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
 * The conditions of the etcd operator, in the order in which it reports them. It removes the bootstrap machine's member only
 * after the bootstrap is complete. Until then the condition about the removal is absent, never False.
 */
const etcdConditions = {
  "not enough members": () => [running("False", "NotEnoughEtcdMembers")],
  "enough members": () => [running("True", "EnoughEtcdMembers")],
  "member removed": (removed) => [running("True", "EnoughEtcdMembers"), removed],
  "member known to be removed": (removed) => [running("True", "BootstrapAlreadyRemoved"), removed],
} satisfies Record<string, (removed: OperatorCondition) => OperatorCondition[]>;

/** How far the permanent control plane is. */
export interface Progress {
  /** Status in the ConfigMap kube-system/bootstrap, which the bootstrap machine writes. @default - no ConfigMap */
  readonly bootstrap?: "progress" | "complete";
  /** What the etcd operator reports. @default - no condition yet */
  readonly etcd?: keyof typeof etcdConditions;
  /** Decides the name of the condition about the removal, which is misspelt up to 4.14. @default 4.15 */
  readonly release?: "4.14" | "4.15";
  /** currentRevision of each node's kube-apiserver; 0 is none yet. */
  readonly revisions: readonly number[];
  /** @default HighlyAvailable */
  readonly topology?: "HighlyAvailable" | "SingleReplica";
}

/** A cluster of three nodes that no longer needs its bootstrap machine. */
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

/** The ConfigMap that report-progress.sh writes on a real bootstrap machine. */
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
