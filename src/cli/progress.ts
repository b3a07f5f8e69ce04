/** A clock and its timers. Tests have one of their own. */
export interface Clock {
  /** In milliseconds. */
  readonly now: () => number;
  /** Calls a function again and again. @returns a function that ends it */
  readonly every: (milliseconds: number, act: () => void) => () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  every: (milliseconds, act) => {
    const timer = setInterval(act, milliseconds);
    // A line about the work does not keep the program alive.
    timer.unref();
    return () => {
      clearInterval(timer);
    };
  },
};

/** Nobody wonders about a command that takes less. */
const quiet = 2000;
const interval = 1000;

const eraseLine = "\r\u001b[K";

export interface ProgressProps {
  readonly write: (text: string) => void;
  /** How many characters fit into a line. */
  readonly columns: () => number;
  readonly clock: Clock;
}

/**
 * One line on a terminal that says what a command does and for how long. It appears after two seconds, changes once a second
 * and is erased before anything else is printed.
 */
export class Progress {
  readonly #props: ProgressProps;
  #what: string | undefined;
  #begin = 0;
  #visible = false;
  #stop: (() => void) | undefined;

  constructor(props: ProgressProps) {
    this.#props = props;
  }

  /** Says what the command does now. The time continues from one step to the next. */
  doing(what: string): void {
    const { clock } = this.#props;
    this.#what = what;
    if (this.#stop === undefined) {
      this.#begin = clock.now();
      this.#stop = clock.every(interval, this.#draw);
      process.on("exit", this.erase);
    }
    // Work that does not wait for anything gives the timer no chance.
    this.#draw();
  }

  /** The command does nothing any more that it would have to explain. */
  done(): void {
    this.erase();
    this.#stop?.();
    this.#stop = undefined;
    process.off("exit", this.erase);
  }

  /** Leaves the line to something else. */
  readonly erase = (): void => {
    if (this.#visible) this.#props.write(eraseLine);
    this.#visible = false;
  };

  readonly #draw = (): void => {
    const { clock, columns, write } = this.#props;
    const elapsed = clock.now() - this.#begin;
    if (this.#what === undefined || elapsed < quiet) return;
    const time = ` (${describeTime(elapsed)})`;
    // A line that wraps could not be erased.
    const room = Math.max(0, columns() - 1 - time.length);
    write(`${eraseLine}${this.#what.slice(0, room)}${time}`);
    this.#visible = true;
  };
}

/** Like 12 s, or 2 min 5 s. */
export function describeTime(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
