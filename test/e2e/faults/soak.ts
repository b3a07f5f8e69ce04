/**
 * `npm run soak [-- --minutes=N --seed=S --table]`: calls through a lab's tunnel all the time, and one fault after the other, in an
 * order that the seed decides. Markdown to stdout, or with --table into docs/faults.md; progress to stderr. The exit code is 0 if the tunnel came back from each
 * and no call was lost in between.
 */
import { randomInt } from "node:crypto";
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { wrap } from "../../../scripts/markdown-text.ts";
import { busyness, thisMachine } from "../../bench/machine.ts";
import type { Pulse } from "../load/load.ts";
import type { Call } from "../load/statistics.ts";
import { LoadedLab } from "../load/loaded-lab.ts";
import { labWith, removeLab } from "../../support/lab.ts";
import { type Fault, lossOf, quiet } from "./fault.ts";
import { writePart } from "./page.ts";
import { summaryOf, unexplained, type Window } from "./soak-summary.ts";
import { prepareRogueAgents } from "./rogue-agent.ts";
import { tunnelFaults } from "./tunnel-faults.ts";

const usage = `Usage: npm run soak [-- --minutes=N --seed=S --table]

Calls through a lab's tunnel (40 a second), and faults in a random order, for N minutes (default: 10, at most 240).
The same seed gives the same order. --table writes the result into docs/faults.md instead of stdout. Needs root. Ctrl-C removes the lab.
`;

const name = `soak${process.pid}`;
const begin = Date.now();
const say = (line: string) => {
  console.error(`${((Date.now() - begin) / 1000).toFixed(0).padStart(5)} s  ${line}`);
};

/** A number from 0 to below 1, another each time, the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function soak({ minutes, seed, write }: Options): Promise<void> {
  const before = busyness();
  say("a lab with two nodes comes up");
  const lab = new LoadedLab(await labWith({ name, nodes: 2 }));
  lab.installHookWithoutMemory();
  await lab.agentsAre(2);
  await prepareRogueAgents(lab);
  const random = randomFrom(seed);
  let bag: Fault[] = [];
  const pulses: [Pulse, Pulse] = [lab.pulse("tunnel, new connections"), lab.pulse("tunnel")];
  const [fresh, kept] = pulses;
  const windows: Window[] = [];
  let trouble: string | undefined;
  for (const pulse of pulses) await quiet(pulse);
  const memory = [lab.memory()];
  const start = Date.now();
  const end = start + 60_000 * minutes;
  say(`calls flow; faults for ${minutes} minutes, seed ${seed}`);
  while (Date.now() < end && trouble === undefined) {
    await sleep(1000 + 4000 * random());
    // Each comes once before any comes again.
    if (bag.length === 0) bag = [...tunnelFaults];
    const [fault] = bag.splice(Math.floor(random() * bag.length), 1);
    if (fault === undefined) continue;
    try {
      const struck = await fault.strike(lab, fresh);
      for (const pulse of pulses) await quiet(pulse);
      const window = { fault: fault.name, begun: struck.begun ?? struck.at, from: struck.at, until: Date.now() };
      windows.push(window);
      const { bad, milliseconds } = lossOf([...fresh.calls, ...kept.calls], struck, window.until);
      say(`${fault.name}: ${bad} calls lost, ${(milliseconds / 1000).toFixed(1)} s`);
      memory.push(lab.memory());
    } catch (error) {
      trouble = `${fault.name}: ${error instanceof Error ? error.message : String(error)}`;
      say(trouble);
    }
  }
  await Promise.all(pulses.map((pulse) => pulse.stop()));
  const calls = [...fresh.calls, ...kept.calls];
  const stray = unexplained(calls, windows);
  const agents = lab.agents();
  const took = ((Date.now() - start) / 60_000).toFixed(1);
  const text = [
    wrap(
      `Machine: ${thisMachine()}. Load average before ${before}, after ${busyness()}. ${took} minutes, seed ${seed}.`,
    ),
    summaryOf(calls, windows, memory),
    `Calls lost while no fault was active: ${stray.length}${strayOf(stray, start)}. Agents connected at the end: ${agents ?? "unknown"} of 2.`,
    ...(trouble === undefined ? [] : [`NOT RECOVERED: ${trouble}`]),
  ].join("\n\n");
  if (write) writePart("soak", text);
  else console.log(text);
  if (trouble !== undefined || stray.length > 0 || agents !== 2) process.exitCode = 1;
}

/** The first of them, and when it was sent: the progress on stderr says what was done around that time. */
function strayOf([first]: readonly Call[], start: number): string {
  if (first === undefined) return "";
  return ` (the first after ${((first.sent - start) / 1000).toFixed(1)} s: ${first.failure || "it took too long"})`;
}

function numberOf(text: string, what: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value < least || value > most)
    stop(`--${what}=${text} is not a number from ${least} to ${most}.`);
  return value;
}

function stop(sentence: string): never {
  console.error(`error: ${sentence}`);
  process.exit(2);
}

interface Options {
  readonly minutes: number;
  readonly seed: number;
  /** Into docs/faults.md. */
  readonly write: boolean;
}

function options(): Options {
  const known = {
    minutes: { type: "string" },
    seed: { type: "string" },
    table: { type: "boolean" },
    help: { type: "boolean" },
  } as const;
  let values: { minutes?: string; seed?: string; table?: boolean; help?: boolean };
  try {
    ({ values } = parseArgs({ options: known }));
  } catch (error) {
    stop(`${error instanceof Error ? error.message : String(error)}: run it with --help.`);
  }
  if (values.help === true) {
    console.log(usage.trim());
    process.exit(0);
  }
  return {
    minutes: numberOf(values.minutes ?? "10", "minutes", 0.1, 240),
    seed: Math.floor(numberOf(values.seed ?? String(randomInt(2 ** 31)), "seed", 0, 2 ** 32 - 1)),
    write: values.table ?? false,
  };
}

const chosen = options();
if (process.getuid?.() !== 0) stop("The lab creates namespaces, mounts and control groups: run this command as root.");
const end = { interrupted: false };
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    if (end.interrupted) return;
    end.interrupted = true;
    console.error("\nInterrupted: removing the lab.");
    void removeLab(name).then(() => process.exit(128 + constants.signals[signal]));
  });
try {
  await soak(chosen);
} catch (error) {
  // What is interrupted fails somewhere; the signal's handler ends it.
  if (end.interrupted) await new Promise(() => undefined);
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await removeLab(name);
}
