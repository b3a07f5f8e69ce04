import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { IpFamily } from "../src/core/sample/networks.ts";

/** What distinguishes one lab's machines from another's; every machine has it in a file. */
export interface Layout {
  /** How many nodes there are. */
  readonly nodes: number;
  /** Of machines, pods and services. */
  readonly ipFamily: IpFamily;
}

/** Its place in a machine. */
export const layoutFile = "/opt/lab/layout.json";

/** @param root of the machine, seen from outside */
export const readLayout = (root = "/"): Layout => JSON.parse(readFileSync(join(root, layoutFile), "utf8")) as Layout;
