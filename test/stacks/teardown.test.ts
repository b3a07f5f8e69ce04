import { describe, expect, it } from "vitest";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "../../src/core/bootstrap.ts";
import { problemsOf } from "../support/problems.ts";
import { resourcesOf } from "../support/invariants.ts";
import {
  changedExample,
  exampleOf,
  exampleStack,
  metadata,
  Project,
  type StackJson,
  synthOf,
} from "../support/stacks.ts";

const platforms = ["aws", "azure", "google"] as const;
const teardownOf = (platform: string, rest: object = {}) =>
  synthOf(changedExample(platform, {}, rest), { files: exampleOf(platform).files })[`${platform}-teardown`] ??
  expect.fail("no stack");

interface Step {
  readonly depends_on: string[];
  readonly input: object;
  readonly triggers_replace?: unknown;
  readonly lifecycle?: unknown;
  readonly provisioner: { "local-exec": Record<string, unknown> }[];
}
const stepsOf = (stack: StackJson) => stack.resource.terraform_data as unknown as Record<string, Step>;

/** Files that are deleted after the report. */
function cleanupFilesOf(stack: StackJson): unknown {
  const { when, environment } = stepsOf(stack).report?.provisioner[1]?.["local-exec"] ?? {};
  expect(when).toBe("destroy");
  return JSON.parse((environment as { FILES: string }).FILES);
}

describe("a lab that openshift-install is faked for", () => {
  const stacks = (ipi: boolean) => synthOf({ local: { ipi } });

  it("has neither gate nor sweep: what removes the machine is not ours", () => {
    const { "local-teardown": teardown, "local-bootstrap": bootstrap } = stacks(true);
    expect(teardown).not.toHaveProperty("resource");
    expect(teardown?.terraform.backend).toEqual({ local: { path: "../../../.state/local-teardown.tfstate" } });
    if (bootstrap === undefined) throw new Error("there is no stack local-bootstrap");
    expect(Object.keys(stepsOf(bootstrap))).not.toContain("gate");
    for (const [id, step] of Object.entries(stepsOf(bootstrap)))
      if (id !== "report") expect(step.depends_on, id).toContain("terraform_data.report");
  });

  it("and any other lab has both", () => {
    const { "local-teardown": teardown, "local-bootstrap": bootstrap } = stacks(false);
    expect(Object.keys(teardown?.resource.terraform_data ?? {})).toEqual(["gate", "sweep"]);
    expect(Object.keys(bootstrap?.resource.terraform_data ?? {})).toContain("gate");
  });

  it.each([
    [{}, 8091],
    [{ ipi: true }, 9591],
    [{ ipi: true, port: 8091 }, 8091],
  ])("%j: agents dial %i", ({ ipi = false, port }: { ipi?: boolean; port?: number }, expected) => {
    const project = new Project({ local: { ipi }, tunnel: { port } });
    try {
      project.synth();
      const payload = inspect(readFileSync(join(project.outdir, "stacks/local-bootstrap/payload.ign"), "utf8"), "");
      expect(payload).toMatchObject({ record: { options: { port: expected } } });
    } finally {
      project.remove();
    }
  });

  it("is refused without a tunnel, in one sentence with its place", () => {
    const project = new Project("tunnel: off\nlocal:\n  ipi: true\n");
    try {
      expect(problemsOf(() => project.synth())).toMatchObject([{ code: "combination-refused", position: { line: 3 } }]);
    } finally {
      project.remove();
    }
  });
});

describe.each(platforms)("%s-teardown", (platform) => {
  it("is destroyed before the bootstrap stack, and has a state of its own", () => {
    const project = new Project(changedExample(platform), { files: exampleOf(platform).files });
    try {
      const stack = project.synth()[`${platform}-teardown`];
      const manifest = JSON.parse(readFileSync(join(project.outdir, "manifest.json"), "utf8")) as {
        stacks: Record<string, { dependencies: string[] }>;
      };
      expect(manifest.stacks[`${platform}-teardown`]?.dependencies).toEqual([`${platform}-bootstrap`]);
      expect(stack?.terraform.backend).toEqual({ local: { path: `../../../.state/${platform}-teardown.tfstate` } });
    } finally {
      project.remove();
    }
  });

  it("contains only the gate and the sweep, of literals, and nothing that could replace them", () => {
    const stack = teardownOf(platform);
    const steps = stepsOf(stack);
    expect(Object.keys(stack.resource)).toEqual(["terraform_data"]);
    expect(Object.keys(steps)).toEqual(["gate", "sweep"]);
    expect(JSON.stringify(stack)).not.toContain("${");
    for (const step of Object.values(steps)) {
      expect(step).not.toHaveProperty("triggers_replace");
      expect(step).not.toHaveProperty("lifecycle");
      expect(step.provisioner.map((one) => one["local-exec"].when)).toEqual(["destroy"]);
    }
    expect(steps.gate?.depends_on, "the gate is destroyed first").toEqual(["terraform_data.sweep"]);
    expect(steps.gate?.provisioner[0]?.["local-exec"]).not.toHaveProperty("on_failure");
    expect(steps.sweep?.provisioner[0]?.["local-exec"].on_failure).toBe("continue");
  });

  it("does not contain the kubeconfig's path, which the steps read when they run", () => {
    const stack = teardownOf(platform, { teardown: { kubeconfig: "secret-place/kubeconfig", waitMinutes: 5 } });
    expect(JSON.stringify(stack)).not.toContain("secret-place");
  });

  it("makes the bootstrap stack report last: every resource in it depends on the report", () => {
    const stack = exampleStack(platform);
    for (const [type, byId] of Object.entries(stack.resource))
      for (const [id, block] of Object.entries(byId))
        if (id !== "report") expect(block.depends_on, `${type}.${id}`).toContain("terraform_data.report");
    const report = stepsOf(stack).report;
    expect(report?.depends_on).toEqual([]);
    expect(report?.provisioner[0]?.["local-exec"]).toMatchObject({ when: "destroy", on_failure: "continue" });
  });

  it("makes the bootstrap stack check the gate first: its gate depends on every resource in it", () => {
    const stack = exampleStack(platform);
    const { gate } = stepsOf(stack);
    const others = resourcesOf(stack).map(({ address }) => address);
    expect([...(gate?.depends_on ?? []), "terraform_data.gate"].sort()).toEqual(others.sort());
    const [ask] = gate?.provisioner ?? [];
    expect(ask?.["local-exec"]).toMatchObject({ when: "destroy", command: platform });
    expect(ask?.["local-exec"]).not.toHaveProperty("on_failure");
    expect(ask?.["local-exec"].interpreter, "after Ctrl-C nobody waits").toContain("--wait=0");
  });

  it("then deletes the files with secrets: the payload, a saved plan and a local state's backup", () => {
    const backup = `../../../.state/${platform}-bootstrap.tfstate.backup`;
    expect(cleanupFilesOf(exampleStack(platform))).toEqual(["payload.ign", "plan", backup]);
  });
});

it("deletes no backup with a shared state", () => {
  const state = { s3: { bucket: "states", region: "eu-west-1", keyPrefix: "clusters/prod" } };
  const rest = { state, infrastructureName: metadata.infraID };
  expect(cleanupFilesOf(exampleStack("aws", { region: "eu-central-1" }, rest))).toEqual(["payload.ign", "plan"]);
});
