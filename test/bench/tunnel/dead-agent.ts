import { markdownTable } from "../../../scripts/markdown-table.ts";
import { wrap } from "../../../scripts/markdown-text.ts";
import { goal } from "../goal.ts";
import type { DotRow } from "./plot.ts";
import { inAll, seconds, summary } from "./restart.ts";
import { type Disturbance, disturbance, isQuiet, percentile } from "../../e2e/load/statistics.ts";
import type { TunnelLab } from "./tunnel-lab.ts";
import { routeThrough } from "./variant.ts";

export interface DeadAgentProps {
  readonly killRounds: number;
  readonly cutRounds: number;
  readonly say: (line: string) => void;
}

/** How long an agent that is gone is still used, while another one is connected. */
export async function deadAgent(labs: readonly TunnelLab[], { killRounds, cutRounds, say }: DeadAgentProps) {
  say("two agents");
  for (const lab of labs) await lab.scale(2);
  const killed = labs.map((): Disturbance[] => []);
  const cut = labs.map((): Disturbance[] => []);
  const idle = labs.map((): Disturbance[] => []);
  for (let round = 0; round < killRounds; round++) {
    say(`an agent is killed: round ${round + 1} of ${killRounds}`);
    await inAll(labs, killed, whileKilled);
  }
  for (let round = 0; round < cutRounds; round++) {
    say(`an agent is cut off: round ${round + 1} of ${cutRounds} (a minute)`);
    await inAll(labs, cut, whileCutOff);
    say(`an agent is cut off, and nobody calls: round ${round + 1} of ${cutRounds} (a minute)`);
    await inAll(labs, idle, whileIdle);
  }
  const rows = [
    { what: "killed (kill -9)", values: killed },
    { what: "cut off from the network", values: cut },
    { what: "cut off, without calls", values: idle },
  ];
  const times = (values: readonly Disturbance[] | undefined) => (values ?? []).map(({ milliseconds }) => milliseconds);
  const [ours = Number.NaN, theirs = Number.NaN] = idle.map((values) => percentile(times(values), 0.5));
  const text = [
    "## One of two agents dies: time until it is no longer used\n",
    markdownTable(
      ["agent", "tunnel", "median", "least", "most", "rounds", "lost, of 20 calls/s"],
      rows.flatMap(({ what, values }) =>
        labs.map((lab, index) => [
          what,
          lab.variant.name,
          ...summary(times(values[index])),
          (values[index] ?? []).map(({ bad }) => bad).join(", "),
        ]),
      ),
    ),
    `\n${wrap("The time from the fault until the last lost call was sent. A call is lost if it fails or takes more than three seconds. Every call needs a new connection to the webhook, so the server can assign each of them to the dead agent. Without calls: the time until the server drops the agent.")}`,
    goal("an agent that is cut off without calls is dropped sooner than with the installer's arguments", ours < theirs),
  ].join("\n");
  const dots: DotRow[] = rows.flatMap(({ what, values }) =>
    labs.map((lab, index) => ({
      name: `agent ${what.replace(/ (\(|from).*|, without calls/, (rest) => (rest.startsWith(",") ? ", idle" : ""))}`,
      series: routeThrough(lab.variant),
      values: seconds(times(values[index])),
    })),
  );
  return { text, dots };
}

/** One that was killed is back at once; one that was cut off is dropped by the server some time. */
async function whileKilled(lab: TunnelLab): Promise<Disturbance> {
  return during(lab, async () => {
    const at = lab.killAgent();
    await lab.agentsAre(2);
    return at;
  });
}

async function whileCutOff(lab: TunnelLab): Promise<Disturbance> {
  let restore = () => Promise.resolve();
  const seen = await during(lab, async () => {
    const cut = lab.cutAgent();
    restore = cut.restore;
    await lab.agentsAre(1);
    return cut.at;
  });
  await restore();
  return seen;
}

/** Until the server drops it by itself. */
async function whileIdle(lab: TunnelLab): Promise<Disturbance> {
  const cut = lab.cutAgent();
  await lab.agentsAre(1);
  const milliseconds = Date.now() - cut.at;
  await cut.restore();
  return { milliseconds, bad: 0 };
}

/** Each call needs a new connection, so each may be given to the dead agent. */
async function during(lab: TunnelLab, event: () => Promise<number>): Promise<Disturbance> {
  const pulse = lab.pulse("tunnel, new connections");
  await pulse.waitFor("a quiet tunnel", 60, (calls) => isQuiet(calls, 0, 20));
  const at = await event();
  const end = Date.now();
  await pulse.waitFor("a quiet tunnel", 60, (calls) => isQuiet(calls, end, 20));
  // With those that are under way: a call that waits for a dead agent is only seen when it gives up.
  await pulse.stop();
  return disturbance(pulse.calls, at);
}
