import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { labFolder } from "../../../lab/folder.ts";
import { Lab } from "../../../lab/lab.ts";
import { waitFor } from "../../../lab/wait.ts";
import { labTransports } from "../../../lab/transports.ts";
import { statusFacts } from "../../../src/cli/acceptance-facts.ts";
import type { AcceptanceReport } from "../../../src/cli/acceptance-report.ts";
import { steps } from "../../../src/cli/acceptance-steps.ts";
import { collect } from "../../../src/cluster/collect.ts";
import { program, runWith } from "../../support/cli.ts";
import { interruptedAt } from "../../support/interrupted.ts";
import { leftOf, removeLab } from "../../support/lab.ts";

const name = `accept${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-acceptance-"));
const config = join(folder, "konnectivity.yaml");
writeFileSync(config, `local: { name: ${name} }\n`);
afterAll(async () => {
  await removeLab(name);
  rmSync(folder, { recursive: true });
});

/** As in CI: what cdktf prints goes into the log alone. */
const env = { ...process.env, CI: "true" };
const argumentsIn = (out: string) => [
  ...["acceptance", "local", "--yes", "--config", config],
  ...["--out", join(folder, out), "--output", join(folder, "cdktf.out")],
];
const read = (out: string, file: string) => readFileSync(join(folder, out, file), "utf8");
const reportIn = (out: string) => JSON.parse(read(out, "report.json")) as AcceptanceReport;

describe("acceptance on the local platform", () => {
  it("runs every step, reports all rows and leaves nothing", async () => {
    const { code, stdout, stderr } = await runWith(env, ...argumentsIn("whole"));
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
    const { passed, platform, machine, terraform, steps: ran, rows, checks } = reportIn("whole");
    expect({ passed, platform, machine }).toEqual({
      passed: true,
      platform: "local",
      machine: { nodes: 1, ipFamily: "IPv4" },
    });
    expect(terraform).toMatch(/^\w+ \d+\.\d+\.\d+$/);
    expect(ran.map(({ id, state, reason }) => [id, state, reason])).toEqual(
      steps.map(({ id }) => [id, "passed", null]),
    );
    // Both phases together: nothing is left out, because the lab can show everything.
    expect(checks.filter(({ result }) => result !== "passed")).toEqual([]);
    expect(checks.length).toBe(16);
    // Only this row can be answered without a cloud, and only in a container.
    const inDocker = existsSync("/.dockerenv") && existsSync("/sys/fs/cgroup/cgroup.controllers");
    expect(rows.filter(({ verdict }) => verdict !== "not answered").map(({ id, verdict }) => [id, verdict])).toEqual(
      inDocker ? [["lab-docker", "yes"]] : [],
    );
    expect(read("whole", "report.md")).toContain("# Acceptance report: local, passed\n");
    for (const file of ["report.md", "report.json"]) {
      for (const secret of [name, folder]) expect(read("whole", file)).not.toContain(secret);
      expect(statSync(join(folder, "whole", file)).mode & 0o777).toBe(0o600);
    }
    // The cdktf command really ran, out of sight.
    expect(read("whole", "deploy.log")).toMatch(/Apply complete! Resources: \d+ added/);
    expect(read("whole", "plan.log")).toContain("No changes.");
    expect(read("whole", "destroy.log")).toContain("(local-exec): yes      the bootstrap is complete");
    expect(stdout).not.toContain("local-exec");
    expect(leftOf(name)).toEqual([]);
    // The run is complete: another one has nothing to do.
    const again = await runWith(env, ...argumentsIn("whole"));
    expect(again.code).toBe(0);
    expect(again.stdout.match(/: passed before$/gm)?.length).toBe(steps.length);
    expect(leftOf(name)).toEqual([]);
  }, 400_000);

  it("interrupted, lets Terraform save its state, says what remains, and continues", async () => {
    const interrupted = async (words: string) => {
      // What cdktf prints is shown.
      const child = spawn(process.execPath, [program, ...argumentsIn("interrupted")], {
        env: { ...process.env, CI: "" },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const { code, said } = await interruptedAt(child, words, () => child.kill("SIGINT"));
      expect(code, said).toBe(130);
      expect(said).toContain("\nInterrupted: waiting until what has begun is finished.\n");
      return said;
    };
    const early = await interrupted("the machines are starting");
    expect(early).toContain("Gracefully shutting down...");
    expect(early).toMatch(/\n(Nothing that was deployed exists\.|These still exist:)\n/);
    expect(readFileSync(join(folder, ".state/local-bootstrap.tfstate"), "utf8")).toContain('"status": "tainted"');
    // Terraform ends the step by force, and then the lab is taken down in the background.
    await waitFor("the lab's end", 30, () => leftOf(name).length === 0);

    const said = await interrupted("4/9  status");
    expect(said).toMatch(/^1\/9 {2}preflight .*: passed before\n2\/9 {2}deploy .*\n/);
    expect(said).toContain("\nThese still exist:\n");
    expect(said).toContain(`  machine bootstrap of the lab ${name}\n`);
    expect(said).toMatch(
      /\nContinue: \S+ \S+ acceptance local --config .* --yes\nRemove: .*npx cdktf destroy 'local-\*'\n/,
    );
    expect(reportIn("interrupted")).toMatchObject({ passed: false });
    expect(reportIn("interrupted").steps.find(({ id }) => id === "verify")?.state).toBe("not run");
    const lab = Lab.ifRunning(name, labFolder(name));
    if (lab === undefined) throw new Error("the lab does not run");
    await readsTheMachine(lab);

    const restarted = await runWith(env, ...argumentsIn("interrupted"), "--restart");
    expect(restarted.code).toBe(1);
    expect(restarted.stdout).toContain("local-bootstrap is already deployed");

    const again = await runWith(env, ...argumentsIn("interrupted"));
    expect(again.code, again.stdout + again.stderr).toBe(0);
    expect(again.stdout).toMatch(/^2\/9 {2}deploy .*: passed before$/m);
    expect(reportIn("interrupted").passed).toBe(true);
    expect(leftOf(name)).toEqual([]);
  }, 400_000);
});

/** What only RHCOS has, by programs that answer as it does. */
async function readsTheMachine(lab: Lab): Promise<void> {
  const denied = 'type=AVC msg=audit(1.2:3): avc:  denied  { read } for comm="proxy-server" name="tls.key"';
  const other = 'type=AVC msg=audit(1.2:4): avc:  denied  { read } for comm="sshd" name="x"';
  const answers = async (ausearch: string) => {
    const scripts = { getenforce: "echo Enforcing", ausearch };
    for (const [file, text] of Object.entries(scripts))
      lab.bootstrap.must(
        `cat >/usr/local/bin/${file} && chmod +x /usr/local/bin/${file}`,
        {},
        `#!/bin/bash\n${text}\n`,
      );
    return statusFacts(await collect({ transports: labTransports(lab) }, 10), undefined).server;
  };
  expect(await answers(`printf '%s\\n' '${denied}' '${other}'`)).toMatchObject({
    ...{ healthz: 200, readyz: 200, agents: 1, crio: false, egressSelector: true },
    ...{ selinux: "Enforcing", denials: 1 },
  });
  expect(await answers("echo '<no matches>' >&2; exit 1")).toMatchObject({ denials: 0 });
  expect(await answers("echo 'Error opening config file' >&2; exit 1")).not.toHaveProperty("denials");
}
