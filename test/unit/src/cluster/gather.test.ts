import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentPod } from "../../../../src/cluster/agent-pods.ts";
import { archiveOf } from "../../../../src/cluster/archive.ts";
import { gatheredFiles, safeNames, withoutSecrets } from "../../../../src/cluster/gather.ts";
import type { ProbeResult } from "../../../../src/cluster/probe.ts";
import { agentSections, isProbeSection, machineSections, probeScript } from "../../../../src/cluster/probe.ts";
import { diagnose } from "../../../../src/cluster/diagnose.ts";
import { entriesOf } from "../../../support/archive.ts";

/** Not a key, and assembled here, so that no scanner for secrets takes this file for one. */
const label = ["PRIVATE", "KEY"].join(" ");
const key = `-----BEGIN ${label}-----\nthis would be base64\n-----END ${label}-----`;
const token = `eyJhbGciOiJSUzI1NiIs.${"a".repeat(40)}.${"b".repeat(40)}`;

describe("gathered files", () => {
  it.each([
    ["a key", `before\n${key}\nafter`, "before\n(a private key)\nafter"],
    ["a truncated key", key.slice(0, 40), "(a private key)"],
    ["a key as base64", `tls.key: ${Buffer.from(key).toString("base64")}`, "tls.key: (a PEM file)"],
    ["a token", `token="${token}"`, 'token="(a token)"'],
    ["a header", "Authorization: Bearer sha256~abcdefgh", "Authorization: Bearer (a secret)"],
    ["a password", "proxy http://me:hidden@10.0.0.1:3128/", "proxy http://(a password)@10.0.0.1:3128/"],
  ])("leave out %s that a log contains", (_, text, wanted) => {
    expect(withoutSecrets(text)).toBe(wanted);
  });

  it("keep all other text as it is", () => {
    const text = 'I1116 server.go:897] "Agent connected" agentID="08beec93-cfc6-45c4-8ed4-27f9d9ecb4ec"\n@IMAGE@ //x';
    expect(withoutSecrets(text)).toBe(text);
  });

  it("include the pods and events of the cluster, and none is outside the folder", () => {
    const status = diagnose({ machines: [], unreachable: [] });
    const pods = [
      { name: "agent-x", node: "node-0", state: "Running", ready: true, restarts: 0, log: token, reason: undefined },
    ];
    const probes = [{ machine: "../core@10.0.0.5", unreachable: "no route" }];
    const files = gatheredFiles({ probes, cluster: { ended: false, pods, events: ["a"] }, status }, new Date(0));
    expect([...files.keys()]).toEqual([
      ...["README", "status.txt", "_._core@10.0.0.5/unreachable.txt"],
      ...["cluster/pods.json", "cluster/events.txt", "cluster/agent-x.log.txt"],
    ]);
    expect(files.get("cluster/agent-x.log.txt")).toBe("(a token)\n");
    expect([...files.values()].join("")).not.toContain(token);
  });
});

const status = diagnose({ machines: [], unreachable: [] });
const podNamed = (name: string, log: string): AgentPod => ({
  ...{ name, node: "node-0", state: "Running", ready: true, restarts: 0, log, reason: undefined },
});

/** Names that an attacker may give a machine, a pod or a section, and names that become equal once they are made safe. */
const hostile = [
  ...["../../../x/notes", "/etc/cron.d/x", "..", ".", "", " ", "-rf", "--checkpoint-action=exec=sh", "~", "C:\\x"],
  ...["a\0b", "a\nb", "a/b", "a_b", "A_B", "a_b-2", "\u001b]0;x\u0007", "\u202egnp.exe", "x.", "x_", ".hidden"],
  ...["n".repeat(300), "N".repeat(300), `${"n".repeat(300)}.`, "é".repeat(300), "\ud800", "😀"],
  ...[
    "cluster",
    "Cluster",
    "README",
    "readme",
    "status.txt",
    "cluster/pods.json",
    "pods.json",
    "events",
    "unreachable",
  ],
  ...["__proto__", "constructor", "unknown-sections", "con", "unnamed", "log", "end", "agent-1.log", "agent-1./../x"],
  ...["../agent-1.log", "agent-99999999999.log", "agent-1.log.txt"],
];
const name = fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: "binary", maxLength: 300 }));

describe("names of gathered files", () => {
  it("cover every section that the probe prints", () => {
    const called = [...probeScript.matchAll(/section "?(agent-\$1\.)?([a-z][\w-]*)"? |echo "== (\w+)"/g)];
    const of = (agent: boolean) =>
      called.filter(([, prefix]) => (prefix !== undefined) === agent).map(([, , one, other]) => one ?? other);
    expect([...new Set(of(false))].sort()).toEqual([...machineSections].sort());
    expect(of(true).sort()).toEqual([...agentSections].sort());
  });

  it.each(hostile)("have safe characters and lengths for %j", (sent) => {
    const [{ safe } = { safe: "" }] = safeNames([sent]);
    expect(safe).toMatch(/^[\w@][\w.@-]{0,99}$/);
    expect(safe).not.toMatch(/\.$/);
  });

  it("are unique, also where case is ignored", () => {
    const names = safeNames([...hostile, ...hostile], ["README", "cluster"]).map(({ safe }) => safe.toLowerCase());
    expect(new Set([...names, "readme", "cluster"]).size).toBe(2 * hostile.length + 2);
  });

  it("keep a safe name", () => {
    for (const sent of ["core@10.0.0.5", "node-0", "konnectivity-agent-x7k2p", "ip-10-0-0-5.ec2.internal"])
      expect(safeNames([sent])).toEqual([{ given: sent, safe: sent }]);
  });

  it("lie below the archive's one folder, and everything that was sent is there", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ machine: name, sections: fc.array(name, { maxLength: 4 }), unreachable: fc.boolean() }), {
          maxLength: 5,
        }),
        fc.array(name, { maxLength: 5 }),
        async (machines, podNames) => {
          let count = 0;
          const contents: string[] = [];
          const content = () => {
            contents.push(`content ${++count}.`);
            return contents.at(-1) ?? "";
          };
          const probes = machines.map(({ machine, sections, unreachable }): ProbeResult =>
            unreachable
              ? { machine, unreachable: content() }
              : { machine, sections: new Map([...new Set(["log", ...sections])].map((one) => [one, content()])) },
          );
          const pods = podNames.map((one) => podNamed(one, content()));
          const files = gatheredFiles({ probes, cluster: { ended: false, pods, events: [] }, status }, new Date(0));
          const entries = await entriesOf(await archiveOf({ files, folder: "gathered", time: new Date(0) }));
          for (const path of entries.keys()) expect(path).toMatch(/^gathered\/([\w@][\w.@-]*\/?){0,2}$/);
          const texts = new Map([...entries].filter(([path]) => !path.endsWith("/")));
          expect([...texts.keys()]).toEqual([...files.keys()].map((one) => `gathered/${one}`));
          // pods.json has no logs, so each content is in one file.
          for (const one of contents) expect([...texts.values()].filter((text) => text.includes(one))).toHaveLength(1);
        },
      ),
      { numRuns: 40, examples: [[[{ machine: "../../x", sections: hostile, unreachable: false }], hostile]] },
    );
  });

  it("list changed names in the README, and put unknown sections into one file", () => {
    const sections = new Map([
      ["log", "a log"],
      ["../../../x/notes", "planted"],
    ]);
    const probes = [{ machine: "core@[fd00::5]", sections }];
    const cluster = { ended: false, pods: [podNamed("a/b", "one"), podNamed("a_b", "two")], events: [] };
    const files = gatheredFiles({ probes, cluster, status }, new Date(0));
    expect(files.get("core@_fd00__5_/unknown-sections.txt")).toBe('== "../../../x/notes"\n planted\n');
    expect(files.get("core@_fd00__5_/log.txt")).toBe("a log\n");
    expect(files.get("cluster/a_b.log.txt")).toBe("one\n");
    expect(files.get("cluster/a_b-2.log.txt")).toBe("two\n");
    const readme = files.get("README")?.split("\n") ?? [];
    expect(readme).toContain('core@_fd00__5_/ was "core@[fd00::5]"');
    expect(readme).toContain('cluster/a_b.log.txt was "a/b"');
    expect(readme).toContain('cluster/a_b-2.log.txt was "a_b"');
  });

  it.each(["agent-1.log", "record", "agent-120.container"])("%s is a section of the probe", (one) => {
    expect(isProbeSection(one)).toBe(true);
  });

  it.each(["", "..", "agent-1.", "agent-.log", "agent-1.log/../x", "agent-1.end", "agent-1234.log", "log\n", "Log"])(
    "%j is not a section of the probe",
    (one) => {
      expect(isProbeSection(one)).toBe(false);
    },
  );
});
