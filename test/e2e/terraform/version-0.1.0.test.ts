import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import {
  type Changes,
  type Fixture,
  fixturesOf010,
  projectOf,
  stacksOf,
  touchedBy,
} from "../../support/fixtures-of-0.1.0.ts";
import type { Project } from "../../support/stacks.ts";
import { runTerraform } from "../../support/terraform.ts";

const projects: Project[] = [];
afterAll(() => {
  for (const project of projects) project.remove();
});

/** Today's stacks over 0.1.0's states. What is returned runs Terraform in one of them. */
function synthesize(fixture: Fixture, changes?: Changes) {
  const project = projectOf(fixture, changes);
  projects.push(project);
  project.synth();
  const run = (stack: string, ...args: string[]) => {
    const { code, output } = runTerraform([`-chdir=${join(project.outdir, "stacks", stack)}`, ...args]);
    expect(code, output).toBe(0);
    return output;
  };
  for (const stack of stacksOf(fixture)) run(stack, "init", "-input=false");
  return run;
}

// The clouds' fixtures need the providers: test/e2e/clouds/version-0.1.0.ts.
const applied = fixturesOf010("local").filter((fixture) => fixture.applied);

describe.each(applied)("a lab that 0.1.0 deployed: $name", (fixture) => {
  const config = parse(fixture.config) as object;

  const touchedWith = (today: object) => {
    const terraform = synthesize(fixture, { config: stringify(today) });
    return stacksOf(fixture).flatMap((stack) =>
      touchedBy(terraform(stack, "plan", "-json", "-refresh=false", "-input=false")),
    );
  };

  it.skipIf(fixture.name === "replace-machine")("is left alone by a plan with its config", () => {
    expect(touchedWith(config)).toEqual([]);
  });

  it("is replaced with replaceMachine: true, which allows that for a new payload", () => {
    const touched = touchedWith({ ...config, replaceMachine: true });
    expect(touched.includes("replace terraform_data.machine")).toBe(fixture.name !== "tunnel-off");
  });

  it("is replaced with replaceMachine: true if the lab changes, and the plan says so", () => {
    const changed = { ...config, replaceMachine: true, local: { nodes: 2 } };
    const terraform = synthesize(fixture, { config: stringify(changed) });
    const plan = terraform("local-bootstrap", "plan", "-json", "-refresh=false", "-input=false");
    expect(touchedBy(plan)).toContain("replace terraform_data.machine");
  });
});

it("a lab that 0.1.0 deployed can be destroyed", () => {
  const [fixture = expect.fail("no fixture")] = applied;
  // Not by its own name: a lab of the user's may have it.
  const name = `fixture-${process.pid}`;
  const terraform = synthesize(fixture, {
    config: stringify({ ...(parse(fixture.config) as object), local: { name } }),
    state: (text) => text.replaceAll('"lab": "local"', `"lab": "${name}"`),
  });
  for (const stack of stacksOf(fixture).reverse()) {
    terraform(stack, "destroy", "-auto-approve", "-refresh=false", "-input=false");
    expect(terraform(stack, "show", "-json")).not.toContain("resources");
  }
});
