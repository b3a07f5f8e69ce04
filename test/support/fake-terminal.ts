import { type Output, outputTo } from "../../src/cli/output.ts";
import type { Clock } from "../../src/cli/progress.ts";
import type { Environment } from "../../src/cli/terminal.ts";

/** A clock that goes on when a test says so. */
export class FakeClock implements Clock {
  #time = 0;
  readonly #timers = new Set<{ readonly interval: number; readonly act: () => void; due: number }>();

  readonly now = (): number => this.#time;

  readonly every = (interval: number, act: () => void): (() => void) => {
    const timer = { interval, act, due: this.#time + interval };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  };

  /** How many timers run. */
  get running(): number {
    return this.#timers.size;
  }

  pass(milliseconds: number): void {
    const end = this.#time + milliseconds;
    for (;;) {
      const [next] = [...this.#timers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due);
      if (next === undefined) break;
      this.#time = next.due;
      next.due += next.interval;
      next.act();
    }
    this.#time = end;
  }

  /** Lets time pass in which no timer can run, because the program computes. */
  block(milliseconds: number): void {
    this.#time += milliseconds;
  }
}

export interface FakeTerminal {
  readonly output: Output;
  readonly clock: FakeClock;
  /** All that was written since the last call. */
  readonly written: () => string;
}

/** stdout and stderr on one terminal, unless they are something else. */
export function fakeTerminal(
  environment: Environment = {},
  { stdout = true, stderr = true, columns = 80 } = {},
): FakeTerminal {
  let text = "";
  const clock = new FakeClock();
  const stream = (isTTY: boolean) => ({
    ...(isTTY && { isTTY, columns }),
    write: (part: string | Uint8Array) => {
      text += String(part);
      return true;
    },
  });
  return {
    output: outputTo(stream(stdout), stream(stderr), { environment, clock }),
    clock,
    written: () => {
      const all = text;
      text = "";
      return all;
    },
  };
}
