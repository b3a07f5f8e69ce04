import { describe, expect, it } from "vitest";
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

describe("the probe", () => {
  it("uses the names and ports of the tunnel", () => {
    const values = { home, manifest: staticPodManifest, configs: kasConfig.host };
    for (const [name, value] of Object.entries(values)) expect(probeScript).toContain(`\n${name}=${value}\n`);
    expect(probeScript).toContain(
      `\ndefault_port=${ports.agent}\nhealth_port=${ports.health}\nadmin_port=${ports.admin}\n`,
    );
    expect(probeScript).toContain(egressSelector.host.replace(kasConfig.host, "${configs}"));
    expect(probeScript).toContain(`${mounted}/certs`);
    for (const name of [agentName, serverName]) expect(probeScript).toContain(`newest ${name}`);
  });

  it("counts as unreachable if its output is truncated, and reports the last line of stderr", async () => {
    const complains = { machine: "there", command: ["sh", "-c", "echo '== machine'; echo no sudo for you >&2"] };
    expect(await runProbe(complains, 7)).toEqual({ machine: "there", unreachable: "no sudo for you" });
    expect(await runProbe({ machine: "there", command: ["no-such-program"] }, 7)).toMatchObject({
      unreachable: expect.stringMatching(/^no-such-program cannot be run: /) as string,
    });
  });

  it("does not take lines of a log for sections", async () => {
    const transport = {
      machine: "there",
      command: ["sh", "-c", "printf '== log\\n == end\\n == ended\\n== record\\n== end\\n'"],
    };
    const probe = await runProbe(transport, 7);
    if (!("sections" in probe)) throw new Error(probe.unreachable);
    expect(parseProbe(probe.sections).server).toMatchObject({ ended: false, lastLogLine: "== ended" });
  });
});
