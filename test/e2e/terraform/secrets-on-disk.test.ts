import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DataResource } from "cdktf";
import { afterAll, describe, expect, it } from "vitest";
import type { Inputs } from "../../../stacks/resolve.ts";
import { MachineSpec } from "../../../constructs/shared/machine-spec.ts";
import { protectLocalState } from "../../../constructs/shared/local-state.ts";
import { newApp, stackPropsOf } from "../../../stacks/app.ts";
import { BootstrapStack } from "../../../stacks/bootstrap-stack.ts";
import { filesIn } from "../../support/invariants.ts";
import { Project } from "../../support/stacks.ts";
import { interruptTerraform, runTerraform } from "../../support/terraform.ts";

const project = new Project({ local: { name: `ondisk${process.pid}` } });
const stackFolder = join(project.outdir, "stacks/local-bootstrap");
afterAll(() => {
  project.remove();
});

/** A bootstrap stack with something in it whose secret is in the state, as Azure's account is. */
class Sample extends BootstrapStack {
  constructor(inputs: Inputs, secret: string) {
    super(newApp(project.outdir), "local-bootstrap", { ...stackPropsOf(inputs), platform: "local" });
    new MachineSpec(this, "machine-spec", { payload: this.payload, replaceMachine: inputs.replaceMachine, parts: {} });
    new DataResource(this, "account", { input: { secret }, triggersReplace: { secret } });
  }
}

function describeStack(secret: string): void {
  const inputs = project.inputs();
  protectLocalState(inputs.stateFolder ?? "", ["local-bootstrap"]);
  const stack = new Sample(inputs, secret);
  (stack.node.root as ReturnType<typeof newApp>).synth();
  stack.payload.write();
}

const args = (...words: string[]) => [`-chdir=${stackFolder}`, ...words];
const terraform = (...words: string[]) => runTerraform(args(...words));

/** A state with one secret, a backup with another, a payload, and a plan, as `cdktf diff` saves it. */
function deploy(): void {
  describeStack("the first key");
  expect(terraform("init")).toMatchObject({ code: 0 });
  expect(terraform("apply", "-auto-approve")).toMatchObject({ code: 0 });
  describeStack("the second key");
  const { code, output } = terraform("apply", "-auto-approve");
  expect(code).toBe(0);
  expect(output).toContain("1 added, 0 changed, 1 destroyed");
  expect(output, "neither the gate nor the report runs when something is replaced").not.toContain("local-exec");
  expect(terraform("plan", "-out", "plan")).toMatchObject({ code: 0 });
}

const states = () => filesIn(project.folder).filter((file) => file.startsWith(".state/local-bootstrap"));
/** Files that a destroy is to leave without a secret, and those that it is to take away. */
const secretive = () => [
  ...states().filter((file) => readFileSync(join(project.folder, file), "utf8").includes(" key")),
  ...["payload.ign", "plan"].filter((file) => existsSync(join(stackFolder, file))),
];
const all = [".state/local-bootstrap.tfstate", ".state/local-bootstrap.tfstate.backup", "payload.ign", "plan"];

describe("on disk", () => {
  it("are secrets while something is deployed, and none after it is destroyed", () => {
    deploy();
    expect(secretive()).toEqual(all);
    expect(terraform("destroy", "-auto-approve")).toMatchObject({ code: 0 });
    expect(secretive()).toEqual([]);
    expect(states()).toEqual([".state/local-bootstrap.tfstate"]);
  }, 120_000);

  it("are none either after a destroy that was killed in its last step and begun again; and all can be deployed again", async () => {
    deploy();
    const step = "terraform_data.report (local-exec): Executing";
    const { code } = await interruptTerraform(args("destroy", "-auto-approve"), step, "SIGKILL");
    expect(code).toBe(null);
    expect(secretive(), "all but the state itself").toEqual(all.slice(1));
    describeStack("the second key");
    expect(terraform("destroy", "-auto-approve")).toMatchObject({ code: 0 });
    expect(secretive()).toEqual([]);
  }, 120_000);
});
