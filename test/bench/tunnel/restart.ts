import { setTimeout as sleep } from "node:timers/promises";
import { markdownTable } from "../../../scripts/markdown-table.ts";
import { goal } from "../goal.ts";
import type { DotRow } from "./plot.ts";
import { firstAnswer, isQuiet, percentile } from "../../e2e/load/statistics.ts";
import type { TunnelLab } from "./tunnel-lab.ts";
import { routeThrough } from "./variant.ts";

export interface RestartProps {
  readonly rounds: number;
  readonly awayRounds: number;
  readonly awaySeconds: number;
  readonly say: (line: string) => void;
}

/** How long until a webhook answers again when the tunnel's server was killed, and when it was away for longer. */
export async function afterRestart(labs: readonly TunnelLab[], props: RestartProps) {
  const { rounds, awayRounds, awaySeconds, say } = props;
  const killed = labs.map((): number[] => []);
  const away = labs.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    say(`the server is killed: round ${round + 1} of ${rounds}`);
    // At another moment of the agents' own clocks each time.
    await sleep(500 + ((round * 770) % 5000));
    await inAll(labs, killed, (lab) => outage(lab, () => lab.killServer()));
  }
  for (let round = 0; round < awayRounds; round++) {
    say(`the server is away for ${awaySeconds} s: round ${round + 1} of ${awayRounds}`);
    await inAll(labs, away, (lab) => outage(lab, () => lab.serverAway(awaySeconds + round)));
  }
  const rows = [
    { what: "killed (kill -9)", from: "the kill", values: killed },
    { what: `stopped for ${awaySeconds} s or more`, from: "listening again", values: away },
  ];
  const [ours = Number.NaN, theirs = Number.NaN] = killed.map((values) => percentile(values, 0.5));
  const text = [
    "## The server restarts: time until a webhook answers again\n",
    markdownTable(
      ["server", "time from", "tunnel", "median", "least", "most", "rounds"],
      rows.flatMap(({ what, from, values }) =>
        labs.map((lab, index) => [what, from, lab.variant.name, ...summary(values[index] ?? [])]),
      ),
    ),
    goal("at most 2 s (median) after the server is killed", ours <= 2000),
    goal("sooner than with the installer's arguments", ours < theirs),
  ].join("\n");
  const dots: DotRow[] = rows.flatMap(({ what, values }) =>
    labs.map((lab, index) => ({
      name: `server ${what.replace(/\(.*| or more/, "").trim()}`,
      series: routeThrough(lab.variant),
      values: seconds(values[index] ?? []),
    })),
  );
  return { text, dots };
}

/** In all labs at the same time: each has its own machines, and a noisy moment hits all. */
export async function inAll<T>(labs: readonly TunnelLab[], into: readonly T[][], what: (lab: TunnelLab) => Promise<T>) {
  const results = await Promise.all(labs.map(what));
  for (const [index, result] of results.entries()) into[index]?.push(result);
}

export const seconds = (milliseconds: readonly number[]) => milliseconds.map((value) => value / 1000);

/** Cells: median, least, most, how many. */
export function summary(milliseconds: readonly number[]): string[] {
  const cell = (value: number) => `${(value / 1000).toFixed(2)} s`;
  return [
    cell(percentile(milliseconds, 0.5)),
    cell(Math.min(...milliseconds)),
    cell(Math.max(...milliseconds)),
    String(milliseconds.length),
  ];
}

/** Milliseconds from what `event` returns to the first answer after it. */
async function outage(lab: TunnelLab, event: () => number | Promise<number>): Promise<number> {
  const pulse = lab.pulse("tunnel");
  await pulse.waitFor("a quiet tunnel", 60, (calls) => isQuiet(calls, 0, 10));
  const at = await event();
  await pulse.waitFor("an answer", 90, (calls) => firstAnswer(calls, at) !== undefined);
  await pulse.waitFor("a quiet tunnel", 60, (calls) => isQuiet(calls, at, 20));
  await pulse.stop();
  return firstAnswer(pulse.calls, at) ?? Number.NaN;
}
