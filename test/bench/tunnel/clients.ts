import { markdownTable } from "../../../scripts/markdown-table.ts";
import { wrap } from "../../../scripts/markdown-text.ts";
import { goal } from "../goal.ts";
import type { Chart } from "./plot.ts";
import { percentile } from "../../e2e/load/statistics.ts";
import type { Path } from "../../e2e/load/loaded-lab.ts";
import type { TunnelLab } from "./tunnel-lab.ts";
import { routeThrough } from "./variant.ts";

/** How the call for a create is sent. */
interface Route {
  readonly name: string;
  readonly lab: TunnelLab;
  readonly path: Path;
}

interface Seen {
  readonly route: Route;
  readonly clients: number;
  readonly milliseconds: number[];
  readonly rates: number[];
  /** The load generator's processor time, in processors. */
  readonly generator: number[];
}

const p = (seen: Seen, share: number) => percentile(seen.milliseconds, share);
const rate = (seen: Seen) => percentile(seen.rates, 0.5);
export const ms = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;

export interface ClientsProps {
  readonly clients: readonly number[];
  readonly rounds: number;
  /** Calls in one step. */
  readonly calls: (clients: number) => number;
  readonly say: (line: string) => void;
}

/** How long the kube-apiserver's own metric says that calls of a hook took. */
interface HookTime {
  count: number;
  seconds: number;
}

interface Measurements {
  readonly routes: readonly Route[];
  readonly seen: readonly Seen[];
  readonly hookTimes: ReadonlyMap<Route, HookTime>;
  /** Calls per second of the load generator against a server that does nothing. */
  readonly generatorRate: number;
}

/** Creates by one client and by many at once: without a hook, with a hook called directly, and through each tunnel. */
export async function byClients(labs: readonly TunnelLab[], props: ClientsProps) {
  const measurements = await measure(labs, props);
  const { routes, seen } = measurements;
  const chart = (title: string, y: (at: Seen) => number): Chart => ({
    title,
    xLabel: "parallel clients",
    x: props.clients,
    series: routes
      .filter(({ path }) => path !== "no hook, permanent kube-apiserver")
      .map((route) => ({ name: route.name, y: seen.filter((at) => at.route === route).map(y) })),
  });
  return {
    text: [...oneClientText(measurements), ...manyClientsText(measurements, props)].join("\n"),
    charts: [chart("creates/s", rate), chart("p50 of a create, ms", (at) => p(at, 0.5))],
  };
}

async function measure(labs: readonly TunnelLab[], props: ClientsProps): Promise<Measurements> {
  const [first] = labs;
  if (first === undefined) throw new Error("no lab");
  const routes: Route[] = [
    { name: "no hook, bootstrap kube-apiserver", lab: first, path: "no hook" },
    { name: "no hook, permanent kube-apiserver", lab: first, path: "no hook, permanent kube-apiserver" },
    { name: "hook, direct", lab: first, path: "direct" },
    ...labs.map((lab): Route => ({ name: routeThrough(lab.variant), lab, path: "tunnel" })),
  ];
  /** The hook closes the connection after each call: what it costs to open one. By one client only. */
  const newConnections: Route[] = routes
    .filter(({ path }) => path === "direct" || path === "tunnel")
    .map(({ name, lab, path }) => ({
      name: `${name}, new connections`,
      lab,
      path: `${path}, new connections` as Path,
    }));
  const seen = props.clients.flatMap((clients) =>
    [...routes, ...(clients === 1 ? newConnections : [])].map((route): Seen => ({
      route,
      clients,
      milliseconds: [],
      rates: [],
      generator: [],
    })),
  );
  const hooked = [...routes, ...newConnections].filter(({ path }) => !path.startsWith("no hook"));
  const hookTimes = new Map(hooked.map((route) => [route, { count: 0, seconds: 0 }]));
  for (let round = 0; round < props.rounds; round++)
    for (const clients of props.clients) {
      props.say(`creates: round ${round + 1} of ${props.rounds}, ${clients} parallel clients`);
      const now = seen.filter((at) => at.clients === clients);
      if (clients === 1) await addingHookTimes(hookTimes, () => runRound(now, round, props));
      else await runRound(now, round, props);
    }
  const alone = await first.generatorAlone(16, 5000);
  return { routes, seen, hookTimes, generatorRate: alone.microseconds.length / alone.seconds };
}

/** Measures one after the other, starting with another one each round, so that a noisy moment hits all. */
async function runRound(seen: readonly Seen[], round: number, props: ClientsProps): Promise<void> {
  const start = round % seen.length;
  for (const { route, clients, milliseconds, rates, generator } of [...seen.slice(start), ...seen.slice(0, start)]) {
    const result = await route.lab.crowd(route.path, clients, props.calls(clients));
    for (const value of result.microseconds) milliseconds.push(value / 1000);
    rates.push(result.microseconds.length / result.seconds);
    generator.push(result.cpuSeconds / result.seconds);
  }
}

async function addingHookTimes(hookTimes: ReadonlyMap<Route, HookTime>, run: () => Promise<void>): Promise<void> {
  const before = [...hookTimes].map(([route, total]) => ({ route, total, start: route.lab.admission(route.path) }));
  await run();
  for (const { route, total, start } of before) {
    const { count, seconds } = route.lab.admission(route.path);
    total.count += count - start.count;
    total.seconds += seconds - start.seconds;
  }
}

function oneClientText({ seen, hookTimes }: Measurements): string[] {
  const one = seen.filter(({ clients }) => clients === 1);
  const medians = (path: Path) => one.filter(({ route }) => route.path === path).map((at) => p(at, 0.5));
  const [direct = Number.NaN] = medians("direct");
  const [our = Number.NaN, theirs = Number.NaN] = medians("tunnel");
  const [added, ratio] = [our - direct, our / theirs];
  return [
    "## One client\n",
    markdownTable(
      ["path", "p50", "p95", "p99", "creates/s", "webhook call, mean"],
      one.map((at) => {
        const hook = hookTimes.get(at.route);
        return [
          at.route.name,
          ...[0.5, 0.95, 0.99].map((share) => ms(p(at, share))),
          rate(at).toFixed(0),
          hook === undefined ? "" : ms((1000 * hook.seconds) / hook.count),
        ];
      }),
    ),
    `\n${wrap(`${one[0]?.milliseconds.length ?? 0} creates each. The last column is the kube-apiserver's own metric of its webhook calls. New connections: the webhook closes each connection after its answer, so every call opens one. Otherwise connections are kept open.`)}`,
    goal("the tunnel adds less than 5 ms to a create (p50)", added < 5),
    goal("not slower than with the installer's arguments (p50 at most 1.1 times as high)", ratio <= 1.1),
  ];
}

function manyClientsText({ routes, seen, generatorRate }: Measurements, props: ClientsProps): string[] {
  const fastest = Math.max(...seen.map(rate));
  const busiest = Math.max(...seen.map(({ generator }) => percentile(generator, 0.5)));
  const many = props.clients.filter((clients) => clients > 1);
  const find = (route: Route, clients: number) => seen.find((at) => at.route === route && at.clients === clients);
  return [
    "\n## Parallel clients: creates/s\n",
    markdownTable(
      ["path", ...props.clients.map(String)],
      routes.map((route) => [
        route.name,
        ...props.clients.map((clients) => {
          const at = find(route, clients);
          return at === undefined ? "" : rate(at).toFixed(0);
        }),
      ]),
    ),
    "\n## Parallel clients: p50 / p99\n",
    markdownTable(
      ["path", ...many.map(String)],
      routes.map((route) => [
        route.name,
        ...many.map((clients) => {
          const at = find(route, clients);
          return at === undefined ? "" : `${p(at, 0.5).toFixed(0)} / ${ms(p(at, 0.99))}`;
        }),
      ]),
    ),
    `\n${wrap(`The load generator is not the bottleneck. Against a server that does nothing it reaches ${generatorRate.toFixed(0)} calls/s. Here it sent at most ${fastest.toFixed(0)} calls/s and used at most ${busiest.toFixed(2)} processors.`)}`,
  ];
}
