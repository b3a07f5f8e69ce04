import { DataResource } from "cdktf";
import { describe, expect, it } from "vitest";
import { MachineSpec, type MachineSpecProps } from "../../../../constructs/shared/machine-spec.ts";
import type { PayloadContent } from "../../../../constructs/shared/payload-file.ts";
import { absentPayload, payloadContent, payloadIn, synthScope, withoutHash } from "../../../support/constructs.ts";

const payloadDigest = payloadContent.sha512.slice(0, 16);
/** Of {"size":"large"}. */
const partsDigest = "c56632a8b2b0c51b";

/** A stack in which terraform_data plays the machine. */
function stackWith(props: Partial<MachineSpecProps> = {}, content: PayloadContent = payloadContent) {
  let tag: Readonly<Record<string, string>> = {};
  const stack = synthScope((scope) => {
    const spec = new MachineSpec(scope, "machine-spec", {
      payload: payloadIn(scope, content),
      parts: { size: "large" },
      replaceMachine: false,
      ...props,
    });
    const machine = new DataResource(scope, "machine", {
      input: spec.tag,
      lifecycle: spec.lifecycle(["size"], "input"),
    });
    spec.checkDriftOf(machine, "input");
    ({ tag } = spec);
  });
  const triggers = Object.entries(stack.resource.terraform_data ?? {}).filter(([id]) => id.startsWith("payload_"));
  return { stack, tag, triggers: Object.fromEntries(triggers.map(([id, block]) => [withoutHash(id), block])) };
}

describe("a machine's spec", () => {
  it("has a tag with the digests of the payload and of the parts", () => {
    expect(stackWith().tag).toEqual({ "konnectivity-bootstrap-made-of": `${payloadDigest}-${partsDigest}` });
    expect(stackWith({ parts: { size: "large", key: undefined } }).tag).toEqual(stackWith().tag);
    expect(stackWith({ parts: { size: "small" } }).tag).not.toEqual(stackWith().tag);
  });

  it("replaces the machine only if it may be replaced and there is a payload", () => {
    const triggersReplace = { payload: payloadDigest, machine: partsDigest };
    const kept = { ignore_changes: ["triggers_replace"] };
    expect(stackWith().triggers).toEqual({
      payload_replacement: { triggers_replace: triggersReplace, lifecycle: kept },
    });
    expect(stackWith({ replaceMachine: true }).triggers).toEqual({
      payload_replacement: { triggers_replace: triggersReplace, lifecycle: {} },
    });
    expect(stackWith({ replaceMachine: true }, absentPayload).triggers.payload_replacement?.lifecycle).toEqual(kept);
  });

  it("has later parts in a digest of their own", () => {
    const { triggers, tag, stack } = stackWith({ laterParts: {} });
    expect(Object.keys(triggers)).toEqual(["payload_later-parts", "payload_replacement"]);
    expect(tag).toEqual(stackWith().tag);
    expect(stackWith({ laterParts: { vtpm: true } }).triggers["payload_later-parts"]?.triggers_replace).not.toEqual(
      triggers["payload_later-parts"]?.triggers_replace,
    );
    const { lifecycle } = stack.resource.terraform_data?.machine as { lifecycle: { replace_triggered_by: string[] } };
    expect(lifecycle.replace_triggered_by.map(withoutHash)).toEqual([
      "terraform_data.payload_replacement",
      "terraform_data.payload_later-parts",
    ]);
  });

  it("ignores changes of fixed attributes and of the tag", () => {
    expect(stackWith().stack.resource.terraform_data?.machine?.lifecycle).toMatchObject({
      ignore_changes: ["size", 'input["konnectivity-bootstrap-made-of"]'],
    });
  });

  it("reports drift of the payload and of the parts in every plan", () => {
    const tag = 'try(terraform_data.machine.input["konnectivity-bootstrap-made-of"], "")';
    expect(stackWith().stack.check).toEqual({
      machine_has_this_payload: {
        assert: [
          {
            condition: `\${startswith(${tag}, "${payloadDigest}-")}`,
            error_message: expect.stringContaining("The machine keeps the payload that it booted with") as string,
          },
        ],
      },
      machine_is_as_configured: {
        assert: [
          {
            condition: `\${endswith(${tag}, "-${partsDigest}")}`,
            error_message: expect.stringContaining("set `replaceMachine: true` and deploy.") as string,
          },
        ],
      },
    });
  });

  it("reports no drift without a payload", () => {
    expect(stackWith({}, absentPayload).stack.check).toEqual({});
  });

  it("can exist twice in a stack, with triggers and checks of its own", () => {
    const stack = synthScope((scope) => {
      const payload = payloadIn(scope);
      for (const machineName of ["machine", "second"]) {
        const spec = new MachineSpec(scope, `${machineName}-spec`, {
          payload,
          parts: { machineName },
          replaceMachine: false,
          machineName,
        });
        const machine = new DataResource(scope, machineName, {
          input: spec.tag,
          lifecycle: spec.lifecycle([], "input"),
        });
        spec.checkDriftOf(machine, "input");
      }
    });
    expect(Object.keys(stack.check)).toEqual([
      "machine_has_this_payload",
      "machine_is_as_configured",
      "second_has_this_payload",
      "second_is_as_configured",
    ]);
    const { machine, second } = stack.resource.terraform_data ?? {};
    const triggersOf = (block: typeof machine) =>
      (block?.lifecycle as { replace_triggered_by: string[] }).replace_triggered_by.map(withoutHash);
    expect(triggersOf(machine)).toEqual(["terraform_data.payload_replacement"]);
    expect(triggersOf(second)).toEqual(["terraform_data.payload_second-replacement"]);
    expect(machine?.input).not.toEqual(second?.input);
  });
});
