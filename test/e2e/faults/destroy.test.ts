import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LabStacks, labStackNames } from "../lab/lab-stacks.ts";
import { LoadedLab, processes } from "../load/loaded-lab.ts";
import { filesIn } from "../../support/invariants.ts";
import { leftOf } from "../../support/lab.ts";
import { record } from "./fault.ts";

const stacks = new LabStacks(`destroy${process.pid}`);
afterAll(() => stacks.remove());

/** Kills it with everything that it started when it has begun this step, while no state is being written. */
async function killedAt(step: string): Promise<number | null> {
  const command = stacks.destroy();
  command.when(`terraform_data.${step} (${step}/Default) (local-exec): Executing`, () => {
    command.kill(() => statesAreWhole());
  });
  return (await command.ended).code;
}
const statesAreWhole = () => {
  try {
    return [stacks.inState("local-teardown"), stacks.inState("local-bootstrap")].length === 2;
  } catch {
    return false;
  }
};

/** What would be another if the machines had been touched. */
const identity = () => {
  const lab = stacks.runningLab();
  return [
    readFileSync(join(lab.bootstrap.folder, "holder"), "utf8"),
    processes(lab.bootstrap, "proxy-server"),
    processes(lab.node, "proxy-agent"),
    new LoadedLab(lab).agents(),
  ];
};

beforeAll(() => {
  stacks.describe({});
  stacks.deploy();
}, 180_000);

const bootstrapState = ["gate", "machine", "payload_replacement", "report"];
const teardownState = ["gate", "sweep"];

describe("deploying over a running lab", () => {
  it("runs no step, of destroying or of any kind, whatever changed", () => {
    const before = identity();
    stacks.describe({ tunnel: { certificates: { days: 3 } }, teardown: { kubeconfig: "elsewhere" } });
    for (const stack of labStackNames) {
      const { code, output } = stacks.apply(stack);
      expect(code).toBe(0);
      expect(output).toContain(" 0 destroyed.");
      expect(output).not.toContain("local-exec");
    }
    expect(identity()).toEqual(before);
    record({
      done: "both stacks are deployed again with another payload while the lab runs",
      lost: "nothing. No destroy step runs, and the machines are not changed",
      recovered: "not necessary",
    });
  }, 60_000);
});

describe("destroying, by the real cdktf", () => {
  it("while the cluster needs its bootstrap machine: the gate refuses, and nothing is touched", async () => {
    const before = identity();
    stacks.describe({});
    const { code, output } = await stacks.destroy().ended;
    expect(code).not.toBe(0);
    expect(output).toContain("The cluster still needs its bootstrap machine, so nothing was changed");
    expect([stacks.inState("local-teardown"), stacks.inState("local-bootstrap")]).toEqual([
      teardownState,
      bootstrapState,
    ]);
    expect(identity()).toEqual(before);
    record({
      done: "`cdktf destroy` is started before the bootstrap is complete",
      lost: "nothing. The gate refuses before anything is changed, and reports the conditions that do not hold yet",
      recovered: "run the same command again when the conditions hold",
    });
  }, 120_000);

  it("stopped by Ctrl-C while the gate waits: cdktf goes on with the bootstrap stack, whose own gate refuses", async () => {
    const before = identity();
    stacks.describe({ teardown: { waitMinutes: 5 } });
    const command = stacks.destroy();
    command.when("not yet", () => {
      command.interrupt();
    });
    const { code, output } = await command.ended;
    expect(code).not.toBe(0);
    expect(output).toMatch(/local-bootstrap +terraform_data.gate/);
    expect(output).toContain("The cluster still needs its bootstrap machine, so nothing was changed");
    expect([stacks.inState("local-teardown"), stacks.inState("local-bootstrap")]).toEqual([
      teardownState,
      bootstrapState,
    ]);
    expect(identity()).toEqual(before);
    record({
      done: "`cdktf destroy` is interrupted with Ctrl-C while the gate waits",
      lost: "nothing. The cdktf command continues with the bootstrap stack, whose own gate refuses as well",
      recovered: "run the same command again",
    });
  }, 120_000);

  it("killed at every step and started again, leaves nothing behind", async () => {
    await stacks.runningLab().completeBootstrap();
    expect(stacks.terraform("local-bootstrap", "plan", "-out", "plan")).toMatchObject({ code: 0 });
    expect(await killedAt("sweep")).toBe(null);
    expect(stacks.inState("local-teardown")).toContain("sweep");
    expect(stacks.inState("local-bootstrap")).toEqual(bootstrapState);
    expect(stacks.runningLab().nodes).toHaveLength(1);

    expect(await killedAt("machine")).toBe(null);
    expect(stacks.inState("local-teardown")).toEqual([]);
    expect(stacks.inState("local-bootstrap")).toContain("machine");

    expect(await killedAt("report")).toBe(null);
    expect(stacks.inState("local-bootstrap")).toEqual(["report"]);

    const { code, output } = await stacks.destroy().ended;
    expect(code).toBe(0);
    expect(output).toContain("2 gone, 0 terminating, 0 left, 0 not looked at.");
    expect([stacks.inState("local-teardown"), stacks.inState("local-bootstrap")]).toEqual([[], []]);
    expect(leftOf(stacks.name)).toEqual([]);
    expect(filesIn(stacks.outdir).filter((file) => /payload|plan$/.test(file))).toEqual([]);
    for (const what of ["the sweep runs", "the bootstrap stack's machine is removed", "the report is created"])
      record({
        done: `\`cdktf destroy\` is killed with all its child processes (\`kill -9\`) while ${what}`,
        lost: "nothing",
        recovered: "run the same command again. It leaves no process, no file, no control group and an empty state",
      });
  }, 240_000);
});
