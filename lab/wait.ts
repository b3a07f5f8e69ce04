import { setTimeout as sleep } from "node:timers/promises";
import { timeLimit } from "../src/core/time-limits.ts";

/** Something that was waited for did not happen in time. */
export class TimedOut extends Error {}

/** Waits until a condition holds, which it checks at an interval. The error names what it waited for. */
export async function waitFor(
  what: string,
  seconds: number,
  condition: () => boolean | Promise<boolean>,
  { signal, every = 0.25 }: { readonly signal?: AbortSignal | undefined; readonly every?: number } = {},
): Promise<void> {
  const limit = timeLimit(seconds);
  const end = Date.now() + 1000 * limit;
  while (!(await condition())) {
    signal?.throwIfAborted();
    if (Date.now() > end) throw new TimedOut(`timed out after ${limit} s while waiting for ${what}`);
    await sleep(1000 * every);
  }
}
