import { type App, TerraformStack } from "cdktf";
import type { Inputs } from "./inputs.ts";
import type { Platform } from "../src/config/platform.ts";
import { addStateBackend } from "../constructs/shared/state-backend.ts";
import { configOf, gateStep, stepOf } from "../constructs/shared/command-line.ts";
import { DestroyStep } from "../constructs/shared/destroy-step.ts";
import { requiredTerraform } from "./bootstrap-stack.ts";

/**
 * <platform>-teardown: stands in front of the bootstrap stack, so that destroying takes it first. Destroying it asks the
 * cluster whether it still needs the machine, and stops everything if so; then it takes the agents out of the cluster. It holds
 * literals only: a reference to the other stack could not be followed when that is gone.
 */
export class TeardownStack extends TerraformStack {
  constructor(scope: App, platform: Platform | "local", inputs: Inputs, bootstrap: TerraformStack) {
    super(scope, `${platform}-teardown`);
    this.addDependency(bootstrap);
    addStateBackend(this, inputs);
    this.addOverride("terraform.required_version", requiredTerraform);
    const sweep = new DestroyStep(this, "sweep", {
      ...stepOf(this, inputs),
      command: ["teardown", "sweep", ...configOf(inputs), platform],
      continueOnFailure: true,
    });
    new DestroyStep(this, "gate", {
      ...gateStep(this, platform, inputs),
      before: [sweep.resource],
    });
  }
}
