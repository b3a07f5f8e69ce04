import type { IpFamily } from "./sample/networks.ts";

/** The lab that is meant when none is named. */
export const defaultLabName = "local";

/** A lab's name is part of the names of its control groups, folders and network devices. */
export const labNamePattern = /^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$/;

/** What distinguishes the machines of one lab from those of another. */
export interface LabLayout {
  /** Number of nodes. */
  readonly nodes: number;
  /** Of machines, pods and services. */
  readonly ipFamily: IpFamily;
  /** Whether openshift-install, which the lab fakes, creates the bootstrap machine and removes it: docs/lab.md. */
  readonly ipi: boolean;
}
