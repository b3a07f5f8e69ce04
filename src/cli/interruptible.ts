import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** SIGPIPE: nobody reads the output any more. */
const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE"] as const;

/**
 * Runs something that is aborted by a signal, or by the end of the process that started this program, and then undone.
 * Meanwhile all other signal listeners are removed, because the program's own one exits at once.
 *
 * @returns 0, or the exit code that a shell reports for the signal
 */
export async function interruptible(
  run: (signal: AbortSignal) => Promise<void>,
  undo: () => Promise<void>,
): Promise<number> {
  const controller = new AbortController();
  let received: (typeof signals)[number] | undefined;
  const others = signals.map((name) => process.listeners(name));
  const abort = (name: (typeof signals)[number]) => {
    received ??= name;
    controller.abort();
  };
  for (const name of signals)
    process.removeAllListeners(name).on(name, () => {
      abort(name);
    });
  // A parent that was killed, as Terraform may be, sends no signal.
  const parent = process.ppid;
  const orphaned = setInterval(() => {
    if (process.ppid !== parent) abort("SIGHUP");
  }, 200);
  try {
    await run(controller.signal);
  } catch (error) {
    // A child that got the same Ctrl-C may fail before the signal arrives here.
    await sleep(50);
    if (received === undefined) throw error;
  } finally {
    clearInterval(orphaned);
    if (received !== undefined) await undo();
    for (const [index, name] of signals.entries()) {
      process.removeAllListeners(name);
      for (const listener of others[index] ?? []) process.on(name, listener);
    }
  }
  return received === undefined ? 0 : 128 + constants.signals[received];
}
