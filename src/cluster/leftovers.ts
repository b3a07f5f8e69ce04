import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../core/errors.ts";
import { describeApiError } from "./api.ts";
import { connect } from "./connect.ts";
import { type TunnelObject, tunnelObjects } from "./tunnel-objects.ts";

/** One line of the report after a teardown. */
export interface ReportRow {
  readonly state: "gone" | "terminating" | "left" | "not looked at";
  readonly what: string;
  /** What to do, or the reason. */
  readonly note?: string;
}

/** How long to wait for objects whose deletion has begun. */
const longestWait = 60_000;

/** Which of the tunnel's objects are left in a cluster. */
export async function clusterLeftovers(kubeconfig: string): Promise<ReportRow[]> {
  let objects: TunnelObject[];
  try {
    objects = tunnelObjects(connect(kubeconfig));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return notLookedAt(error.message);
  }
  const end = Date.now() + longestWait;
  for (;;) {
    let rows: ReportRow[];
    try {
      rows = await Promise.all(objects.map(rowOf));
    } catch (error) {
      return notLookedAt(describeApiError(error));
    }
    if (Date.now() >= end || !rows.some(({ state }) => state === "terminating")) return rows;
    await sleep(1000);
  }
}

async function rowOf(object: TunnelObject): Promise<ReportRow> {
  const state = await object.state();
  return { state, what: object.name, ...(state === "left" && { note: object.command }) };
}

const notLookedAt = (note: string): ReportRow[] => [
  { state: "not looked at", what: "objects of the tunnel in the cluster", note },
];
