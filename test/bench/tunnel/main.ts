/**
 * `npm run bench:tunnel`: our tunnel beside one with the installer's arguments, in two labs at the same time. Markdown to stdout,
 * progress to stderr. `--plot=FILE` writes the plot, `--short` is for working on the benchmark itself: a few
 * minutes, and figures that mean nothing.
 */
import { writeFileSync } from "node:fs";
import { labFolder } from "../../../lab/folder.ts";
import { Lab } from "../../../lab/lab.ts";
import { markdownTable } from "../../../scripts/markdown-table.ts";
import { wrap } from "../../../scripts/markdown-text.ts";
import { byAgents } from "./agents.ts";
import { byClients } from "./clients.ts";
import { deadAgent } from "./dead-agent.ts";
import { busyness, thisMachine } from "../machine.ts";
import { plot } from "./plot.ts";
import { afterRestart } from "./restart.ts";
import { percentile } from "../../e2e/load/statistics.ts";
import { TunnelLab } from "./tunnel-lab.ts";
import { ours, upstream } from "./variant.ts";

const short = process.argv.includes("--short");
const plotFile = process.argv.find((arg) => arg.startsWith("--plot="))?.slice("--plot=".length);
const begin = Date.now();
const say = (line: string) => {
  console.error(`${((Date.now() - begin) / 1000).toFixed(0).padStart(5)} s  ${line}`);
};

const variants = [ours, upstream];
const names = variants.map((_, index) => `bench-${process.pid}-${index}`);
const end: { interrupted: boolean; removal?: Promise<unknown> } = { interrupted: false };
/** Once, whoever asks for it: what is interrupted also ends. */
const removeLabs = () => (end.removal ??= Promise.all(names.map((name) => Lab.down(name, labFolder(name)))));
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    end.interrupted = true;
    console.error("\nInterrupted: the labs go.");
    void removeLabs().then(() => process.exit(130));
  });

async function run(): Promise<void> {
  const before = busyness();
  say("two labs come up");
  const labs = await Promise.all(variants.map((variant, index) => TunnelLab.up(variant, names[index] ?? "")));
  const idle = labs.map((lab) => lab.memory());

  const clients = await byClients(labs, {
    clients: short ? [1, 16] : [1, 2, 4, 8, 16, 32, 64],
    rounds: short ? 1 : 3,
    calls: (number) => (short ? 50 : Math.max(400, 20 * number)),
    say,
  });
  const loaded = labs.map((lab) => lab.memory());
  const restart = await afterRestart(labs, {
    rounds: short ? 2 : 12,
    awayRounds: short ? 1 : 4,
    awaySeconds: short ? 2 : 15,
    say,
  });
  const death = await deadAgent(labs, { killRounds: short ? 1 : 5, cutRounds: short ? 1 : 2, say });
  const agents = await byAgents(labs, {
    agents: short ? [1, 3] : [1, 10, 100],
    clients: 16,
    rounds: 3,
    calls: short ? 50 : 600,
    say,
  });

  const megabytes = (value: number) => `${value.toFixed(0)} MB`;
  const memory = [
    "## Memory, with one agent\n",
    markdownTable(
      ["tunnel", "server, new", "server, after the creates", "agent, new", "agent, after the creates"],
      labs.map((lab, index) => [
        lab.variant.name,
        ...[idle, loaded].map((seen) => megabytes(seen[index]?.server ?? Number.NaN)),
        ...[idle, loaded].map((seen) => megabytes(percentile(seen[index]?.agents ?? [], 0.5))),
      ]),
    ),
  ].join("\n");
  const minutes = ((Date.now() - begin) / 60_000).toFixed(0);
  console.log(
    [
      wrap(`Machine: ${thisMachine()}. Load average before ${before}, after ${busyness()}. ${minutes} minutes.`),
      ...[clients.text, restart.text, death.text, agents.text, memory],
    ]
      .join("\n\n")
      .replaceAll(/\n{3,}/g, "\n\n"),
  );
  const charts = [...clients.charts, agents.chart];
  const dots = { title: "time until calls are answered again", rows: [...restart.dots, ...death.dots] };
  if (plotFile !== undefined) writeFileSync(plotFile, plot(charts, dots));
}

try {
  await run();
} catch (error) {
  if (!end.interrupted) console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await removeLabs();
}
