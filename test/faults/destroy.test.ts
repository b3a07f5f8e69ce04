import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readInputs } from "../../constructs/config/inputs.ts";
import { localFile } from "../../constructs/state-backend.ts";
import { labFolder } from "../../lab/folder.ts";
import { Lab } from "../../lab/lab.ts";
import { synthesize } from "../../stacks/app.ts";
import { LoadedLab, processes } from "../load/loaded-lab.ts";
import { leftOf, removeLab } from "../support/lab.ts";
import { interruptTerraform, runTerraform } from "../support/terraform.ts";
import { record } from "./fault.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const name = `destroy${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-destroy-"));
const configFile = join(folder, "konnectivity.yaml");
const outdir = join(folder, "cdktf.out");
afterAll(async () => {
  await removeLab(name);
  rmSync(folder, { recursive: true });
});

type Stack = "local-teardown" | "local-bootstrap";
const inStack = (stack: Stack, ...args: string[]) => [`-chdir=${join(outdir, "stacks", stack)}`, ...args];
const terraform = (stack: Stack, ...args: string[]) => runTerraform(inStack(stack, ...args));
const apply = (stack: Stack) => terraform(stack, "apply", "-auto-approve");
const destroy = (stack: Stack) => terraform(stack, "destroy", "-auto-approve");
/** Kills it there, and everything that it started. */
const interrupt = (stack: Stack, words: string, signal: NodeJS.Signals) =>
  interruptTerraform(inStack(stack, "destroy", "-auto-approve"), words, signal);

/** What a stack's state has. */
function inState(stack: Stack): string[] {
  const file = localFile(join(folder, ".state"), stack);
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const { resources = [] } = JSON.parse(text || "{}") as { resources?: { name: string }[] };
  return resources.map((one) => one.name.replace(/_[0-9A-F]{8}$/, "")).sort();
}

/** Describes both stacks with this config. */
function describeStacks(config: object): void {
  writeFileSync(configFile, stringify({ local: { name }, ...config }));
  synthesize(readInputs(configFile, new Date(), root), outdir);
}

const runningLab = (): Lab => {
  const lab = Lab.ifRunning(name, labFolder(name));
  if (lab === undefined) throw new Error("the lab does not run");
  return lab;
};
/** What would be another if the machines had been touched. */
const identity = () => {
  const lab = runningLab();
  return [
    readFileSync(join(lab.bootstrap.folder, "holder"), "utf8"),
    processes(lab.bootstrap, "proxy-server"),
    processes(lab.node, "proxy-agent"),
    new LoadedLab(lab).agents(),
  ];
};

beforeAll(() => {
  describeStacks({});
  for (const stack of ["local-bootstrap", "local-teardown"] as const) {
    expect(terraform(stack, "init")).toMatchObject({ code: 0 });
    expect(apply(stack)).toMatchObject({ code: 0 });
  }
}, 180_000);

const bootstrapState = ["gate", "machine", "payload_replacement", "report"];
const teardownState = ["gate", "sweep"];

describe("deploying over a running lab", () => {
  it("runs no step, of destroying or of any kind, whatever changed", () => {
    const before = identity();
    describeStacks({ tunnel: { certificates: { days: 3 } }, teardown: { kubeconfig: "elsewhere" } });
    for (const stack of ["local-bootstrap", "local-teardown"] as const) {
      const { code, output } = apply(stack);
      expect(code).toBe(0);
      expect(output).toContain(" 0 destroyed.");
      expect(output).not.toContain("local-exec");
    }
    expect(identity()).toEqual(before);
    record({
      done: "both stacks are deployed again, with another payload, while the lab runs",
      lost: "nothing: no step of destroying is run, and the machines are not touched",
      recovered: "not needed",
    });
  }, 60_000);
});

describe("destroying", () => {
  it("by the real cdktf, while the cluster needs its bootstrap machine: the gate refuses, and nothing is touched", () => {
    const before = identity();
    describeStacks({});
    const { status, stdout, stderr } = spawnSync(
      "npx",
      ["cdktf", "destroy", "local-*", "--auto-approve", "--output", outdir],
      {
        cwd: root,
        encoding: "utf8",
        env: { ...process.env, KONNECTIVITY_CONFIG: configFile, CHECKPOINT_DISABLE: "1", NO_COLOR: "1" },
      },
    );
    expect(status).not.toBe(0);
    expect(`${stdout}${stderr}`).toContain("The cluster still needs its bootstrap machine, so nothing was touched");
    expect(inState("local-teardown")).toEqual(teardownState);
    expect(inState("local-bootstrap")).toEqual(bootstrapState);
    expect(identity()).toEqual(before);
    record({
      done: "`cdktf destroy` before the bootstrap is complete",
      lost: "nothing: the gate refuses before anything else, and names what it waits for",
      recovered: "the same command, when that is over",
    });
  }, 120_000);

  it("the bootstrap stack alone: it has the gate too", () => {
    const before = identity();
    const { code, output } = destroy("local-bootstrap");
    expect(code).toBe(1);
    expect(output).toContain("The cluster still needs its bootstrap machine, so nothing was touched");
    expect(inState("local-bootstrap")).toEqual(bootstrapState);
    expect(identity()).toEqual(before);
    record({
      done: "`terraform destroy` of the bootstrap stack alone, without its teardown",
      lost: "nothing: it has the gate too",
      recovered: "the same command, when that is over",
    });
  }, 60_000);

  it("interrupted at every step and begun again, ends clean", async () => {
    const step = (what: string) => `terraform_data.${what} (local-exec): Executing`;
    const before = identity();
    describeStacks({ teardown: { waitMinutes: 5 } });
    expect(await interrupt("local-teardown", "not yet", "SIGINT")).toMatchObject({ code: 1 });
    expect([inState("local-teardown"), inState("local-bootstrap")]).toEqual([teardownState, bootstrapState]);
    expect(identity()).toEqual(before);

    await runningLab().growUp();
    expect(await interrupt("local-teardown", step("sweep"), "SIGKILL")).toMatchObject({ code: null });
    expect(inState("local-teardown")).toContain("sweep");
    expect(inState("local-bootstrap")).toEqual(bootstrapState);
    expect(runningLab().nodes).toHaveLength(1);
    expect(destroy("local-teardown")).toMatchObject({ code: 0 });
    expect(inState("local-teardown")).toEqual([]);

    expect(await interrupt("local-bootstrap", step("machine"), "SIGKILL")).toMatchObject({ code: null });
    expect(inState("local-bootstrap")).toContain("machine");
    expect(await interrupt("local-bootstrap", step("report"), "SIGKILL")).toMatchObject({ code: null });
    expect(inState("local-bootstrap")).toContain("report");

    const { code, output } = destroy("local-bootstrap");
    expect(code).toBe(0);
    expect(output).toContain("2 gone, 0 terminating, 0 left, 0 not looked at.");
    for (const stack of ["local-teardown", "local-bootstrap"] as const) {
      expect(inState(stack)).toEqual([]);
      expect(destroy(stack)).toMatchObject({ code: 0 });
    }
    expect(leftOf(name)).toEqual([]);
    for (const [what, how] of [
      ["the gate waits", "by Ctrl-C"],
      ["the sweep runs", "by `kill -9`"],
      ["the bootstrap stack's machine goes", "by `kill -9`"],
      ["the report is made", "by `kill -9`"],
    ] as const)
      record({
        done: `destroying is interrupted ${how} while ${what}`,
        lost: "nothing",
        recovered: "the same command again ends clean: no process, no file, no control group, an empty state",
      });
  }, 180_000);
});
