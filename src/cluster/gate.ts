import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { UserError, problem } from "../core/errors.ts";
import { inLines } from "../core/printable.ts";
import { type ClusterApi, describeApiError } from "./api.ts";
import { connect, requireCluster } from "./connect.ts";
import { type Condition, readConditions } from "./gate-conditions.ts";
import { gateVariable } from "./gate-override.ts";

export interface GateProps {
  readonly kubeconfig: string;
  /** Infra ID of the cluster that must answer. @default - not known */
  readonly infraId: string | undefined;
  readonly waitMinutes: number;
  /** Called with a table of the conditions, or why they are not known, when that has changed. */
  readonly report: (text: string, conditions: readonly Condition[]) => void;
  /** Called before each wait. */
  readonly progress: (text: string) => void;
}

/** Waits until the cluster no longer needs its bootstrap machine. Throws a UserError when the time is up. */
export async function waitForGate({ kubeconfig, infraId, waitMinutes, report, progress }: GateProps): Promise<void> {
  const api = connectOrExplain(kubeconfig);
  const end = Date.now() + 60_000 * waitMinutes;
  let before = "";
  for (;;) {
    const state = await readGate(api, infraId);
    const text = inLines("conditions" in state ? state.conditions.map(line) : [state.unreachable]);
    if (text !== before) report(text, "conditions" in state ? state.conditions : []);
    before = text;
    if ("conditions" in state && state.conditions.every(({ met }) => met)) return;
    if (Date.now() >= end) throw closed(state);
    progress(`Waiting for the cluster, ${Math.ceil((end - Date.now()) / 60_000)} minutes left`);
    await sleep(Math.min(5000, Math.max(100, end - Date.now())));
  }
}

function connectOrExplain(kubeconfig: string): ClusterApi {
  if (!existsSync(kubeconfig)) throw blind(`there is no kubeconfig ${kubeconfig}`, kubeconfig);
  try {
    return connect(kubeconfig);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw blind(error.message.replace(/\.$/, ""), kubeconfig);
  }
}

type GateState = { readonly conditions: readonly Condition[] } | { readonly unreachable: string };

async function readGate(api: ClusterApi, infraId: string | undefined): Promise<GateState> {
  try {
    await requireCluster(api, infraId);
    return { conditions: await readConditions(api) };
  } catch (error) {
    if (error instanceof UserError) throw error;
    return { unreachable: `the request to ${api.server} failed: ${describeApiError(error)}` };
  }
}

function closed(state: GateState): UserError {
  if ("unreachable" in state) return blind(state.unreachable);
  const unmet = state.conditions.filter(({ met }) => !met);
  const waitsFor = unmet.map(({ name, seen }) => `${name} (${seen})`).join(", and until ");
  return new UserError(problem("gate-closed", { waitsFor, variable: gateVariable }));
}

/** It is not known whether the cluster still needs the machine, so the gate stays closed. */
const blind = (reason: string, file?: string) =>
  new UserError({ ...problem("gate-blind", { reason, variable: gateVariable }), ...(file !== undefined && { file }) });

const line = ({ name, met, seen }: Condition) => (met ? "yes" : "not yet").padEnd(9) + `${name}: ${seen}`;
