import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { command, program, runIn } from "../../../support/cli.ts";
import { installFiles, writeFiles } from "../../../support/install-folder.ts";
import { Project } from "../../../support/stacks.ts";

const root = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-config-option-"));
const project = new Project({ tunnel: { port: 9345 } });
afterAll(() => {
  rmSync(root, { recursive: true });
  project.remove();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const environment = { ...process.env, KONNECTIVITY_CONFIG: undefined, KUBECONFIG: undefined };
const inProject = (...args: string[]) => runIn(project.folder, environment, ...args);

function configFile(name: string, text: string): string {
  const file = join(root, name);
  writeFileSync(file, text);
  return file;
}

/** The port in the rule that `payload firewall` prints, and the config file that it names. */
async function ruleOf(...args: string[]): Promise<unknown> {
  const { stdout } = await command("payload", "firewall", "--json", join(project.folder, "ocp"), ...args);
  const { config, rule } = JSON.parse(stdout) as { config: string | null; rule: { port: number } };
  return [config, rule.port];
}

describe("the config file", () => {
  it.each([
    ["payload", "build"],
    ["payload", "inspect"],
    ["payload", "firewall"],
    ["ipi", "prepare"],
    ["config", "check"],
    ["status"],
    ["gather"],
    ["verify"],
    ["teardown", "gate"],
    ["teardown", "sweep"],
    ["teardown", "report"],
    ["doctor"],
  ])("has the same two options in %s %s", async (...words) => {
    const { stdout } = await command(...words.filter((word) => word !== ""), "--help");
    const text = stdout.replaceAll(/\s+/g, " ");
    expect(text).toContain(
      "--config <file> config file (default: KONNECTIVITY_CONFIG, or konnectivity.yaml if it exists)",
    );
    expect(text).toContain("--no-config use no config file");
  });

  it("is the one of --config, else of KONNECTIVITY_CONFIG, else konnectivity.yaml in the working directory", async () => {
    const [ofOption, ofEnvironment] = [9401, 9402].map((port) =>
      configFile(`${port}.yaml`, `tunnel: { port: ${port} }\n`),
    ) as [string, string];
    vi.stubEnv("KONNECTIVITY_CONFIG", ofEnvironment);
    expect(await ruleOf("--config", ofOption)).toEqual([ofOption, 9401]);
    expect(await ruleOf()).toEqual([ofEnvironment, 9402]);
    expect(await ruleOf("--no-config")).toEqual([null, 8091]);
    const { stdout } = await inProject("payload", "firewall", "--json", "ocp");
    expect(JSON.parse(stdout)).toMatchObject({ config: "konnectivity.yaml", rule: { port: 9345 } });
  });

  it("that is named and does not exist is an error, also by its usual name", async () => {
    const there = join(root, "empty.yaml");
    const { code, stderr } = await command("config", "check", "--config", there);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${there} cannot be read: it does not exist`)]);
    const named = await runIn(root, { ...environment, KONNECTIVITY_CONFIG: "konnectivity.yaml" }, "config", "check");
    expect(named).toMatchObject({ code: 1, stdout: "" });
    expect(named.stderr).toContain("error: konnectivity.yaml cannot be read: it does not exist");
  });
});

describe("a config file that cannot be read", () => {
  const commands = [["status"], ["config", "check"], ["payload", "firewall"], ["teardown", "gate"]];

  it.each(commands)("is to be checked where it is named: %s %s", async (...words) => {
    const missing = join(root, "nope.yaml");
    vi.stubEnv("KONNECTIVITY_CONFIG", missing);
    const problem = `error: ${missing} cannot be read: it does not exist; check`;
    expect((await command(...words)).stderr).toBe(`${problem} KONNECTIVITY_CONFIG.\n`);
    expect((await command(...words, "--config", missing)).stderr).toBe(`${problem} --config.\n`);
  });

  it("is not to be created if it exists", async () => {
    const project = mkdtempSync(join(root, "project-"));
    mkdirSync(join(project, "konnectivity.yaml"));
    const { code, stderr } = await runIn(project, environment, "config", "check");
    expect([code, stderr]).toEqual([
      1,
      "error: konnectivity.yaml cannot be read: it is a folder; check its name and its permissions.\n",
    ]);
  });
});

describe("a config file that is not filled in yet", () => {
  const file = join(root, "to-fill-in.yaml");
  const installDir = join(project.folder, "ocp");
  const out = join(root, "out");
  const ipiFolder = join(root, "ipi");
  const commands = [
    ["payload", "build", installDir, "--out", out],
    ["payload", "inspect", join(out, "payload.ign")],
    ["payload", "firewall", installDir],
    ["webhooks", installDir],
    ["ipi", "prepare", ipiFolder],
  ];
  /** What `config init` writes, with this at its end. */
  async function fillIn(text: string): Promise<void> {
    rmSync(file, { force: true });
    expect((await command("config", "init", "aws", "--config", file)).code).toBe(0);
    appendFileSync(file, text);
  }

  it("can be used by the commands that need only its tunnel", async () => {
    await fillIn("tunnel: { port: 9601 }\nstate: { local: 5 }\nfirewall: maybe\n");
    mkdirSync(ipiFolder);
    writeFiles(ipiFolder, installFiles());
    for (const words of commands) {
      const { code, stderr } = await command(...words, "--config", file, "--json");
      expect({ words, code, errors: stderr.match(/^error.*$/gm) }).toEqual({ words, code: 0, errors: null });
    }
    expect(await ruleOf("--config", file)).toEqual([file, 9601]);
    expect((await command("config", "check", "--config", file)).stderr).toContain("aws.vpcId");
  });

  it("has problems with its tunnel, its installDir and its keys reported", async () => {
    await fillIn("tunnel: { port: 6443 }\ntunel: off\n");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace("installDir: ocp", "installDir: 5"));
    for (const words of commands) {
      const { code, stderr } = await command(...words, "--config", file);
      expect({ words, code }).toEqual({ words, code: 1 });
      expect(stderr.match(/(?<=:\d+: )[\w.]+ is /g)).toEqual(["installDir is ", "tunnel.port is ", "tunel is "]);
    }
  });
});

describe("without a config file", () => {
  it("config check describes the same as a synth, and says so", async () => {
    const { code, stdout, stderr } = await runIn(root, environment, "config", "check");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^config {4}none: these are the stacks of the lab on this machine\nlab {7}local, /);
    expect(stdout).toContain("\nlocal-bootstrap: ");
    expect(stdout).toContain(`for a cloud, write a config file with \`node ${program} config init <platform>\``);
  });

  it("--no-config and --json say so too", async () => {
    const { stdout } = await inProject("config", "check", "--no-config", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ config: null, stacks: { "local-bootstrap": [] } });
  });
});
