import { TerraformStack } from "cdktf";
import type { Construct } from "constructs";
import { DestroyStep } from "../constructs/shared/destroy-step.ts";
import { addStateBackend, type StateBackendProps } from "../constructs/shared/state-backend.ts";
import { teardownArguments, type TeardownSteps } from "../constructs/shared/teardown-steps.ts";
import { type BootstrapStack, requiredTerraform } from "./bootstrap-stack.ts";

export interface TeardownStackProps {
  /** The stack that is destroyed after this one. */
  readonly bootstrap: BootstrapStack;
  readonly state: StateBackendProps;
  /** How the destroy steps call the command-line program. */
  readonly steps: TeardownSteps;
}

/**
 * <platform>-teardown: cdktf destroys it before the bootstrap stack. Destroying it checks whether the cluster still
 * needs the machine, and stops if it does; then it removes the agents from the cluster. It contains literals only: a reference to
 * the bootstrap stack could not be resolved once that stack's state is empty. It is empty if a destroy has no gate.
 */
export class TeardownStack extends TerraformStack {
  constructor(scope: Construct, id: string, props: TeardownStackProps) {
    super(scope, id);
    const { bootstrap, state, steps } = props;
    this.addDependency(bootstrap);
    addStateBackend(this, state);
    this.addOverride("terraform.required_version", requiredTerraform);
    // Still a stack: one that was deployed with steps loses them, without running them, when it is deployed again.
    if (!bootstrap.gated) return;
    const sweep = new DestroyStep(this, "sweep", {
      ...steps,
      command: teardownArguments("sweep", bootstrap.platform, steps),
      continueOnFailure: true,
    });
    new DestroyStep(this, "gate", {
      ...steps,
      command: teardownArguments("gate", bootstrap.platform, steps),
      before: [sweep.resource],
    });
  }
}
