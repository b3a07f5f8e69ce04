import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** SIGPIPE: nobody reads any more what is said. */
const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE"] as const;

/**
 * Runs something that a signal, or the end of whoever started this program, may cut short at the next step that asks its
 * AbortSignal; then what it began is undone. Meanwhile nobody else hears signals: the program's own start ends at once.
 *
 * @returns the exit code: the shell's for that signal, or 0
 */
export async function interruptible(
  run: (signal: AbortSignal) => Promise<void>,
  undo: () => Promise<void>,
): Promise<number> {
  const controller = new AbortController();
  let heard: (typeof signals)[number] | undefined;
  const others = signals.map((name) => process.listeners(name));
  const abort = (name: (typeof signals)[number]) => {
    heard ??= name;
    controller.abort();
  };
  for (const name of signals)
    process.removeAllListeners(name).on(name, () => {
      abort(name);
    });
  // Who was killed, as Terraform may be, tells nobody.
  const parent = process.ppid;
  const orphaned = setInterval(() => {
    if (process.ppid !== parent) abort("SIGHUP");
  }, 200);
  try {
    await run(controller.signal);
  } catch (error) {
    // A program that heard the same Ctrl-C may have failed before we were told of it.
    await sleep(50);
    if (heard === undefined) throw error;
  } finally {
    clearInterval(orphaned);
    if (heard !== undefined) await undo();
    for (const [index, name] of signals.entries()) {
      process.removeAllListeners(name);
      for (const listener of others[index] ?? []) process.on(name, listener);
    }
  }
  return heard === undefined ? 0 : 128 + constants.signals[heard];
}
