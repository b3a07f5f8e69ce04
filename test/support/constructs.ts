import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DataResource, TerraformStack, Testing, type testingMatchers } from "cdktf";
import type { Construct } from "constructs";
import { expect } from "vitest";
import { MachineSpec } from "../../constructs/shared/machine-spec.ts";
import { type PayloadContent, PayloadFile } from "../../constructs/shared/payload-file.ts";
import type { StackJson } from "./stacks.ts";

const outdir = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-constructs-"));
process.once("exit", () => {
  rmSync(outdir, { recursive: true, force: true });
});

/** Synthesizes constructs alone, in an otherwise empty stack. */
export function synthScope(create: (scope: TerraformStack) => void): StackJson {
  // As Testing.synthScope, which leaves a folder behind for every call.
  const stack = new TerraformStack(Testing.app({ outdir }), "stack");
  create(stack);
  return { resource: {}, check: {}, ...(JSON.parse(Testing.synth(stack)) as Partial<StackJson>) } as StackJson;
}

export const payloadContent = { present: true, text: "the payload", sha512: "5".repeat(128) } as const;
export const absentPayload: PayloadContent = { present: false, why: "there is no bootstrap.ign in ocp" };

/** The lifecycle of what stores that payload: a deploy stops there. */
export const stopsDeploy = {
  precondition: [
    expect.objectContaining({
      error_message: expect.stringContaining("Nothing can be deployed: there is no bootstrap.ign") as string,
    }) as unknown,
  ],
};

/** The payload, at the place where every stack has it. */
export const payloadIn = (scope: Construct, content: PayloadContent = payloadContent) =>
  new PayloadFile(scope, "payload", { content });

/** A machine's spec, with one part. */
export const machineSpecIn = (scope: Construct, replaceMachine = false) =>
  new MachineSpec(scope, "machine-spec", { payload: payloadIn(scope), parts: { size: "large" }, replaceMachine });

/** A resource for others to depend on; its address is terraform_data.<id>. */
export const resourceIn = (scope: Construct, id: string) => new DataResource(scope, id);

/** An address without the hash of its path. */
export const withoutHash = (address: string) => address.replace(/_[0-9A-F]{8}$/, "");

expect.extend({
  toHaveResourceWithProperties(stack: StackJson, type: testingMatchers.TerraformConstructor, properties: object) {
    const found = Object.values(stack.resource[type.tfResourceType] ?? {});
    return {
      pass: found.some((one) => this.equals(one, expect.objectContaining(properties))),
      message: () => `${type.tfResourceType} with ${JSON.stringify(properties)}: found ${JSON.stringify(found)}`,
    };
  },
});

declare module "vitest" {
  // Its type parameter must have the same name as vitest's.
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  interface Matchers<T> {
    /** The stack has a resource of this type with at least these properties. */
    toHaveResourceWithProperties: (type: testingMatchers.TerraformConstructor, properties: object) => void;
  }
}
