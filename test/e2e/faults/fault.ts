import { appendFileSync } from "node:fs";
import type { Pulse } from "../load/load.ts";
import type { LoadedLab } from "../load/loaded-lab.ts";
import { type Call, disturbance, isQuiet } from "../load/statistics.ts";

/** A fault in a tunnel that carries calls. It has two agents, one on each node, before and after. */
export interface Fault {
  readonly name: string;
  readonly done: string;
  /** How the calls come back; `strike` waits for just that. */
  readonly recovered: string;
  /** Whether `npm run test:e2e` leaves it out: it waits for a keepalive, or another test shows the same. */
  readonly slow?: boolean;
  /** Causes the fault and waits until the tunnel has recovered. Calls flow all the time, each over a new connection. */
  readonly strike: (lab: LoadedLab, pulse: Pulse) => Promise<Struck>;
}

/** Moments, in milliseconds since 1970. */
export interface Struck {
  readonly at: number;
  /** When its preparation may have taken calls. @default - it takes none */
  readonly begun?: number;
  /** When the fault was undone. @default - it repairs itself */
  readonly undone?: number;
}

/** What a fault did to the calls. */
export interface Loss {
  readonly calls: number;
  readonly bad: number;
  /** From the fault to the last call that was lost, and of that what came after it was undone. */
  readonly milliseconds: number;
  readonly afterUndone?: number;
  /** How the calls failed, in the end of their words. */
  readonly words: readonly string[];
}

/** Causes the fault while calls flow, and waits until none fails any more. */
export async function strike(lab: LoadedLab, fault: Fault): Promise<Loss> {
  const pulse = lab.pulse("tunnel, new connections");
  let struck: Struck;
  try {
    await quiet(pulse);
    struck = await fault.strike(lab, pulse);
    await quiet(pulse);
  } finally {
    // With those that are under way: a call that waits for a dead agent is only seen when it gives up.
    await pulse.stop();
  }
  return lossOf(pulse.calls, struck);
}

/** Until a second of calls that were sent from now on has been answered without one that suffered. */
export async function quiet(pulse: Pulse): Promise<void> {
  const since = Date.now();
  await pulse.waitFor("a quiet tunnel", 60, (calls) => isQuiet(calls, since, 20));
}

/** @param until where the next one's calls begin */
export function lossOf(calls: readonly Call[], { at, undone }: Struck, until = Infinity): Loss {
  const touched = calls.filter(({ sent, took }) => sent + took >= at && sent < until);
  const { milliseconds, bad } = disturbance(touched, at);
  const failures = touched.filter(({ failure }) => failure !== "").map(({ failure }) => failure);
  return {
    calls: touched.length,
    bad,
    milliseconds,
    ...(undone !== undefined && { afterUndone: Math.max(0, at + milliseconds - undone) }),
    words: [...new Set(failures.map((failure) => failure.replace(/^.*: /s, "")))].sort(),
  };
}

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`;

/** A loss in words. */
export function lostOf({ bad, milliseconds, afterUndone, words }: Loss): string {
  if (bad === 0) return "nothing";
  const calls = `${bad} ${bad === 1 ? "call" : "calls"}`;
  const how = words.length === 0 ? "" : ` (${words.map((word) => `\`${word}\``).join(", ")})`;
  const after = afterUndone === undefined ? "" : `, ${seconds(afterUndone)} after its end`;
  return `${calls}${how}. The last one was sent ${seconds(milliseconds)} after the fault${after}`;
}

/** A fault in docs/faults.md. */
export interface Row {
  readonly done: string;
  readonly lost: string;
  readonly recovered: string;
}

/** The file that rows are written to, for the page. The tests alone write none and leave out what is slow. */
export const rowsFile = process.env.FAULTS_ROWS;

export function record(row: Row): void {
  if (rowsFile !== undefined) appendFileSync(rowsFile, `${JSON.stringify(row)}\n`);
}
