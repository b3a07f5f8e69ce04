/** The value that this share of all values does not exceed (nearest rank): 0.5 is the median, 0.99 the 99th percentile. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** One call of a pulse, in milliseconds; `failure` is empty if there was none. */
export interface Call {
  readonly sent: number;
  readonly took: number;
  readonly failure: string;
}

/** A call that works takes milliseconds, in a crowd on a busy machine a second; one that hangs takes the webhook's five. */
const slow = 3000;
export const isBad = ({ took, failure }: Call) => failure !== "" || took > slow;

/** When something answered again that had answered nobody: from `since` to the first answer to a call sent after it. */
export function firstAnswer(calls: readonly Call[], since: number): number | undefined {
  const answers = calls.filter((call) => call.sent >= since && call.failure === "");
  return answers.length === 0 ? undefined : Math.min(...answers.map(({ sent, took }) => sent + took)) - since;
}

/** What an event at `since` did to the calls after it, and to those under way. */
export interface Disturbance {
  /** From the event until the last call was sent that failed or took more than three seconds; 0 if none did. */
  readonly milliseconds: number;
  readonly bad: number;
}

export function disturbance(calls: readonly Call[], since: number): Disturbance {
  const bad = calls.filter((call) => call.sent + call.took >= since && isBad(call));
  return { milliseconds: Math.max(0, ...bad.map(({ sent }) => sent - since)), bad: bad.length };
}

/** Whether all is well again: this many calls in a row were sent last, have all ended, and none was bad. */
export function isQuiet(calls: readonly Call[], since: number, inARow: number): boolean {
  const last = calls
    .filter(({ sent }) => sent >= since)
    .sort((a, b) => a.sent - b.sent)
    .slice(-inARow);
  return last.length === inARow && !last.some(isBad);
}
