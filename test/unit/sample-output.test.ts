import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { diagnose } from "../../src/cluster/diagnose.ts";
import type { Certificate } from "../../src/cluster/machine-status.ts";
import { statusText } from "../../src/cluster/status-text.ts";
import { checkIds, titles } from "../../src/cluster/verify.ts";
import { projectFile } from "../../src/runtime/project-files.js";
import { clouds } from "../support/clouds.ts";

const read = (page: string) => readFileSync(projectFile(page), "utf8");

/** A text as an indented code block. */
const asBlock = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => (line === "" ? "" : `    ${line}`))
    .join("\n");

const now = new Date("2026-11-18T20:52:00Z");
const certificate = (file: string, until: string, ...names: readonly string[]): Certificate => ({
  ...{ file, from: now, until: new Date(`2026-11-19T${until}Z`), sha256: "aa", names },
});

const server = {
  ...{ machine: "bootstrap", tunnel: "ours" as const, now, ended: false, wanted: true },
  ...{ failedStage: undefined, said: undefined, lastLogLine: undefined },
  ...{ healthz: 200, readyz: 200, agents: 1, dialErrors: {}, pendingDials: 0, port: 8091 },
  ...{ listens: ["10.0.0.10:8091"], peers: ["10.0.0.20"], formerPeers: [] },
  certificates: [certificate("agent/tls.crt", "20:51:48"), certificate("serving/tls.crt", "20:51:47", "10.0.0.10")],
};

/** What a lab with one node reports while its tunnel works. */
const working = diagnose({
  machines: [
    { machine: "bootstrap", agents: [], server },
    {
      machine: "node-0",
      server: undefined,
      agents: [
        {
          ...{ where: "node-0", now, runs: true, readyz: 200, dials: "10.0.0.10:8091", dialling: false },
          ...{ reason: undefined, proxy: undefined, certificates: [certificate("tls.crt", "20:51:48")] },
        },
      ],
    },
  ],
  unreachable: [],
});

/** The same before the first agent is connected. */
const waiting = diagnose({
  machines: [{ machine: "bootstrap", agents: [], server: { ...server, readyz: 500, agents: 0, peers: [] } }],
  unreachable: [],
});

/** The state of the tunnel, of the server and of the agents. */
const firstLines = (text: string) => text.split("\n").slice(0, 3).join("\n");

describe("sample output", () => {
  it.each(["docs/lab.md", "docs/troubleshooting.md"])("%s shows what status prints", (page) => {
    expect(read(page)).toContain(`\n${asBlock(statusText(working))}\n`);
  });

  it.each(clouds)("docs/upi-%s.md shows the first lines of it", (platform) => {
    const page = read(`docs/upi-${platform}.md`);
    expect(page).toContain(`\n${asBlock(firstLines(statusText(working)))}\n`);
    if (platform === "aws") expect(page).toContain(`\n${asBlock(firstLines(statusText(waiting)))}\n`);
  });

  it("docs/lab.md shows what status prints when openshift-install has removed the machine", () => {
    const ended = diagnose({ machines: [], unreachable: [], machineRemoved: true });
    expect(read("docs/lab.md")).toContain(`\n${asBlock(statusText(ended))}\n`);
  });

  it("docs/lab.md lists every check of verify, and shows the titles that verify prints", () => {
    const page = read("docs/lab.md");
    const listed = [...page.matchAll(/^\| `((?:step|security)-\d)` \|/gm)].map(([, id]) => id);
    expect(listed).toEqual([...checkIds]);
    const shown = [...page.matchAll(/^ {4}((?:step|security)-\d) +(?:passed|failed|not \S+(?: at)?) +(.+)$/gm)];
    expect(shown.length).toBeGreaterThan(1);
    for (const [, id, title] of shown) expect(titles[id as keyof typeof titles]).toBe(title);
  });
});
