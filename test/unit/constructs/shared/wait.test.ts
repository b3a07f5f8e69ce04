import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { exampleStack, waitsOf } from "../../../support/stacks.ts";

interface LocalExec {
  readonly interpreter: [string, ...string[]];
  readonly command: string;
  readonly environment: Record<string, string>;
}

describe("the wait for a permission", () => {
  it("takes as long as it says, and ends well", () => {
    const stack = exampleStack("azure", { pointer: "identity", identityWaitSeconds: 1 });
    const [wait] = waitsOf(stack);
    const [{ "local-exec": step }] = wait?.provisioner as [{ "local-exec": LocalExec }];
    const [program, ...options] = step.interpreter;
    const begin = performance.now();
    // As Terraform runs it: the command behind the interpreter's options, without a shell.
    execFileSync(program, [...options, step.command], { env: { ...process.env, ...step.environment } });
    expect(performance.now() - begin).toBeGreaterThan(990);
  });
});
