import type { IpFamily } from "./sample/networks.ts";

/** The lab that is meant when none is named. */
export const defaultLabName = "local";

/** What distinguishes the machines of one lab from those of another. */
export interface LabLayout {
  /** Number of nodes. */
  readonly nodes: number;
  /** Of machines, pods and services. */
  readonly ipFamily: IpFamily;
}
