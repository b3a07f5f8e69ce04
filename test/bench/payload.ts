import { spawnSync } from "node:child_process";
import { inspect, makePayload } from "../../src/core/bootstrap.ts";
import { readTunnel } from "../../src/core/konnectivity/options.ts";
import { sampleText, tunnelShapes } from "../../src/core/sample/sample.ts";
import { projectFile } from "../../src/runtime/project-files.js";
import { markdownTable } from "../../scripts/markdown-table.ts";
import { goal, median } from "./goal.ts";

const sizes = [300_000, 600_000, 1_250_000, 2_500_000, 5_000_000];

/** Time and memory of one build, by the size of bootstrap.ign. */
export function payloadGrowth(): string {
  const tunnel = readTunnel({});
  const idle = peakMemory(0);
  const rows = sizes.map((bytes) => {
    const text = sampleText("4.18", { bytes });
    const times = Array.from({ length: 15 }, () => {
      const start = performance.now();
      makePayload(text, tunnel, new Date());
      return performance.now() - start;
    });
    return {
      bytes: text.length,
      first: times[0] ?? 0,
      milliseconds: median(times.slice(1)),
      memory: peakMemory(bytes) - idle,
    };
  });
  const [small, large] = [rows[0], rows.at(-1)];
  if (small === undefined || large === undefined) return "";
  const perMegabyte = (row: typeof small) => row.milliseconds / (row.bytes / 1e6);
  return [
    "## Build time and memory by the size of bootstrap.ign\n",
    markdownTable(
      ["bootstrap.ign", "first build", "build, median of 14", "per MB", "peak memory above an idle process"],
      rows.map((row) => [
        `${(row.bytes / 1e6).toFixed(2)} MB`,
        `${row.first.toFixed(1)} ms`,
        `${row.milliseconds.toFixed(1)} ms`,
        `${perMegabyte(row).toFixed(1)} ms`,
        `${row.memory.toFixed(0)} MB`,
      ]),
    ),
    goal("below 50 ms for 300 kB", small.milliseconds < 50),
    goal("linear growth: 5 MB take no more time per MB than 300 kB", perMegabyte(large) <= perMegabyte(small)),
  ].join("\n");
}

/** Peak memory in MB of a process of its own that builds a payload from a bootstrap.ign of this size; 0: that builds none. */
function peakMemory(bytes: number): number {
  const child = projectFile("test/bench/peak-memory.ts");
  const { stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", child, String(bytes)], {
    encoding: "utf8",
  });
  if (stdout === "") throw new Error(stderr);
  return Number(stdout) / 1024;
}

/** What the installer's own tunnel adds: eight files of together 9,991 bytes, in base64. */
const upstreamBase64 = 13_324;

export function payloadBytes(): string {
  const rows = tunnelShapes.map(([shape, release]) => {
    const text = sampleText(shape);
    const payload = makePayload(text, readTunnel({}), new Date());
    const found = inspect(payload.text, shape);
    const contents = found.kind === "payload" ? found.added.reduce((sum, { encoded }) => sum + encoded, 0) : 0;
    return { release: `${shape} (${release})`, contents, all: payload.bytes - payload.originalBytes };
  });
  return [
    "## Bytes added to bootstrap.ign\n",
    markdownTable(
      ["release", "file contents, encoded", "installer's tunnel, encoded", "all, with paths, modes and bootkube.sh"],
      rows.map(({ release, contents, all }) => [release, contents, upstreamBase64, all]),
    ),
    goal(
      "file contents not larger than the installer's",
      rows.every(({ contents }) => contents <= upstreamBase64),
    ),
  ].join("\n");
}
