import { describe, expect, it } from "vitest";
import { probeScript, runProbe } from "../../../../src/cluster/probe.ts";
import { parseProbe } from "../../../../src/cluster/machine-status.ts";
import { agentName, home, kasConfig, mounted, ports, serverName } from "../../../../src/core/konnectivity/names.ts";
import { tunnelKinds, tunnelNames } from "../../../../src/core/konnectivity/tunnel-names.ts";

describe("the probe", () => {
  it("uses the names and ports of the tunnel", () => {
    const values = { home, installer_script: tunnelNames.installer.marker, configs: kasConfig.host };
    for (const [name, value] of Object.entries(values)) expect(probeScript).toContain(`\n${name}=${value}\n`);
    expect(probeScript).toContain(
      `\ndefault_port=${ports.agent}\nhealth_port=${ports.health}\nadmin_port=${ports.admin}\n`,
    );
    expect(probeScript).toContain(`file=\${file:-${mounted}/ca.crt}`);
    for (const name of [agentName, serverName]) expect(probeScript).toContain(`newest ${name}`);
  });

  it.each(tunnelKinds)("knows where the tunnel has its files: %s", (kind) => {
    const { staticPodManifest, tls, egressSelector, switchedOn = "" } = tunnelNames[kind];
    const values = { tunnel: kind, manifest: staticPodManifest, tls, egress_selector: egressSelector };
    const written = (value: string) => value.replace(home, "${home}").replace(kasConfig.host, "${configs}");
    const lines = Object.entries(values).map(([name, value]) => `        ${name}=${written(value)}\n`);
    expect(probeScript).toContain(lines.join(""));
    expect(probeScript).toContain(`grep -qs '${switchedOn}`.trim());
  });

  it("counts as unreachable if its output is truncated, and reports the last line of stderr", async () => {
    const complains = { machine: "there", command: ["sh", "-c", "echo '== machine'; echo no sudo for you >&2"] };
    expect(await runProbe(complains, 7)).toEqual({ machine: "there", unreachable: "no sudo for you" });
    expect(await runProbe({ machine: "there", command: ["no-such-program"] }, 7)).toMatchObject({
      unreachable: expect.stringMatching(/^no-such-program cannot be started: /) as string,
    });
  });

  it("does not take lines of a log for sections", async () => {
    const transport = {
      machine: "there",
      command: ["sh", "-c", "printf '== log\\n == end\\n == ended\\n== tunnel\\n ours\\n== end\\n'"],
    };
    const probe = await runProbe(transport, 7);
    if (!("sections" in probe)) throw new Error(probe.unreachable);
    expect(parseProbe(probe.sections).server).toMatchObject({ ended: false, lastLogLine: "== ended" });
  });
});
