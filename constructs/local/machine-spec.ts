import type { Construct } from "constructs";
import type { LabLayout } from "../../src/core/lab-layout.ts";
import { MachineSpec as SharedMachineSpec, type PlatformMachineSpecProps } from "../shared/machine-spec.ts";

/** What a lab keeps for its lifetime. */
export interface MachineOptions extends LabLayout {
  /** The lab's name. */
  readonly lab: string;
}

/** The lab's spec. */
export class MachineSpec extends SharedMachineSpec {
  readonly options: MachineOptions;

  constructor(scope: Construct, id: string, props: PlatformMachineSpecProps<MachineOptions>) {
    const { options } = props;
    super(scope, id, {
      ...props,
      parts: { lab: options.lab, nodes: options.nodes, ipFamily: options.ipFamily },
      ...(options.ipi && { laterParts: { ipi: true } }),
    });
    this.options = options;
  }
}
