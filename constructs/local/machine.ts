import { DataResource } from "cdktf";
import { Construct } from "constructs";
import type { LabLayout } from "../../src/core/lab-layout.ts";
import type { PayloadFile } from "../shared/payload-file.ts";
import { literal } from "../../src/core/terraform-literal.ts";

export interface MachineProps extends LabLayout {
  /** The lab's name. */
  readonly lab: string;
  /** The command line's program, from the stack's folder. */
  readonly program: string;
  readonly payload: PayloadFile;
}

/** The lab: made when this is, and gone when this is. */
export class Machine extends Construct {
  readonly machineId: string;

  constructor(scope: Construct, id: string, props: MachineProps) {
    super(scope, id);
    const { lab, nodes, ipFamily, payload } = props;
    const program = literal(props.program, "The way to the command line's program");
    payload.machineIsMadeOf({ lab, nodes, ipFamily });
    const machine = new DataResource(this, "Default", {
      input: { lab, program, ...payload.record },
      lifecycle: payload.lifecycle(["input"]),
      provisioners: [
        {
          type: "local-exec",
          interpreter: [
            ...["node", program, "lab", "up", `--name=${lab}`, `--nodes=${nodes}`, `--ip-family=${ipFamily}`],
            "--payload",
          ],
          command: payload.name,
        },
        // A destroy-time step may refer to itself only: the state says what was made.
        {
          type: "local-exec",
          when: "destroy",
          interpreter: ["node", "${self.input.program}", "lab", "down", "--name"],
          command: "${self.input.lab}",
        },
      ],
    });
    payload.watch(machine, "input");
    this.machineId = machine.id;
  }
}
