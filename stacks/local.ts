import { TerraformOutput } from "cdktf";
import type { Construct } from "constructs";
import type { LocalInputs } from "../constructs/local/config.ts";
import { MachineSpec } from "../constructs/local/machine-spec.ts";
import { Machine } from "../constructs/local/machine.ts";
import { BootstrapStack, type BootstrapStackProps } from "./bootstrap-stack.ts";

export interface LocalBootstrapStackProps extends BootstrapStackProps {
  readonly local: LocalInputs;
}

/** local-bootstrap: the same payload in a lab of real programs on this machine. It needs no provider and no network. */
export class LocalBootstrapStack extends BootstrapStack {
  constructor(scope: Construct, id: string, props: LocalBootstrapStackProps) {
    const { local, replaceMachine, steps } = props;
    super(scope, id, { ...props, platform: "local", gated: !local.ipi });
    const spec = new MachineSpec(this, "machine-spec", {
      payload: this.payload,
      replaceMachine,
      options: { lab: local.name, nodes: local.nodes, ipFamily: local.ipFamily, ipi: local.ipi },
    });
    new Machine(this, "machine", { spec, program: steps.program });
    const outputs = {
      look_around: [
        `npx konnectivity-bootstrap lab enter --name=${local.name} bootstrap`,
        "A shell on the bootstrap machine; the others are node-0 and so on",
      ],
      teardown: ["npx cdktf destroy 'local-*'", "Takes the lab away"],
    } as const;
    for (const [outputId, [value, description]] of Object.entries(outputs))
      new TerraformOutput(this, outputId, { value, description });
  }
}
