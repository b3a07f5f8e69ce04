import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { kubeconfigText } from "../../../support/api.ts";
import { command, runWith } from "../../../support/cli.ts";
import { changedExample, exampleOf, metadata, Project } from "../../../support/stacks.ts";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-status-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const path = `${folder}${delimiter}${process.env.PATH ?? ""}`;

/** Replaces ssh by these lines of bash. */
function fakeSsh(lines: string): void {
  writeFileSync(join(folder, "ssh"), `#!/bin/bash\n${lines}\n`);
  chmodSync(join(folder, "ssh"), 0o755);
  vi.stubEnv("PATH", path);
}

describe("a machine that refuses ssh", () => {
  const refuse = 'echo "core@10.0.0.5: Permission denied (publickey)." >&2; exit 255';

  // A process of its own: ssh ends before it has read its input, and SIGPIPE must not end the program.
  it("is reported with the message of ssh", async () => {
    fakeSsh(refuse);
    const { code, stdout } = await runWith(process.env, "status", "--ssh", "core@10.0.0.5");
    expect(code).toBe(1);
    expect(stdout).toContain("core@10.0.0.5 cannot be checked: core@10.0.0.5: Permission denied (publickey)");
  });

  it("leaves the tunnel's state unknown, which is not broken", async () => {
    fakeSsh(refuse);
    const { code, stdout } = await command("status", "--ssh", "core@10.0.0.5", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      state: "unknown",
      findings: [
        { code: "machine-silent", kind: "unknown", what: expect.stringContaining("Permission denied") as string },
      ],
    });
  });
});

it("reports an API that cannot be reached as unreachable in JSON, and under 0.1.0's name", async () => {
  const kubeconfig = join(folder, "unreachable-kubeconfig");
  writeFileSync(kubeconfig, kubeconfigText("http://127.0.0.1:1"));
  const { code, stdout } = await command("status", "--kubeconfig", kubeconfig, "--json");
  expect(code).toBe(1);
  const unreachable = expect.stringMatching(/^the request to http:\/\/127\.0\.0\.1:1 failed: /) as string;
  expect(JSON.parse(stdout)).toMatchObject({
    cluster: { unreachable, silent: unreachable },
    findings: [{ code: "api-silent", what: unreachable }],
  });
});

/** A machine whose server runs without an agent, and a node whose agent's dial has no answer. */
const blocked = `cat >/dev/null
section() { echo "== $1"; shift; printf ' %s\\n' "$@"; }
section machine name=there now=1795000000
case "$*" in
*core@10.0.0.5*)
  section tunnel ours; section server-pod; section healthz 200; section readyz 500 ;;
*)
  section agent-0.container running; section agent-0.readyz 503
  section agent-0.arguments --proxy-server-host=10.0.0.5 --proxy-server-port=8091; section agent-0.dialling SYN-SENT ;;
esac
section end`;

describe("the command that prints the firewall rule", () => {
  const machines = ["--ssh", "core@10.0.0.5", "--node", "core@10.0.0.20"];
  const adviceOf = async (...args: string[]) => {
    fakeSsh(blocked);
    const { stdout } = await command("status", ...machines, ...args, "--json");
    const { findings } = JSON.parse(stdout) as { findings: { code: string; advice: string }[] };
    expect(findings.map(({ code }) => code)).toEqual(["port-blocked"]);
    return findings[0]?.advice ?? "";
  };
  const commandIn = (advice: string) => /`(.*)` prints the rule/.exec(advice)?.[1] ?? "";
  /** The words of a command line, as a shell splits them. */
  const wordsOf = (line: string) =>
    execFileSync("sh", ["-c", `printf '%s\\n' ${line}`], { encoding: "utf8" })
      .trimEnd()
      .split("\n");
  const project = new Project(changedExample("aws"), {
    files: exampleOf("aws").files,
    folder: join(folder, "my project"),
  });
  const rule = { cluster: metadata.infraID, rule: { protocol: "tcp", port: 8091 } };

  it("runs as printed, with the config of the stacks", async () => {
    vi.stubEnv("KONNECTIVITY_CONFIG", project.configFile);
    const line = commandIn(await adviceOf());
    expect(line).toMatch(
      /^npx konnectivity-bootstrap payload firewall --config '.*my project\/konnectivity\.yaml' '.*ocp'$/,
    );
    const { status, stdout } = spawnSync("sh", ["-c", line], { cwd: process.cwd(), encoding: "utf8" });
    expect(status).toBe(0);
    expect(parse(stdout)).toMatchObject(rule);
  });

  it("runs as printed, with the install folder of the kubeconfig", async () => {
    mkdirSync(join(project.folder, "ocp/auth"));
    project.write("ocp/auth/kubeconfig", kubeconfigText("https://127.0.0.1:1"));
    fakeSsh(blocked);
    const kubeconfig = join(project.folder, "ocp/auth/kubeconfig");
    const { stdout } = await command("status", ...machines, "--kubeconfig", kubeconfig);
    const [npx, program, ...args] = wordsOf(commandIn(stdout));
    expect([npx, program]).toEqual(["npx", "konnectivity-bootstrap"]);
    const ran = await command(...args);
    expect(ran.code).toBe(0);
    expect(parse(ran.stdout)).toMatchObject(rule);
  });

  it("is not recommended where there is no install folder", async () => {
    vi.stubEnv("KONNECTIVITY_CONFIG", project.configFile);
    rmSync(join(project.folder, "ocp/bootstrap.ign"));
    expect(await adviceOf()).toBe("open TCP 8091 from the nodes to the bootstrap machine");
    project.write("konnectivity.yaml", "installDir: [\n");
    expect(await adviceOf()).toBe("open TCP 8091 from the nodes to the bootstrap machine");
  });
});
