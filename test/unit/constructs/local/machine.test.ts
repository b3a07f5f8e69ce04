import { App } from "cdktf";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { MachineSpec } from "../../../../constructs/local/machine-spec.ts";
import { Machine } from "../../../../constructs/local/machine.ts";
import { payloadIn, synthScope } from "../../../support/constructs.ts";

const stackWith = (ipi: boolean) =>
  synthScope((scope) => {
    const spec = new MachineSpec(scope, "machine-spec", {
      payload: payloadIn(scope),
      replaceMachine: false,
      options: { lab: "local", nodes: 2, ipFamily: "IPv6", ipi },
    });
    new Machine(scope, "machine", { spec, program: resolve(App.of(scope).outdir, "../program.js") });
  });

describe("the lab as a machine", () => {
  const stack = stackWith(false);
  const machine = stack.resource.terraform_data?.machine;
  const program = "../../../program.js";

  it("is created with its payload by the command-line program", () => {
    expect(machine?.provisioner).toMatchObject([
      {
        "local-exec": {
          interpreter: [
            ...["node", program, "lab", "up", "--name=local", "--nodes=2", "--ip-family=IPv6"],
            "--payload",
          ],
          command: "payload.ign",
        },
      },
      {},
    ]);
  });

  it("comes and goes as with openshift-install if it is told to, which is a part of it later than 0.1.0", () => {
    const { terraform_data: ofIpi = {} } = stackWith(true).resource;
    const [create] = ofIpi.machine?.provisioner as { "local-exec": { interpreter: string[] } }[];
    expect(create?.["local-exec"].interpreter.slice(-2)).toEqual(["--ipi", "--payload"]);
    expect(ofIpi.machine?.input).toEqual(machine?.input);
    expect(Object.keys(ofIpi)).toContainEqual(expect.stringContaining("later-parts"));
    expect(Object.keys(stack.resource.terraform_data ?? {})).not.toContainEqual(expect.stringContaining("later-parts"));
  });

  it("is deleted by the program and the name in the state, as 0.1.0 wrote them", () => {
    expect(machine?.input).toMatchObject({ lab: "local", program });
    expect(machine?.provisioner).toMatchObject([
      {},
      {
        "local-exec": {
          when: "destroy",
          interpreter: ["node", "${self.input.program}", "lab", "down", "--name"],
          command: "${self.input.lab}",
        },
      },
    ]);
  });

  it("is tagged in its input, keeps it, and is compared with it in every plan", () => {
    expect(machine?.input).toHaveProperty("konnectivity-bootstrap-made-of");
    expect(machine?.lifecycle).toMatchObject({ ignore_changes: ["input"] });
    expect(Object.keys(stack.check)).toEqual(["machine_has_this_payload", "machine_is_as_configured"]);
  });
});
