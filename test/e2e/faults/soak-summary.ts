import { markdownTable } from "../../../scripts/markdown-table.ts";
import { type Call, isBad } from "../load/statistics.ts";
import { lossOf } from "./fault.ts";

/** From a fault until all was quiet again, in milliseconds since 1970. */
export interface Window {
  readonly fault: string;
  /** When calls may first have suffered; before `from` if its preparation takes some. */
  readonly begun: number;
  readonly from: number;
  readonly until: number;
}

export interface Memory {
  readonly server: number;
  readonly agents: readonly number[];
}

/** Calls that were lost, but by no fault: they were neither sent while one was under way nor under way when one came. */
export function unexplained(calls: readonly Call[], windows: readonly Window[]): Call[] {
  const touched = ({ sent, took }: Call) => windows.some(({ begun, until }) => sent + took >= begun && sent < until);
  return calls.filter((call) => isBad(call) && !touched(call));
}

/**
 * @param windows in the order of time
 * @param memory at the beginning and after each fault
 */
export function summaryOf(calls: readonly Call[], windows: readonly Window[], memory: readonly Memory[]): string {
  // A call that one fault took is not the next one's, even if it was still under way then.
  const losses = windows.map(({ fault, begun, from, until }, index) => {
    const since = windows[index - 1]?.until ?? 0;
    const own = calls.filter(({ sent }) => sent >= since);
    const { bad } = lossOf(own, { at: begun }, until);
    const { milliseconds } = lossOf(own, { at: from }, until);
    return { fault, bad, milliseconds };
  });
  const names = [...new Set(windows.map(({ fault }) => fault))].sort();
  const lost = calls.filter(isBad).length;
  const megabytes = (values: readonly number[]) => `${values.map((value) => value.toFixed(0)).join(" and ")} MB`;
  const highest = (of: (one: Memory) => readonly number[]) => megabytes([Math.max(...memory.flatMap(of))]);
  const [first, last] = [memory[0], memory.at(-1)];
  return [
    markdownTable(
      ["fault", "times", "calls lost in total", "longest time until the last lost call"],
      names.map((name) => {
        const its = losses.filter(({ fault }) => fault === name);
        const sum = its.reduce((total, { bad }) => total + bad, 0);
        const longest = Math.max(...its.map(({ milliseconds }) => milliseconds));
        return [name, its.length, sum, `${(longest / 1000).toFixed(1)} s`];
      }),
    ),
    `Calls: ${calls.length}; lost: ${lost} (${((100 * lost) / Math.max(1, calls.length)).toFixed(1)} %).`,
    markdownTable(
      ["memory", "at the start", "highest after a fault", "at the end"],
      [
        [
          "server",
          megabytes([first?.server ?? Number.NaN]),
          highest(({ server }) => [server]),
          megabytes([last?.server ?? Number.NaN]),
        ],
        ["agents", megabytes(first?.agents ?? []), highest(({ agents }) => agents), megabytes(last?.agents ?? [])],
      ],
    ),
  ].join("\n\n");
}
