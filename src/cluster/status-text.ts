import { tunnelNames } from "../core/konnectivity/tunnel-names.ts";
import { inLines, oneLine } from "../core/printable.ts";
import type { Status } from "./diagnose.ts";
import type { Finding } from "./finding.ts";
import type { Certificate } from "./machine-status.ts";

const states: Record<Status["state"], string> = {
  carries: "the tunnel works",
  waiting: "the tunnel does not work yet",
  broken: "the tunnel does not work",
  ended: "the bootstrap has ended",
  unknown: "unknown: check the bootstrap machine too (--ssh)",
};

/** The words of the text that tell how the tunnel is. */
export const statusVerdicts = {
  [states.carries]: "good",
  [states.waiting]: "unclear",
  [states.broken]: "bad",
  [states.ended]: "good",
  wrong: "bad",
  unknown: "unclear",
  waiting: "unclear",
} as const;

/** The status as text for people, safe to print. It does not depend on the time, so that --watch can compare texts. */
export function statusText(status: Status): string {
  const { state, server, agents, cluster, findings } = status;
  const incomplete = state === "unknown" && findings.some(({ kind }) => kind === "unknown");
  const lines: [string, string][] = [
    ["tunnel", incomplete ? "unknown: not everything could be checked" : states[state]],
  ];
  if (server !== undefined && state !== "ended") {
    if (server.tunnel === "installer") lines.push(["made by", "openshift-install"]);
    lines.push([
      "server",
      server.healthz === 200
        ? `answers on ${server.machine}, listens for agents on ${server.listens.join(", ") || "nothing"}${tunnelNames[server.tunnel].readyzTells ? `, /readyz returns ${server.readyz}` : ""}`
        : `does not answer on ${server.machine}`,
    ]);
    const from = server.peers.length === 0 ? "" : `, from ${server.peers.join(", ")}`;
    if (server.agents !== undefined) lines.push(["agents", `${server.agents} connected${from}`]);
    const errors = Object.entries(server.dialErrors).map(([reason, count]) => `${reason} ${count}`);
    if (server.healthz === 200) lines.push(["dials", `errors: ${errors.join(", ") || "none"}`]);
    const leaves = server.certificates.filter(({ file }) => !file.endsWith("ca.crt"));
    lines.push(...leaves.map((one): [string, string] => ["certificate", dates(one)]));
  }
  for (const { where, runs, readyz, certificates } of agents) {
    const text = runs ? (readyz === 200 ? "connected" : "not connected") : "not running";
    const own = certificates.find(({ file }) => file === "tls.crt");
    lines.push(["agent", `on ${where}: ${text}${own === undefined ? "" : `; ${dates(own)}`}`]);
  }
  if (cluster !== undefined && "pods" in cluster)
    for (const { name, node, state: podState, ready, restarts, noLog } of cluster.pods)
      lines.push([
        "pod",
        `${name} on ${node}: ${podState}, ${ready ? "ready" : "not ready"}, restarts: ${restarts}` +
          (noLog === undefined ? "" : `; no log: ${noLog}`),
      ]);
  const width = Math.max(...lines.map(([name]) => name.length));
  const table = inLines(lines.map(([name, text]) => `${name.padEnd(width)}  ${text}`));
  return `${table}${findings.map(paragraph).join("")}`;
}

/** A quoted message may already end with a full stop. */
const paragraph = ({ kind, what, advice }: Finding) =>
  `\n${kind}: ${oneLine(what).replace(/\.$/, "")}.\n  → ${oneLine(advice)}.\n`;

const dates = ({ file, until, names }: Certificate) =>
  `${file.replace(/\/tls\.crt$|^(server|agent)\.crt$/, "$1")}${names.length === 0 ? "" : ` for ${names.join(", ")}`} until ${until.toISOString().replace(".000", "")}`;
