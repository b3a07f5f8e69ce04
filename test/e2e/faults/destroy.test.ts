import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectFile, projectRoot } from "../../../src/runtime/project-files.js";
import { synthesize } from "../../support/stacks.ts";
import { readInputs } from "../../../stacks/inputs.ts";
import { stateFileOf } from "../../../src/files/terraform-state.ts";
import { labFolder } from "../../../lab/folder.ts";
import { Lab } from "../../../lab/lab.ts";
import { Command } from "../clouds/command.ts";
import { LoadedLab, processes } from "../load/loaded-lab.ts";
import { filesIn } from "../../support/invariants.ts";
import { leftOf, removeLab } from "../../support/lab.ts";
import { runTerraform } from "../../support/terraform.ts";
import { record } from "./fault.ts";

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
const cdktf = projectFile("node_modules/.bin/cdktf");
const cdktfDestroy = () =>
  new Command(cdktf, ["destroy", "local-*", "--auto-approve", "--output", outdir], {
    cwd: projectRoot,
    env: { ...process.env, KONNECTIVITY_CONFIG: configFile, CHECKPOINT_DISABLE: "1", NO_COLOR: "1", FORCE_COLOR: "0" },
  });
/** Kills it with everything that it started when it has begun this step, while no state is being written. */
async function killedAt(step: string): Promise<number | null> {
  const command = cdktfDestroy();
  command.when(`terraform_data.${step} (${step}/Default) (local-exec): Executing`, () => {
    command.kill(() => statesAreWhole());
  });
  return (await command.ended).code;
}
const statesAreWhole = () => {
  try {
    return [inState("local-teardown"), inState("local-bootstrap")].length === 2;
  } catch {
    return false;
  }
};

/** What a stack's state has. */
function inState(stack: Stack): string[] {
  const file = stateFileOf(join(folder, ".state"), stack);
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const { resources = [] } = JSON.parse(text || "{}") as { resources?: { name: string }[] };
  return resources.map((one) => one.name.replace(/_[0-9A-F]{8}$/, "")).sort();
}

/** Describes both stacks with this config. */
function describeStacks(config: object): void {
  writeFileSync(configFile, stringify({ local: { name }, ...config }));
  synthesize(readInputs(configFile, new Date(), { workingDirectory: projectRoot }), outdir);
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

describe("destroying, by the real cdktf", () => {
  it("while the cluster needs its bootstrap machine: the gate refuses, and nothing is touched", async () => {
    const before = identity();
    describeStacks({});
    const { code, output } = await cdktfDestroy().ended;
    expect(code).not.toBe(0);
    expect(output).toContain("The cluster still needs its bootstrap machine, so nothing was touched");
    expect([inState("local-teardown"), inState("local-bootstrap")]).toEqual([teardownState, bootstrapState]);
    expect(identity()).toEqual(before);
    record({
      done: "`cdktf destroy` before the bootstrap is complete",
      lost: "nothing: the gate refuses before anything else, and names what it waits for",
      recovered: "the same command, when that is over",
    });
  }, 120_000);

  it("stopped by Ctrl-C while the gate waits: cdktf goes on with the bootstrap stack, whose own gate refuses", async () => {
    const before = identity();
    describeStacks({ teardown: { waitMinutes: 5 } });
    const command = cdktfDestroy();
    command.when("not yet", () => {
      command.interrupt();
    });
    const { code, output } = await command.ended;
    expect(code).not.toBe(0);
    expect(output).toMatch(/local-bootstrap +terraform_data.gate/);
    expect(output).toContain("The cluster still needs its bootstrap machine, so nothing was touched");
    expect([inState("local-teardown"), inState("local-bootstrap")]).toEqual([teardownState, bootstrapState]);
    expect(identity()).toEqual(before);
    record({
      done: "`cdktf destroy` is interrupted by Ctrl-C while the gate waits",
      lost: "nothing: the cdktf command goes on with the bootstrap stack, but that has the gate too, and is refused",
      recovered: "the same command again",
    });
  }, 120_000);

  it("killed at every step and started again, leaves nothing behind", async () => {
    await runningLab().completeBootstrap();
    expect(terraform("local-bootstrap", "plan", "-out", "plan")).toMatchObject({ code: 0 });
    expect(await killedAt("sweep")).toBe(null);
    expect(inState("local-teardown")).toContain("sweep");
    expect(inState("local-bootstrap")).toEqual(bootstrapState);
    expect(runningLab().nodes).toHaveLength(1);

    expect(await killedAt("machine")).toBe(null);
    expect(inState("local-teardown")).toEqual([]);
    expect(inState("local-bootstrap")).toContain("machine");

    expect(await killedAt("report")).toBe(null);
    expect(inState("local-bootstrap")).toEqual(["report"]);

    const { code, output } = await cdktfDestroy().ended;
    expect(code).toBe(0);
    expect(output).toContain("2 gone, 0 terminating, 0 left, 0 not looked at.");
    expect([inState("local-teardown"), inState("local-bootstrap")]).toEqual([[], []]);
    expect(leftOf(name)).toEqual([]);
    expect(filesIn(outdir).filter((file) => /payload|plan$/.test(file))).toEqual([]);
    for (const what of ["the sweep runs", "the bootstrap stack's machine goes", "the report is made"])
      record({
        done: `\`cdktf destroy\` is killed (\`kill -9\`, with all that it started) while ${what}`,
        lost: "nothing",
        recovered: "the same command again ends clean: no process, no file, no control group, an empty state",
      });
  }, 240_000);
});
