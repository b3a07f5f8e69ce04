import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { LabMachine } from "../../../lab/machine.ts";
import { ensureGoProgram } from "../../../lab/go-programs.js";
import type { Call } from "./statistics.ts";

/** Where it runs. */
type Place = Pick<LabMachine, "enter">;

/** What is asked, and of whom: flags of the load generator (test/e2e/load). */
export type Target = readonly string[];

/** What a crowd of clients has seen. */
export interface Crowd {
  readonly seconds: number;
  /** Of the load generator itself. */
  readonly cpuSeconds: number;
  /** Of each call that was answered. */
  readonly microseconds: readonly number[];
  readonly failed: number;
  readonly failure: string;
}

/** Clients that ask again as soon as they are answered, until `count` calls have been made or `seconds` are over. */
export async function crowd(
  machine: Place,
  target: Target,
  { clients, count, seconds }: { readonly clients: number; readonly count: number; readonly seconds: number },
): Promise<Crowd> {
  const sizes = [`--clients=${clients}`, `--count=${count}`, `--seconds=${seconds}`];
  const child = start(machine, [...target, ...sizes]);
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += String(chunk)));
  await ended(child);
  const result = JSON.parse(output) as Crowd;
  if (result.failed > 0) throw new Error(`${result.failed} of ${count} calls failed: ${result.failure}`);
  return result;
}

/** Calls at a steady pace, whatever becomes of the others, from its start until it is stopped. */
export class Pulse {
  readonly calls: Call[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  constructor(machine: Place, target: Target) {
    this.#child = start(machine, target);
    this.#ended = ended(this.#child);
    // `stop` reports the failure.
    this.#ended.catch(() => undefined);
    if (this.#child.stdout !== null)
      createInterface(this.#child.stdout).on("line", (line) => this.calls.push(JSON.parse(line) as Call));
  }

  /** Waits until the calls show something, or says what they never showed. */
  async waitFor(what: string, seconds: number, shown: (calls: readonly Call[]) => boolean): Promise<void> {
    const end = Date.now() + 1000 * seconds;
    while (!shown(this.calls)) {
      if (Date.now() > end) {
        const last = this.calls.findLast(({ failure }) => failure !== "");
        throw new Error(
          `timed out after ${seconds} s while waiting for ${what} (last failure: ${last?.failure ?? "none"})`,
        );
      }
      await sleep(20);
    }
  }

  /** Waits for the calls that are under way. */
  async stop(): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
  }
}

/** One program for the whole run. */
let program: string | undefined;

function start(machine: Place, args: readonly string[]): ChildProcess {
  program ??= ensureGoProgram("load").load;
  const [first = "", ...rest] = machine.enter([program, ...args]);
  return spawn(first, rest, { stdio: ["pipe", "pipe", "inherit"] });
}

async function ended(child: ChildProcess): Promise<void> {
  const code = await new Promise((resolve, reject) => {
    child.once("close", resolve).once("error", reject);
  });
  if (code !== 0) throw new Error(`the load generator ended with ${String(code)}`);
}
