import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, DataResource, TerraformStack } from "cdktf";
import { afterAll, describe, expect, it } from "vitest";
import { MachineSpec } from "../../../constructs/shared/machine-spec.ts";
import { type PayloadContent, PayloadFile } from "../../../constructs/shared/payload-file.ts";
import { protectLocalState } from "../../../constructs/shared/local-state.ts";
import { addStateBackend } from "../../../constructs/shared/state-backend.ts";
import { runTerraform } from "../../support/terraform.ts";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-terraform-"));
const stateFolder = join(folder, ".state");
const stackFolder = join(folder, "cdktf.out/stacks/sample-bootstrap");
const stateFile = join(stateFolder, "sample-bootstrap.tfstate");
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** In the stack's folder; terraform_data is built in, so it needs no provider and no network. */
function terraform(...args: readonly string[]) {
  const { code, output } = runTerraform([`-chdir=${stackFolder}`, ...args]);
  // Its boxes break sentences into lines.
  return { code, output: output.replace(/\n[│ ]*/g, " ").replace(/ +/g, " ") };
}

interface Description {
  readonly replaceMachine?: boolean;
  /** What the cloud does not do with the machine. */
  readonly fails?: "create" | "destroy";
  readonly size?: string;
  /** An option that came after 0.1.0. @default - a stack of 0.1.0, which does not know it */
  readonly later?: { readonly shielded?: boolean };
}

/** Describes a stack in which terraform_data plays the object and the machine. */
function describeStack(
  content: PayloadContent,
  { replaceMachine = false, fails, size = "large", later }: Description = {},
): void {
  const app = new App({ outdir: join(folder, "cdktf.out") });
  const stack = new TerraformStack(app, "sample-bootstrap");
  addStateBackend(stack, { local: { folder: stateFolder } });
  const file = new PayloadFile(stack, "payload", { content });
  const spec = new MachineSpec(stack, "spec", { payload: file, parts: { size }, laterParts: later, replaceMachine });
  new DataResource(stack, "object", { input: { hash: file.sha512 }, lifecycle: { precondition: file.preconditions } });
  const machine = new DataResource(stack, "machine", {
    input: { userData: file.pointer({ url: "s3://bucket/payload.ign" }), ...spec.tag },
    lifecycle: spec.lifecycle(["input"]),
  });
  if (fails !== undefined)
    machine.addOverride("provisioner", [{ "local-exec": { when: fails, command: "echo the cloud says no; exit 1" } }]);
  spec.checkDriftOf(machine, "input");
  app.synth();
  file.write();
  protectLocalState(stateFolder, ["sample-bootstrap"]);
}

const payload = (text: string, digit: string): PayloadContent => ({ present: true, text, sha512: digit.repeat(128) });
const absent: PayloadContent = { present: false, why: "there is no bootstrap.ign in ocp" };
const first = payload("first", "a");
const second = payload("second", "b");

interface State {
  readonly resources: readonly {
    readonly name: string;
    readonly instances: readonly { attributes: { id: string; input: { value: Record<string, string> } } }[];
  }[];
}
function inState(name: string) {
  const state = JSON.parse(readFileSync(stateFile, "utf8")) as State;
  return state.resources.find((resource) => resource.name === name)?.instances[0]?.attributes;
}

describe("a deployed machine and its payload", () => {
  it("one payload after the other", () => {
    describeStack(first);
    expect(terraform("init")).toMatchObject({ code: 0 });
    expect(terraform("apply", "-auto-approve")).toMatchObject({
      code: 0,
      output: expect.not.stringContaining("Warning") as string,
    });
    const machine = inState("machine");
    expect(machine?.input.value.userData).toContain("a".repeat(128));
    expect(statSync(stateFile).mode & 0o777, "the state is for its owner only").toBe(0o600);
    expect(statSync(`${stateFile}.backup`).mode & 0o777, "and so is the one before").toBe(0o600);
    expect(statSync(join(stackFolder, "payload.ign")).mode & 0o777).toBe(0o600);
    expect(terraform("plan", "-detailed-exitcode").code, "nothing changed: nothing to do").toBe(0);

    describeStack(second);
    const planned = terraform("plan", "-detailed-exitcode");
    expect(planned.code).toBe(2);
    expect(planned.output).toContain("The machine keeps the payload that it booted with");
    expect(planned.output).toContain("0 to add, 1 to change, 0 to destroy");
    expect(terraform("apply", "-auto-approve")).toMatchObject({ code: 0 });
    expect(inState("object")?.input.value.hash).toBe("b".repeat(128));
    expect(inState("machine")).toEqual(machine);
    expect(terraform("plan", "-detailed-exitcode"), "it goes on saying so").toMatchObject({
      code: 0,
      output: expect.stringContaining("The machine keeps the payload that it booted with") as string,
    });

    describeStack(second, { size: "huge" });
    expect(terraform("plan", "-detailed-exitcode")).toMatchObject({
      code: 0,
      output: expect.stringContaining("The machine stays as it was made") as string,
    });

    describeStack(second, { replaceMachine: true });
    expect(terraform("apply", "-auto-approve")).toMatchObject({ code: 0 });
    expect(inState("machine")?.id).not.toBe(machine?.id);
    expect(inState("machine")?.input.value.userData).toContain("b".repeat(128));
    describeStack(second);
    expect(terraform("plan", "-detailed-exitcode")).toMatchObject({
      code: 0,
      output: expect.not.stringContaining("keeps the payload") as string,
    });
  }, 120_000);

  it("without a payload nothing can be deployed, and everything can be destroyed", () => {
    describeStack(absent);
    const machine = inState("machine");
    const applied = terraform("apply", "-auto-approve");
    expect(applied.code).toBe(1);
    expect(applied.output).toContain(
      'Nothing can be deployed: there is no bootstrap.ign in ocp. Give the folder in which "openshift-install create ignition-configs" ran as installDir.',
    );
    expect(inState("machine")).toEqual(machine);
    const destroyed = terraform("destroy", "-auto-approve");
    expect(destroyed).toMatchObject({ code: 0 });
    expect(destroyed.output).toContain("3 destroyed");
    expect(statSync(stateFile).mode & 0o777).toBe(0o600);
  }, 120_000);

  it("a machine that could not be created with one payload is created with the next one", () => {
    describeStack(first, { fails: "create" });
    expect(terraform("apply", "-auto-approve").output).toContain("the cloud says no");
    describeStack(second);
    expect(terraform("apply", "-auto-approve")).toMatchObject({
      code: 0,
      output: expect.not.stringContaining("keeps the payload") as string,
    });
    expect(inState("machine")?.input.value.userData).toContain("b".repeat(128));
    expect(terraform("plan", "-detailed-exitcode")).toMatchObject({
      code: 0,
      output: expect.not.stringContaining("keeps the payload") as string,
    });
  }, 120_000);

  it("is not replaced because it is older than an option, only because the option changed", () => {
    rmSync(stateFile, { force: true });
    describeStack(first);
    expect(terraform("apply", "-auto-approve")).toMatchObject({ code: 0 });
    const machine = inState("machine");

    describeStack(first, { replaceMachine: true, later: {} });
    const upgraded = terraform("apply", "-auto-approve");
    expect(upgraded.output).toContain("1 added, 0 changed, 0 destroyed");
    expect(inState("machine")).toEqual(machine);

    describeStack(first, { later: { shielded: true } });
    expect(terraform("plan", "-detailed-exitcode"), "it may not be replaced").toMatchObject({ code: 0 });

    describeStack(first, { replaceMachine: true, later: { shielded: true } });
    expect(terraform("apply", "-auto-approve")).toMatchObject({ code: 0 });
    expect(inState("machine")?.id).not.toBe(machine?.id);
    expect(terraform("plan", "-detailed-exitcode")).toMatchObject({ code: 0 });
    expect(terraform("destroy", "-auto-approve").output).toContain("4 destroyed");
  }, 120_000);

  describe("a replacement that failed", () => {
    /** A machine with the first payload, and a deploy that was to replace it by one with the second. */
    function afterFailure(fails: "create" | "destroy") {
      rmSync(stateFile, { force: true });
      describeStack(first);
      terraform("apply", "-auto-approve");
      const machine = inState("machine");
      describeStack(second, { replaceMachine: true, fails });
      expect(terraform("apply", "-auto-approve").output).toContain("the cloud says no");
      return machine;
    }
    const plan = (payloadNow: PayloadContent, description?: Description) => {
      describeStack(payloadNow, description);
      return terraform("plan", "-detailed-exitcode").output;
    };

    it("leaves a machine that could not be removed with its payload, says so, and can be repeated", () => {
      const machine = afterFailure("destroy");
      expect(inState("machine")).toEqual(machine);
      expect(plan(second)).toContain("The machine keeps the payload that it booted with");
      expect(plan(second, { size: "huge" })).toContain("The machine stays as it was made");
      expect(plan(first)).not.toContain("keeps the payload");
      expect(plan(second, { replaceMachine: true })).not.toContain("keeps the payload");
      expect(terraform("apply", "-auto-approve").code).toBe(0);
      expect(inState("machine")?.id).not.toBe(machine?.id);
      expect(inState("machine")?.input.value.userData).toContain("b".repeat(128));
      expect(plan(second)).not.toContain("keeps the payload");
      expect(plan(first)).toContain("The machine keeps the payload that it booted with");
    }, 120_000);

    it("creates a machine that could not be created, with the current payload", () => {
      const machine = afterFailure("create");
      const third = payload("third", "c");
      expect(plan(third)).not.toContain("keeps the payload");
      expect(terraform("apply", "-auto-approve").code).toBe(0);
      expect(inState("machine")?.id).not.toBe(machine?.id);
      expect(inState("machine")?.input.value.userData).toContain("c".repeat(128));
      expect(plan(third)).not.toContain("keeps the payload");
      expect(plan(second)).toContain("The machine keeps the payload that it booted with");
    }, 120_000);
  });
});
