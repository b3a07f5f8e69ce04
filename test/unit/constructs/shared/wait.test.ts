import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { Wait } from "../../../../constructs/shared/wait.ts";
import { resourceIn, synthScope } from "../../../support/constructs.ts";
import { waitsOf } from "../../../support/stacks.ts";

interface LocalExec {
  readonly interpreter: [string, ...string[]];
  readonly command: string;
  readonly environment: Record<string, string>;
}

describe("a wait", () => {
  const stack = synthScope((scope) => new Wait(scope, "wait", { seconds: 1, dependsOn: [resourceIn(scope, "grant")] }));
  const [wait] = waitsOf(stack);

  it("starts after what it depends on, and is replaced with it", () => {
    expect(wait).toMatchObject({
      depends_on: ["terraform_data.grant"],
      lifecycle: { replace_triggered_by: ["terraform_data.grant"] },
    });
  });

  it("takes the given time and succeeds", () => {
    const [{ "local-exec": step }] = wait?.provisioner as [{ "local-exec": LocalExec }];
    const [program, ...options] = step.interpreter;
    const begin = performance.now();
    // As Terraform runs it: the command after the interpreter's options, without a shell.
    execFileSync(program, [...options, step.command], { env: { ...process.env, ...step.environment } });
    expect(performance.now() - begin).toBeGreaterThan(990);
  });
});
