import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { PodSeen } from "../../../../src/cluster/agent-pods.ts";
import { archiveOf, gatheredFiles, safeNames, withoutSecrets } from "../../../../src/cluster/gather.ts";
import type { Answer } from "../../../../src/cluster/probe.ts";
import { agentSections, isProbeSection, machineSections, probeScript } from "../../../../src/cluster/probe.ts";
import { diagnose } from "../../../../src/cluster/diagnose.ts";
import { filesIn } from "../../../support/invariants.ts";

const key = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n-----END PRIVATE KEY-----";
const token = `eyJhbGciOiJSUzI1NiIs.${"a".repeat(40)}.${"b".repeat(40)}`;

describe("a gather", () => {
  it.each([
    ["a key", `before\n${key}\nafter`, "before\n(a private key)\nafter"],
    ["a key that is cut off", key.slice(0, 40), "(a private key)"],
    ["a key as base64", `tls.key: ${Buffer.from(key).toString("base64")}`, "tls.key: (a PEM file)"],
    ["a token", `token="${token}"`, 'token="(a token)"'],
    ["a header", "Authorization: Bearer sha256~abcdefgh", "Authorization: Bearer (a secret)"],
    ["a password", "proxy http://me:hidden@10.0.0.1:3128/", "proxy http://(a password)@10.0.0.1:3128/"],
  ])("leaves out %s that a log holds", (_, text, wanted) => {
    expect(withoutSecrets(text)).toBe(wanted);
  });

  it("leaves everything else as it was", () => {
    const text = 'I1116 server.go:897] "Agent connected" agentID="08beec93-cfc6-45c4-8ed4-27f9d9ecb4ec"\n@IMAGE@ //x';
    expect(withoutSecrets(text)).toBe(text);
  });

  it("has the cluster's side, and no file outside its folder", () => {
    const status = diagnose({ machines: [], silent: [] });
    const pods = [
      { name: "agent-x", node: "node-0", state: "Running", ready: true, restarts: 0, log: token, reason: undefined },
    ];
    const answers = [{ machine: "../core@10.0.0.5", silent: "no route" }];
    const files = gatheredFiles({ answers, cluster: { ended: false, pods, events: ["a"] }, status }, new Date(0));
    expect([...files.keys()]).toEqual([
      ...["README", "status.txt", "_._core@10.0.0.5/silent.txt"],
      ...["cluster/pods.json", "cluster/events.txt", "cluster/agent-x.log.txt"],
    ]);
    expect(files.get("cluster/agent-x.log.txt")).toBe("(a token)\n");
    expect([...files.values()].join("")).not.toContain(token);
  });
});

const status = diagnose({ machines: [], silent: [] });
const podNamed = (name: string, log: string): PodSeen => ({
  ...{ name, node: "node-0", state: "Running", ready: true, restarts: 0, log, reason: undefined },
});

/** What an attacker would call a machine, a pod or a section, and names that are the same once they are reduced. */
const hostile = [
  ...["../../../x/notes", "/etc/cron.d/x", "..", ".", "", " ", "-rf", "--checkpoint-action=exec=sh", "~", "C:\\x"],
  ...["a\0b", "a\nb", "a/b", "a_b", "A_B", "a_b-2", "\u001b]0;x\u0007", "\u202egnp.exe", "x.", "x_", ".hidden"],
  ...["n".repeat(300), "N".repeat(300), `${"n".repeat(300)}.`, "é".repeat(300), "\ud800", "😀"],
  ...["cluster", "Cluster", "README", "readme", "status.txt", "cluster/pods.json", "pods.json", "events", "silent"],
  ...["__proto__", "constructor", "unknown-sections", "con", "unnamed", "log", "end", "agent-1.log", "agent-1./../x"],
  ...["../agent-1.log", "agent-99999999999.log", "agent-1.log.txt"],
];
const name = fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: "binary", maxLength: 300 }));

describe("the names in a gather", () => {
  it("are the probe's own for sections", () => {
    const called = [...probeScript.matchAll(/section "?(agent-\$1\.)?([a-z][\w-]*)"? |echo "== (\w+)"/g)];
    const of = (agent: boolean) =>
      called.filter(([, prefix]) => (prefix !== undefined) === agent).map(([, , one, other]) => one ?? other);
    expect([...new Set(of(false))].sort()).toEqual([...machineSections].sort());
    expect(of(true).sort()).toEqual([...agentSections].sort());
  });

  it.each(hostile)("have safe characters and lengths, whatever was sent: %j", (sent) => {
    const [{ safe } = { safe: "" }] = safeNames([sent]);
    expect(safe).toMatch(/^[\w@][\w.@-]{0,99}$/);
    expect(safe).not.toMatch(/\.$/);
  });

  it("are never the same, also where case does not count", () => {
    const names = safeNames([...hostile, ...hostile], ["README", "cluster"]).map(({ safe }) => safe.toLowerCase());
    expect(new Set([...names, "readme", "cluster"]).size).toBe(2 * hostile.length + 2);
  });

  it("keep a name that is safe", () => {
    for (const sent of ["core@10.0.0.5", "node-0", "konnectivity-agent-x7k2p", "ip-10-0-0-5.ec2.internal"])
      expect(safeNames([sent])).toEqual([{ given: sent, safe: sent }]);
  });

  it("lie below the archive's one folder, and all that was sent is there", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ machine: name, sections: fc.array(name, { maxLength: 4 }), silent: fc.boolean() }), {
          maxLength: 5,
        }),
        fc.array(name, { maxLength: 5 }),
        (machines, podNames) => {
          let count = 0;
          const contents: string[] = [];
          const content = () => {
            contents.push(`content ${++count}.`);
            return contents.at(-1) ?? "";
          };
          const answers = machines.map(({ machine, sections, silent }): Answer =>
            silent
              ? { machine, silent: content() }
              : { machine, sections: new Map([...new Set(["log", ...sections])].map((one) => [one, content()])) },
          );
          const pods = podNames.map((one) => podNamed(one, content()));
          const files = gatheredFiles({ answers, cluster: { ended: false, pods, events: [] }, status }, new Date(0));
          const work = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-names-"));
          // A name that leads out of the archive's folder should not lead out of this one.
          const deep = join(work, "a/b/c/d/e/f");
          mkdirSync(deep, { recursive: true });
          vi.stubEnv("TMPDIR", deep);
          try {
            const archive = join(work, "archive.tar.gz");
            writeFileSync(archive, archiveOf(files, "gathered"));
            const { stdout } = spawnSync("tar", ["--list", "--file", archive], { encoding: "utf8" });
            const listed = stdout.split("\n").filter((line) => line !== "");
            for (const path of listed) expect(path).toMatch(/^gathered\/([\w@][\w.@-]*\/?){0,2}$/);
            mkdirSync(join(work, "in"));
            expect(spawnSync("tar", ["-C", join(work, "in"), "-xf", archive]).status).toBe(0);
            expect(filesIn(join(work, "in")).sort()).toEqual([...files.keys()].map((one) => `gathered/${one}`).sort());
            const found = filesIn(join(work, "in")).map((file) => readFileSync(join(work, "in", file), "utf8"));
            // pods.json has no logs, so each content is in one file.
            for (const one of contents) expect(found.filter((text) => text.includes(one))).toHaveLength(1);
          } finally {
            vi.unstubAllEnvs();
            rmSync(work, { recursive: true });
          }
        },
      ),
      { numRuns: 40, examples: [[[{ machine: "../../x", sections: hostile, silent: false }], hostile]] },
    );
  });

  it("that were changed are in the README, and sections that are not the probe's in one file", () => {
    const sections = new Map([
      ["log", "a log"],
      ["../../../x/notes", "planted"],
    ]);
    const answers = [{ machine: "core@[fd00::5]", sections }];
    const cluster = { ended: false, pods: [podNamed("a/b", "one"), podNamed("a_b", "two")], events: [] };
    const files = gatheredFiles({ answers, cluster, status }, new Date(0));
    expect(files.get("core@_fd00__5_/unknown-sections.txt")).toBe('== "../../../x/notes"\n planted\n');
    expect(files.get("core@_fd00__5_/log.txt")).toBe("a log\n");
    expect(files.get("cluster/a_b.log.txt")).toBe("one\n");
    expect(files.get("cluster/a_b-2.log.txt")).toBe("two\n");
    const readme = files.get("README")?.split("\n") ?? [];
    expect(readme).toContain('core@_fd00__5_/ belongs to "core@[fd00::5]"');
    expect(readme).toContain('cluster/a_b.log.txt belongs to "a/b"');
    expect(readme).toContain('cluster/a_b-2.log.txt belongs to "a_b"');
  });

  it.each(["agent-1.log", "record", "agent-120.container"])("%s is one of the probe's sections", (one) => {
    expect(isProbeSection(one)).toBe(true);
  });

  it.each(["", "..", "agent-1.", "agent-.log", "agent-1.log/../x", "agent-1.end", "agent-1234.log", "log\n", "Log"])(
    "%j is none",
    (one) => {
      expect(isProbeSection(one)).toBe(false);
    },
  );
});
