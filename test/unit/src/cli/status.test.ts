import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { kubeconfigText } from "../../../support/api.ts";
import { type Run, runWith } from "../../../support/cli.ts";
import { changedExample, exampleOf, metadata, Project } from "../../../support/stacks.ts";

const folder = mkdtempSync(join(tmpdir(), "status-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** `status` with another ssh: these lines of bash. */
function statusBy(ssh: string, ...args: string[]): Promise<Run> {
  writeFileSync(join(folder, "ssh"), `#!/bin/bash\n${ssh}\n`);
  chmodSync(join(folder, "ssh"), 0o755);
  return runWith({ ...environment, PATH: `${folder}:${process.env.PATH ?? ""}` }, "status", ...args);
}
const environment: NodeJS.ProcessEnv = { ...process.env };

const refuse = 'echo "core@10.0.0.5: Permission denied (publickey)." >&2; exit 255';

it("says what ssh said, also where ssh ends before it has read its input", async () => {
  const { code, stdout } = await statusBy(refuse, "--ssh", "core@10.0.0.5");
  expect(code).toBe(1);
  expect(stdout).toContain("core@10.0.0.5 cannot be looked at: core@10.0.0.5: Permission denied (publickey)");
});

it("a machine that refuses ssh leaves the tunnel's state unknown, which is not broken", async () => {
  const { code, stdout } = await statusBy(refuse, "--ssh", "core@10.0.0.5", "--json");
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    state: "unknown",
    findings: [
      { code: "machine-silent", kind: "unknown", what: expect.stringContaining("Permission denied") as string },
    ],
  });
});

/** A machine whose server runs without an agent, and a node whose agent's dial has no answer. */
const blocked = `cat >/dev/null
section() { echo "== $1"; shift; printf ' %s\\n' "$@"; }
section machine name=there now=1795000000
case "$*" in
*core@10.0.0.5*)
  section record; section server-pod; section healthz 200; section readyz 500 ;;
*)
  section agent-0.container running; section agent-0.readyz 503
  section agent-0.arguments --proxy-server-host=10.0.0.5 --proxy-server-port=8091; section agent-0.dialling SYN-SENT ;;
esac
section end`;

describe("the command that prints the firewall rule", () => {
  const ports = ["--ssh", "core@10.0.0.5", "--node", "core@10.0.0.20"];
  const adviceOf = async (...args: string[]) => {
    const { stdout } = await statusBy(blocked, ...ports, ...args, "--json");
    const { findings } = JSON.parse(stdout) as { findings: { code: string; advice: string }[] };
    expect(findings.map(({ code }) => code)).toEqual(["port-blocked"]);
    return findings[0]?.advice ?? "";
  };
  const commandIn = (advice: string) => /`(.*)` prints the rule/.exec(advice)?.[1] ?? "";
  /** As it is printed, where status ran. */
  const runAsPrinted = (line: string) => {
    const { status, stdout } = spawnSync("sh", ["-c", line], {
      cwd: process.cwd(),
      encoding: "utf8",
      env: environment,
    });
    return { status, rule: status === 0 ? (parse(stdout) as object) : stdout };
  };
  const project = new Project(changedExample("aws"), {
    files: exampleOf("aws").files,
    folder: join(folder, "my project"),
  });
  const rule = { status: 0, rule: { cluster: metadata.infraID, rule: { protocol: "tcp", port: 8091 } } };

  it("runs as printed, with the config of the stacks", async () => {
    environment.KONNECTIVITY_CONFIG = project.configFile;
    const line = commandIn(await adviceOf());
    expect(line).toMatch(
      /^npx konnectivity-bootstrap payload firewall --config '.*my project\/konnectivity\.yaml' '.*ocp'$/,
    );
    expect(runAsPrinted(line)).toMatchObject(rule);
  });

  it("runs as printed, with the install folder of the kubeconfig", async () => {
    delete environment.KONNECTIVITY_CONFIG;
    mkdirSync(join(project.folder, "ocp/auth"));
    project.write("ocp/auth/kubeconfig", kubeconfigText("https://127.0.0.1:1"));
    const { stdout } = await statusBy(blocked, ...ports, "--kubeconfig", join(project.folder, "ocp/auth/kubeconfig"));
    expect(runAsPrinted(commandIn(stdout))).toMatchObject(rule);
  });

  it("is not recommended where there is no install folder", async () => {
    environment.KONNECTIVITY_CONFIG = project.configFile;
    rmSync(join(project.folder, "ocp/bootstrap.ign"));
    expect(await adviceOf()).toBe("open TCP 8091 from the nodes to the bootstrap machine");
    project.write("konnectivity.yaml", "installDir: [\n");
    expect(await adviceOf()).toBe("open TCP 8091 from the nodes to the bootstrap machine");
  });
});
