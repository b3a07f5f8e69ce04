import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { kubeconfigText, withApi } from "../../../support/api.ts";
import { command, type Run, runIn, runWith } from "../../../support/cli.ts";
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

describe("what status examines without options that name it", () => {
  const projects: Project[] = [];
  afterAll(() => {
    for (const project of projects) project.remove();
  });
  const answers = 'cat >/dev/null; printf "== machine\\n name=there\\n== log\\n a log\\n== end\\n"';

  function projectWith(...platforms: string[]): Project {
    const config = Object.assign({}, ...platforms.map((name) => (name === "local" ? { local: {} } : changedExample(name)))) as object; // prettier-ignore
    const project = new Project(config, { files: exampleOf("aws").files });
    projects.push(project);
    vi.stubEnv("KONNECTIVITY_CONFIG", project.configFile);
    vi.stubEnv("KUBECONFIG", "");
    return project;
  }
  /** A local state of a platform's stack, with its machine. */
  function deploy(project: Project, platform: string, machine: string): void {
    mkdirSync(join(project.folder, ".state"), { recursive: true });
    const state = { outputs: { ssh: { value: `ssh ${machine}` } }, resources: [] };
    project.write(`.state/${platform}-bootstrap.tfstate`, JSON.stringify(state));
  }
  function writeKubeconfig(project: Project, server: string): void {
    mkdirSync(join(project.folder, "ocp/auth"));
    project.write("ocp/auth/kubeconfig", kubeconfigText(server));
  }
  const jsonOf = ({ stdout }: Run) =>
    JSON.parse(stdout) as { config: string | null; findings: { code: string; what: string }[]; cluster?: object };
  const nothing = (reason: string) => ({
    code: 1,
    stdout: "",
    stderr: `error: There is nothing to examine: ${reason}; use --ssh, --kubeconfig or --name.\n`,
  });

  it("is the machine that was deployed with the config file, which is named", async () => {
    const project = projectWith("aws");
    deploy(project, "aws", "core@10.0.0.7");
    fakeSsh('cat >/dev/null; echo "$*" >&2; exit 255');
    const { stderr } = await command("status");
    expect(stderr).toBe(`config    ${project.configFile}\n`);
    const { config, findings, cluster } = jsonOf(await command("status", "--json"));
    expect([config, cluster]).toEqual([project.configFile, undefined]);
    expect(findings).toMatchObject([
      { code: "machine-silent", what: expect.stringContaining("core@10.0.0.7") as string },
    ]);
  });

  it("is also the cluster's API, by the kubeconfig in the install folder", async () => {
    const project = projectWith("aws");
    deploy(project, "aws", "core@10.0.0.7");
    writeKubeconfig(project, "http://127.0.0.1:1");
    fakeSsh(answers);
    const { cluster, findings } = jsonOf(await command("status", "--json"));
    expect(cluster).toMatchObject({ unreachable: expect.stringContaining("http://127.0.0.1:1") as string });
    expect(findings.map(({ code }) => code)).toContain("api-silent");
  });

  it("is the API alone where no machine is deployed, and where the state cannot be read, with a warning", async () => {
    const project = projectWith("aws");
    writeKubeconfig(project, "http://127.0.0.1:1");
    fakeSsh("exit 99");
    expect(jsonOf(await command("status", "--json")).findings.map(({ code }) => code)).toEqual(["api-silent"]);
    deploy(project, "aws", "core@10.0.0.7");
    project.write(".state/aws-bootstrap.tfstate", "{");
    const { stdout, stderr } = await command("status", "--json");
    expect(stderr).toMatch(/\nwarning: The state file \S+aws-bootstrap\.tfstate is not complete JSON/);
    expect(jsonOf({ code: 1, stdout, stderr }).findings.map(({ code }) => code)).toEqual(["api-silent"]);
  });

  it("is one sentence where there is neither", async () => {
    const project = projectWith("aws");
    const kubeconfig = relative("", join(project.folder, "ocp/auth/kubeconfig"));
    expect(await command("status")).toEqual(
      nothing(`no bootstrap machine is deployed with ${project.configFile}, and ${kubeconfig} does not exist`),
    );
    deploy(project, "aws", "core@10.0.0.7");
    project.write(".state/aws-bootstrap.tfstate", "{");
    expect((await command("status")).stderr).toMatch(/^error: The state file \S+ is not complete JSON/);
  });

  it("is one sentence where two machines are deployed", async () => {
    const project = projectWith("aws", "azure");
    deploy(project, "aws", "core@10.0.0.7");
    deploy(project, "azure", "core@10.0.0.8");
    expect(await command("status")).toEqual(
      nothing(`core@10.0.0.7 and core@10.0.0.8 were deployed with ${project.configFile}`),
    );
  });

  it("is the cloud where the config file has a lab too, and the lab where it has nothing else", async () => {
    deploy(projectWith("local", "aws"), "aws", "core@10.0.0.7");
    fakeSsh('cat >/dev/null; echo "$*" >&2; exit 255');
    expect((await command("status")).stdout).toContain("core@10.0.0.7");
    const lab = projectWith("local");
    lab.write("konnectivity.yaml", "local: { name: no-such-lab }\n");
    vi.spyOn(process, "getuid").mockReturnValue(0);
    try {
      for (const words of [["status"], ["gather"], ["verify"]])
        expect((await command(...words)).stderr).toContain("error: No lab named no-such-lab ");
    } finally {
      vi.restoreAllMocks();
    }
  });

  it("is not another cluster, whose kubeconfig is in KUBECONFIG", async () => {
    const project = projectWith("aws");
    deploy(project, "aws", "core@10.0.0.7");
    fakeSsh(answers);
    const another = { infrastructures: { status: { infrastructureName: "another-a1b2c" } } };
    await withApi(another, async (kubeconfig) => {
      vi.stubEnv("KUBECONFIG", kubeconfig);
      for (const words of [["status"], ["verify"]]) {
        const { code, stderr } = await command(...words);
        expect(code).toBe(1);
        expect(stderr).toMatch(/^error: http:\S+ is the API of the cluster another-a1b2c, not of sample-x7k2p/);
      }
    });
    const infrastructures = { status: { infrastructureName: metadata.infraID } };
    const own = { infrastructures, pods: { items: [] }, events: { items: [] } };
    await withApi(own, async (kubeconfig) => {
      vi.stubEnv("KUBECONFIG", kubeconfig);
      expect(jsonOf(await command("status", "--json")).cluster).toMatchObject({ pods: [] });
    });
  });

  it("reports every error of the config file", async () => {
    projectWith("aws").write("konnectivity.yaml", "firewall: 5\ntags: 5\n");
    const { code, stderr } = await command("status");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: .*tags is 5.*\nerror: .*firewall is 5/);
  });

  it("is what the options name, whatever the config file says", async () => {
    const project = projectWith("aws");
    deploy(project, "aws", "core@10.0.0.7");
    fakeSsh('cat >/dev/null; echo "$*" >&2; exit 255');
    const { stdout, stderr } = await command("status", "--ssh", "core@10.0.0.9");
    expect(stdout).toContain("core@10.0.0.9 cannot be checked");
    expect(`${stdout}${stderr}`).not.toContain("10.0.0.7");
    expect(stderr).toBe("");
    const { stdout: ofState } = await command("status", "--ssh", "--no-config", "--config", project.configFile);
    expect(ofState).toContain("core@10.0.0.7 cannot be checked");
  });

  it("is nothing without a config file where no lab runs", async () => {
    const empty = mkdtempSync(join(folder, "empty-"));
    const environment = { ...process.env, KONNECTIVITY_CONFIG: undefined, KUBECONFIG: undefined };
    const reason = "there is no config file, and no lab named local runs";
    expect(await runIn(empty, environment, "status")).toEqual(nothing(reason));
    const { stderr } = await runIn(empty, environment, "verify");
    expect(stderr).toBe(`error: There is nothing to examine: ${reason}; use --kubeconfig or --name.\n`);
  });
});
