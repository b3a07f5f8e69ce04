import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { probeScript, runProbe } from "../../../../src/cluster/probe.ts";
import { parseProbe } from "../../../../src/cluster/machine-status.ts";
import {
  agentName,
  egressSelector,
  home,
  kasConfig,
  mounted,
  ports,
  serverName,
  staticPodManifest,
} from "../../../../src/core/konnectivity/names.ts";
import { projectFile } from "../../../../src/runtime/project-files.js";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-probe-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const here = { machine: "here", command: ["bash", "-s", "--"] };

/** Stands in for crictl, with one agent that has ended: the calls and the form of the answers are CRI-O's. */
const crictl = `#!/usr/bin/env bash
case "$*" in
"ps --all --quiet --name ^${agentName}$") echo abc ;;
"inspect abc") echo '{"status":{"state":"CONTAINER_EXITED","image":{"image":"quay.io/x@sha256:1"}},"info":{"pid":0}}' ;;
"logs --tail 7 abc") echo 'E1116 x] err="dial tcp 10.0.0.10:8091: i/o timeout"' >&2 ;;
*) echo "crictl $*" >&2; exit 1 ;;
esac
`;

describe("the probe", () => {
  it("is accepted by shellcheck, as are the scripts of its tests", () => {
    const files = ["src/cluster/probe.sh", "test/support/server-certificate.sh", "test/support/ssh-here.sh"];
    const paths = files.map((file) => projectFile(file));
    expect(spawnSync("shellcheck", paths, { encoding: "utf8" })).toMatchObject({ status: 0, stdout: "", stderr: "" });
  });

  it("has the names that the tunnel has", () => {
    const values = { home, manifest: staticPodManifest, configs: kasConfig.host };
    for (const [name, value] of Object.entries(values)) expect(probeScript).toContain(`\n${name}=${value}\n`);
    expect(probeScript).toContain(`\nagent_port=${ports.agent}\nhealth_port=${ports.health}\n`);
    expect(probeScript).toContain(egressSelector.host.replace(kasConfig.host, "${configs}"));
    expect(probeScript).toContain(`${mounted}/certs`);
    for (const name of [agentName, serverName]) expect(probeScript).toContain(`newest ${name}`);
  });

  it("finds nothing on a machine that has nothing", async () => {
    const probe = await runProbe(here, 7);
    if (!("sections" in probe)) throw new Error(probe.unreachable);
    expect([...probe.sections.keys()]).toEqual(["machine", "end"]);
    expect(parseProbe(probe.sections)).toMatchObject({ server: undefined, agents: [] });
  });

  it("asks the runtime of a real machine", async () => {
    writeFileSync(join(folder, "crictl"), crictl);
    chmodSync(join(folder, "crictl"), 0o755);
    vi.stubEnv("PATH", `${folder}${delimiter}${process.env.PATH ?? ""}`);
    try {
      const probe = await runProbe(here, 7);
      if (!("sections" in probe)) throw new Error(probe.unreachable);
      expect(probe.sections.get("agent-1.container")).toBe("CONTAINER_EXITED quay.io/x@sha256:1");
      expect(parseProbe(probe.sections).agents).toMatchObject([{ runs: false, reason: { code: "no-answer" } }]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("is not believed if it was cut off, and says what was complained of", async () => {
    const complains = { machine: "there", command: ["bash", "-c", "echo '== machine'; echo no sudo for you >&2"] };
    expect(await runProbe(complains, 7)).toEqual({ machine: "there", unreachable: "no sudo for you" });
    expect(await runProbe({ machine: "there", command: ["no-such-program"] }, 7)).toMatchObject({
      unreachable: expect.stringMatching(/^no-such-program cannot be run: /) as string,
    });
  });

  it("takes no line of a log for its own", async () => {
    const transport = {
      machine: "there",
      command: ["bash", "-c", "printf '== log\\n == end\\n == ended\\n== record\\n== end\\n'"],
    };
    const probe = await runProbe(transport, 7);
    if (!("sections" in probe)) throw new Error(probe.unreachable);
    expect(parseProbe(probe.sections).server).toMatchObject({ ended: false, lastLogLine: "== ended" });
  });

  it("knows what counts of a proxy's environment", () => {
    const proxyWith = (proxies: string) =>
      parseProbe(
        new Map([
          ["agent-1.container", "running x"],
          ["agent-1.arguments", "--proxy-server-host=10.0.0.10\n--proxy-server-port=8091"],
          ["agent-1.proxies", proxies],
        ]),
      ).agents[0]?.proxy;
    expect(proxyWith("")).toBeUndefined();
    expect(proxyWith("HTTPS_PROXY=http://p:3128")).toBe("http://p:3128");
    expect(proxyWith("https_proxy=http://p:3128\nNO_PROXY=.svc,10.0.0.10")).toBeUndefined();
  });

  it("knows the stage in which bootkube.sh fails", () => {
    const failedIn = (...stages: readonly object[]) =>
      parseProbe(
        new Map([
          ["record", "{}"],
          ["stages", stages.map((one) => JSON.stringify(one)).join("\n")],
        ]),
      ).server?.failedStage;
    const failure = { phase: "stage end", stage: "konnectivity-certs", result: "failure" };
    expect(failedIn(failure, { phase: "service end", result: "failure" })).toBe("konnectivity-certs");
    expect(failedIn(failure, { ...failure, result: "success" })).toBeUndefined();
    expect(failedIn({ ...failure, stage: "cb-bootstrap" })).toBeUndefined();
  });
});
