import { markdownTable } from "../../../scripts/markdown-table.ts";
import { ms } from "./clients.ts";
import type { Chart } from "./plot.ts";
import { percentile } from "../../e2e/load/statistics.ts";
import type { TunnelLab } from "./tunnel-lab.ts";
import { routeThrough } from "./variant.ts";

export interface AgentsProps {
  readonly agents: readonly number[];
  readonly clients: number;
  readonly rounds: number;
  readonly calls: number;
  readonly say: (line: string) => void;
}

interface Seen {
  readonly lab: TunnelLab;
  readonly agents: number;
  readonly milliseconds: number[];
  readonly rates: number[];
  server: number;
  agent: number;
}

/** Creates through the tunnel, and memory, by the number of agents. */
export async function byAgents(labs: readonly TunnelLab[], { agents, clients, rounds, calls, say }: AgentsProps) {
  const seen: Seen[] = [];
  for (const number of agents) {
    say(`${number} agents`);
    await Promise.all(labs.map((lab) => lab.scale(number)));
    const now = labs.map((lab): Seen => ({ lab, agents: number, milliseconds: [], rates: [], server: 0, agent: 0 }));
    for (let round = 0; round < rounds; round++)
      for (const one of round % 2 === 0 ? now : [...now].reverse()) {
        const { microseconds, seconds } = await one.lab.crowd("tunnel", clients, calls);
        for (const value of microseconds) one.milliseconds.push(value / 1000);
        one.rates.push(microseconds.length / seconds);
      }
    for (const one of now) {
      const memory = one.lab.memory();
      one.server = memory.server;
      one.agent = percentile(memory.agents, 0.5);
    }
    seen.push(...now);
  }
  const text = [
    `## Agents, with ${clients} parallel clients\n`,
    markdownTable(
      ["agents", "tunnel", "p50", "p95", "p99", "creates/s", "server memory", "agent memory, median"],
      seen.map((one) => [
        one.agents,
        one.lab.variant.name,
        ...[0.5, 0.95, 0.99].map((share) => ms(percentile(one.milliseconds, share))),
        percentile(one.rates, 0.5).toFixed(0),
        `${one.server.toFixed(0)} MB`,
        `${one.agent.toFixed(0)} MB`,
      ]),
    ),
    "\nMemory is resident memory after these requests.",
  ].join("\n");
  const chart: Chart = {
    title: "server memory, MB",
    xLabel: "agents",
    x: agents,
    series: labs.map((lab) => ({
      name: routeThrough(lab.variant),
      y: seen.filter((one) => one.lab === lab).map(({ server }) => server),
    })),
  };
  return { text, chart };
}
