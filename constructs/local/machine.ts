import { relative } from "node:path";
import { DataResource } from "cdktf";
import { Construct } from "constructs";
import { literal } from "../../src/core/terraform-literal.ts";
import { stackFolder } from "../shared/stack-folder.ts";
import type { MachineSpec } from "./machine-spec.ts";

export interface MachineProps {
  readonly spec: MachineSpec;
  /** The command-line program, which creates and deletes the lab. Absolute. */
  readonly program: string;
}

/** The lab: created and destroyed with this construct. */
export class Machine extends Construct {
  readonly machineId: string;

  constructor(scope: Construct, id: string, props: MachineProps) {
    super(scope, id);
    const { spec } = props;
    const { lab, nodes, ipFamily, ipi } = spec.options;
    const program = literal(relative(stackFolder(this), props.program), "The path of konnectivity-bootstrap");
    const machine = new DataResource(this, "Default", {
      input: { lab, program, ...spec.tag },
      lifecycle: spec.lifecycle(["input"]),
      provisioners: [
        {
          type: "local-exec",
          interpreter: [
            ...["node", program, "lab", "up", `--name=${lab}`, `--nodes=${nodes}`, `--ip-family=${ipFamily}`],
            ...(ipi ? ["--ipi"] : []),
            "--payload",
          ],
          command: spec.payload.name,
        },
        // A destroy-time provisioner can refer to `self` only. The values are those in the state, so the program's file must
        // stay where 0.1.0 had it.
        {
          type: "local-exec",
          when: "destroy",
          interpreter: ["node", "${self.input.program}", "lab", "down", "--name"],
          command: "${self.input.lab}",
        },
      ],
    });
    spec.checkDriftOf(machine, "input");
    this.machineId = machine.id;
  }
}
