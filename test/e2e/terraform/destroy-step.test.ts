import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, LocalBackend, TerraformStack } from "cdktf";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { DestroyStep } from "../../../constructs/shared/destroy-step.ts";
import { runTerraform } from "../../support/terraform.ts";

const folder = mkdtempSync(join(tmpdir(), "destroy-step-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const stackFolder = join(folder, "cdktf.out/stacks/steps");
const log = join(folder, "log");
const terraform = (...args: string[]) => runTerraform([`-chdir=${stackFolder}`, ...args]);
const ran = () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);

/** Writes down what it was called with and where; fails if a file of its step's name says so. */
writeFileSync(
  join(folder, "program.js"),
  `const { appendFileSync, existsSync } = require("node:fs");
appendFileSync("log", process.argv.slice(2).join(" ") + "\\n");
if (existsSync("fail-" + process.argv[2])) process.exit(1);
`,
);

/** Two steps as the teardown has them. Everything in them can be another. */
function describeSteps(word: string, program = "program.js"): void {
  const app = new App({ outdir: join(folder, "cdktf.out") });
  const stack = new TerraformStack(app, "steps");
  new LocalBackend(stack, { path: join(folder, "state") });
  const where = { program: join(folder, program), workingDirectory: folder };
  const sweep = new DestroyStep(stack, "sweep", { ...where, command: ["sweep", word], continueOnFailure: true });
  new DestroyStep(stack, "gate", { ...where, command: ["gate", "$HOME; two words", word], before: [sweep.resource] });
  app.synth();
}

describe("a step of destroying", () => {
  beforeEach(() => {
    rmSync(log, { force: true });
  });

  it("never runs when something is deployed, whatever changed; runs today's command in order when it is destroyed", () => {
    describeSteps("first");
    terraform("init");
    expect(terraform("apply", "-auto-approve")).toMatchObject({ code: 0 });
    describeSteps("second", "other-program.js");
    expect(terraform("apply", "-auto-approve")).toMatchObject({ code: 0 });
    expect(ran()).toEqual([]);
    describeSteps("third");
    expect(terraform("destroy", "-auto-approve")).toMatchObject({ code: 0 });
    expect(ran()).toEqual(["gate $HOME; two words third", "sweep third"]);
  }, 120_000);

  it("that fails keeps all that comes after it, and can be repeated; one that may fail keeps nothing", () => {
    describeSteps("again");
    terraform("init");
    expect(terraform("apply", "-auto-approve")).toMatchObject({ code: 0 });
    writeFileSync(join(folder, "fail-gate"), "");
    writeFileSync(join(folder, "fail-sweep"), "");
    expect(terraform("destroy", "-auto-approve")).toMatchObject({ code: 1 });
    expect(ran()).toEqual(["gate $HOME; two words again"]);
    expect(terraform("state", "list").output.trim().split("\n")).toEqual([
      "terraform_data.gate",
      "terraform_data.sweep",
    ]);
    rmSync(join(folder, "fail-gate"));
    expect(terraform("destroy", "-auto-approve")).toMatchObject({ code: 0 });
    expect(ran().slice(1)).toEqual(["gate $HOME; two words again", "sweep again"]);
    expect(terraform("state", "list").output.trim()).toBe("");
  }, 120_000);
});
