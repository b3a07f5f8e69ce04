import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { parseProbe } from "../../../src/cluster/machine-status.ts";
import { runProbe } from "../../../src/cluster/probe.ts";
import { agentName } from "../../../src/core/konnectivity/names.ts";
import { fixture } from "../../../src/core/sample/sample.ts";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-probe-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const here = { machine: "here", command: ["bash", "-s", "--"] };

/** A fake crictl with one agent; the calls and the format of the output are CRI-O's. */
const crictlWith = (state: string, pid: number) => `#!/usr/bin/env bash
case "$*" in
"ps --all --quiet --name ^${agentName}$") echo abc ;;
"inspect abc") echo '{"status":{"state":"${state}","image":{"image":"quay.io/x@sha256:1"}},"info":{"pid":${pid}}}' ;;
"logs --tail 7 abc") echo 'E1116 x] err="dial tcp 10.0.0.10:8091: i/o timeout"' >&2 ;;
*) echo "crictl $*" >&2; exit 1 ;;
esac
`;

async function probeWith(crictl: string): Promise<ReadonlyMap<string, string>> {
  writeFileSync(join(folder, "crictl"), crictl);
  chmodSync(join(folder, "crictl"), 0o755);
  vi.stubEnv("PATH", `${folder}${delimiter}${process.env.PATH ?? ""}`);
  try {
    const probe = await runProbe(here, 7);
    if (!("sections" in probe)) throw new Error(probe.unreachable);
    return probe.sections;
  } finally {
    vi.unstubAllEnvs();
  }
}

describe("the probe", () => {
  it("finds nothing on a machine without a tunnel", async () => {
    const probe = await runProbe(here, 7);
    if (!("sections" in probe)) throw new Error(probe.unreachable);
    expect([...probe.sections.keys()]).toEqual(["machine", "end"]);
    expect(parseProbe(probe.sections)).toMatchObject({ server: undefined, agents: [] });
  });

  it("asks crictl where it is installed", async () => {
    const sections = await probeWith(crictlWith("CONTAINER_EXITED", 0));
    expect(sections.get("agent-1.container")).toBe("CONTAINER_EXITED quay.io/x@sha256:1");
    expect(parseProbe(sections).agents).toMatchObject([{ runs: false, reason: { code: "no-answer" } }]);
  });

  it("finds an agent's port and certificates by its arguments, where the kubelet mounts a Secret", async () => {
    const certs = join(folder, "certs");
    mkdirSync(join(certs, "..2026"), { recursive: true });
    for (const name of ["ca.crt", "tls.crt"]) {
      writeFileSync(join(certs, "..2026", name), fixture("long-lived.crt"));
      symlinkSync(`..data/${name}`, join(certs, name));
    }
    symlinkSync("..2026", join(certs, "..data"));
    const flags = [`--ca-cert=${certs}/ca.crt`, "--proxy-server-host=10.0.0.10", "--proxy-server-port=9591"];
    const agent = spawn("bash", ["-c", "sleep 60; :", "proxy-agent", ...flags], { stdio: "ignore" });
    await once(agent, "spawn");
    try {
      const [found] = parseProbe(await probeWith(crictlWith("CONTAINER_RUNNING", agent.pid ?? 0))).agents;
      expect(found).toMatchObject({ runs: true, dials: "10.0.0.10:9591", dialling: false });
      expect(found?.certificates.map(({ file }) => file)).toEqual(["ca.crt", "tls.crt"]);
    } finally {
      agent.kill("SIGKILL");
    }
  });
});
