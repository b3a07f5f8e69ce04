import { App, type TerraformStack } from "cdktf";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { DestroyStep, type DestroyStepProps } from "../../../../constructs/shared/destroy-step.ts";
import { resourceIn, synthScope } from "../../../support/constructs.ts";

function stepWith(create: (stack: TerraformStack) => Partial<DestroyStepProps>) {
  const stack = synthScope((scope) => {
    const { outdir } = App.of(scope);
    new DestroyStep(scope, "gate", {
      program: resolve(outdir, "../program.js"),
      workingDirectory: resolve(outdir, ".."),
      command: ["teardown", "gate", "aws"],
      ...create(scope),
    });
  });
  return stack.resource.terraform_data?.gate ?? {};
}

describe("a destroy step", () => {
  it("runs the program in the working directory on destroy, by relative paths", () => {
    expect(stepWith(() => ({})).provisioner).toEqual([
      {
        "local-exec": {
          when: "destroy",
          working_dir: "../../..",
          interpreter: ["node", "program.js", "teardown", "gate"],
          command: "aws",
        },
      },
    ]);
  });

  it("cannot be replaced by a deploy", () => {
    const step = stepWith(() => ({}));
    expect(step.input).toEqual({ step: "gate" });
    expect(step).not.toHaveProperty("triggers_replace");
  });

  it("runs before the steps that it names", () => {
    expect(stepWith((stack) => ({ before: [resourceIn(stack, "sweep")] })).depends_on).toEqual([
      "terraform_data.sweep",
    ]);
  });

  it("can let the destroy continue after a failure", () => {
    expect(stepWith(() => ({ continueOnFailure: true })).provisioner).toMatchObject([
      { "local-exec": { on_failure: "continue" } },
    ]);
  });

  it("deletes files after the program has run", () => {
    expect(stepWith(() => ({ cleanupFiles: ["payload.ign", "plan"] })).provisioner).toMatchObject([
      {},
      { "local-exec": { when: "destroy", environment: { FILES: '["payload.ign","plan"]' } } },
    ]);
  });

  it("escapes words and paths that look like Terraform expressions", () => {
    const step = stepWith((stack) => ({
      command: ["${x}", "%{y}"],
      program: join(App.of(stack).outdir, "../${p}.js"),
    }));
    expect(step.provisioner).toMatchObject([
      { "local-exec": { interpreter: ["node", "$${p}.js", "$${x}"], command: "%%{y}" } },
    ]);
  });
});
