import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { switchScript } from "../../../../src/cluster/switch.ts";
import { egressSelector, home, kasConfig, ports } from "../../../../src/core/konnectivity/names.ts";
import { tunnelNames } from "../../../../src/core/konnectivity/tunnel-names.ts";
import { command, program } from "../../../support/cli.ts";
import { runOnTerminal } from "../../../support/pty.ts";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-tunnel-"));
const asked = join(folder, "asked");
const path = `${folder}${delimiter}${process.env.PATH ?? ""}`;
afterAll(() => {
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  rmSync(asked, { force: true });
  vi.stubEnv("PATH", path);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const plan = { state: "on", ready: 200, agents: 200, grace: 135, lasts: "yes" };

/** Replaces ssh by a machine with this plan, which answers a switch with these lines. */
function machine(changes: Partial<typeof plan> = {}, result = ["doing=restart", "outage=3547", "result=switched"]) {
  const lines = Object.entries({ ...plan, ...changes }).map(([name, value]) => `${name}=${value}`);
  const print = (some: readonly string[]) => some.map((line) => `echo '${line}'`).join("\n");
  const script = `#!/bin/bash
cat >/dev/null
echo "\${@: -2}" >>${asked}
if [ "\${@: -1}" = plan ]; then
${print([...lines, "end=yes"])}
else
${print([...result, "end=yes"])}
fi`;
  writeFileSync(join(folder, "ssh"), script);
  chmodSync(join(folder, "ssh"), 0o755);
}
const askedFor = () => (existsSync(asked) ? readFileSync(asked, "utf8").trimEnd().split("\n") : []);
const there = ["--ssh", "core@10.0.0.5"];

describe("the switch script", () => {
  it("uses the names and ports of the tunnel", () => {
    const values = { home, installer_script: tunnelNames.installer.marker, configs: kasConfig.host };
    for (const [name, value] of Object.entries(values)) expect(switchScript).toContain(`\n${name}=${value}\n`);
    const selector = egressSelector.host.replace(kasConfig.host, "${configs}");
    expect(switchScript).toContain(`\nselector=${selector}\nserver_health=http://127.0.0.1:${ports.health}\n`);
    expect(switchScript).toContain(`grep -qs '${tunnelNames.installer.switchedOn ?? ""}'`);
  });
});

describe("tunnel off", () => {
  it("shows with --dry-run what it would do, without a question", async () => {
    machine();
    const { code, stdout, stderr } = await command("tunnel", "off", ...there, "--dry-run", "--wait", "60");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(`machine     core@10.0.0.5
tunnel      on; the server runs and has agents
API         ready
change      the kube-apiserver connects to the cluster directly: nodes work, webhooks and aggregated APIs in the pod network fail
restart     only the kube-apiserver's container; server, agents and keys stay
API outage  until the new kube-apiserver is ready: about 5 s in the lab, usually longer on a real machine
            before that, the old one has 135 s to complete its requests
otherwise   if the new one is not ready within 60 s, everything is restored
`);
    expect(askedFor()).toEqual(["-- plan"]);
  });

  it("refuses without a terminal and without --yes, before it connects", async () => {
    machine();
    const { code, stdout, stderr } = await command("tunnel", "off", ...there);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^error: Switching the tunnel off restarts .*: add --yes, or --dry-run [^\n]*\n$/);
    expect(askedFor()).toEqual([]);
  });

  it("switches with --yes, and says how to switch on again", async () => {
    machine();
    const { code, stdout } = await command("tunnel", "off", ...there, "--yes", "--wait", "60");
    expect(code).toBe(0);
    expect(stdout).toContain("is off, and the kube-apiserver is ready. Its API did not answer for 3.5 s.\n");
    expect(stdout).toContain("To switch it on again: npx konnectivity-bootstrap tunnel on --ssh core@10.0.0.5\n");
    expect(askedFor()).toEqual(["-- plan", "off 60"]);
  });

  it("does nothing if the tunnel is already off, and completes what was interrupted", async () => {
    machine({ state: "off" });
    expect((await command("tunnel", "off", ...there, "--yes")).stdout).toBe(
      "The tunnel of core@10.0.0.5 is already off.\n",
    );
    expect(askedFor()).toEqual(["-- plan"]);
    for (const change of [{ state: "incomplete" }, { state: "off", ready: 500 }]) {
      machine(change);
      expect((await command("tunnel", "off", ...there, "--yes")).code).toBe(0);
      expect(askedFor().at(-1)).toBe("off 180");
    }
  });

  it("prints JSON", async () => {
    machine();
    const ran = await command("tunnel", "off", ...there, "--yes", "--json");
    const found = { state: "on", ready: true, connected: true, graceSeconds: 135, lasts: true };
    expect(JSON.parse(ran.stdout)).toMatchObject({
      ...{ ok: true, machine: "core@10.0.0.5", to: "off", dryRun: false, found, state: "off", changed: true },
      outageSeconds: 3.547,
    });
    // docs/command-line.md lists them.
    expect(Object.keys(JSON.parse(ran.stdout) as object)).toEqual([
      ...["formatVersion", "ok", "config", "machine", "to", "dryRun", "found", "state", "changed", "outageSeconds"],
      ...["errors", "warnings"],
    ]);
    const dry = await command("tunnel", "off", ...there, "--dry-run", "--json");
    expect(JSON.parse(dry.stdout)).toMatchObject({ dryRun: true, state: "on", changed: false, outageSeconds: null });
  });

  it("warns that it does not last with an older payload, and on that no agent is connected", async () => {
    machine({ lasts: "no" });
    const off = await command("tunnel", "off", ...there, "--yes", "--json");
    expect(JSON.parse(off.stdout)).toMatchObject({ warnings: [{ code: "switch-does-not-last" }] });
    machine({ state: "off", agents: 500 });
    const on = await command("tunnel", "on", ...there, "--yes", "--json");
    expect(JSON.parse(on.stdout)).toMatchObject({ warnings: [{ code: "switch-no-agent" }] });
    expect(on.stderr).toMatch(/^warning: The tunnel's server does not answer or has no agent/m);
  });
});

describe("a switch that fails", () => {
  const run = async (...lines: string[]) => {
    machine({}, lines);
    const ran = await command("tunnel", "off", ...there, "--yes", "--json");
    const { errors, ...result } = JSON.parse(ran.stdout) as { errors: { code: string; message: string }[] };
    return { code: ran.code, error: errors[0], result };
  };

  it("is restored, with the last error of the kube-apiserver's log", async () => {
    const { code, error, result } = await run("doing=restart", "log=E1118 bad \u001b[31m", "doing=restore", "result=restored"); // prettier-ignore
    expect([code, error?.code]).toEqual([1, "switch-restored"]);
    expect(error?.message).toMatch(/within 180 s, so everything is as before \(in its log: E1118 bad \S+\): read/);
    expect(error?.message).not.toContain("\u001b");
    expect(result).toMatchObject({ state: "on", changed: false });
  });

  it("is reported as unknown if the machine did not complete it, or sends nonsense", async () => {
    for (const lines of [["doing=restart"], ["result=fine"], []])
      expect(await run(...lines)).toMatchObject({
        ...{ code: 1, error: { code: "switch-unknown" }, result: { state: "unknown", changed: true } },
      });
  });

  it("is refused where there is nothing to switch", async () => {
    for (const reason of ["installer", "none", "ended", "not-running", "busy", "not-saved"]) {
      const { code, error } = await run(`refused=${reason}`);
      expect([code, error?.code], reason).toEqual([1, "switch-refused"]);
    }
  });
});

describe("on a terminal", () => {
  const onTerminal = (keys: string) =>
    runOnTerminal(process.execPath, [program, "tunnel", "off", ...there], {
      cwd: process.cwd(),
      cols: 200,
      env: { PATH: path, TERM: "xterm", NO_COLOR: "1", HOME: folder },
      type: { after: "[y/N] ", keys },
    });

  it("asks, and does it after a yes", async () => {
    machine();
    const { code, text } = await onTerminal("y\r");
    expect(code, text).toBe(0);
    expect(text).toMatch(/machine +core@10\.0\.0\.5\r\n[^]*Switch the tunnel of core@10\.0\.0\.5 off\? \[y\/N\] /);
    expect(askedFor()).toEqual(["-- plan", "off 180"]);
  });

  it.each([
    ["nothing", "\r"],
    ["no", "n\r"],
    ["the end of the input", "\u0004"],
  ])("changes nothing after %s", async (_, keys) => {
    machine();
    const { code, text } = await onTerminal(keys);
    expect(code, text).toBe(1);
    expect(text).toContain("Nothing was changed.");
    expect(askedFor()).toEqual(["-- plan"]);
  });
});
