import { Aspects, TerraformResource, TerraformStack } from "cdktf";
import type { Construct } from "constructs";
import { DestroyStep } from "../constructs/shared/destroy-step.ts";
import { type PayloadContent, PayloadFile, payloadFileName } from "../constructs/shared/payload-file.ts";
import { addStateBackend, localStateBackups, type StateBackendProps } from "../constructs/shared/state-backend.ts";
import { teardownArguments, type TeardownSteps } from "../constructs/shared/teardown-steps.ts";
import { addressOf } from "../constructs/shared/terraform-address.ts";
import { oldestTerraform } from "./terraform-program.ts";

/** What the bootstrap stack of every platform needs. */
export interface BootstrapStackProps {
  readonly payload: PayloadContent;
  /** Whether a changed payload or machine option replaces a running machine. */
  readonly replaceMachine: boolean;
  readonly state: StateBackendProps;
  /** How the destroy steps call the command-line program. */
  readonly steps: TeardownSteps;
}

/** What a platform's class adds. */
interface PlatformBootstrapStackProps extends BootstrapStackProps {
  readonly platform: string;
  /** Whether a destroy runs the gate and the sweep. @default true */
  readonly gated?: boolean;
}

export const requiredTerraform = `>= ${oldestTerraform}`;

/** What the bootstrap stacks of all platforms share: state, destroy steps and payload. */
export abstract class BootstrapStack extends TerraformStack {
  readonly platform: string;
  readonly payload: PayloadFile;
  /** Whether a destroy runs the gate and the sweep. */
  readonly gated: boolean;

  constructor(scope: Construct, id: string, props: PlatformBootstrapStackProps) {
    super(scope, id);
    this.platform = props.platform;
    this.gated = props.gated ?? true;
    addStateBackend(this, props.state);
    this.addOverride("terraform.required_version", requiredTerraform);
    const report = this.#addDestroySteps(props);
    this.payload = new PayloadFile(this, "payload", { content: props.payload });
    const { examplePreconditions } = this.payload;
    if (examplePreconditions.length > 0) report.lifecycle = { precondition: examplePreconditions };
  }

  /**
   * A destroy starts with the gate here too: after Ctrl-C in the teardown stack, the cdktf command continues with this one. It
   * ends with the report of what is left, and then deletes the files with secrets: the payload, a plan that `cdktf diff`
   * saved, and the backup of the state.
   * @returns the report's resource, on which all others depend
   */
  #addDestroySteps({ steps, state }: BootstrapStackProps): TerraformResource {
    const { resource: report } = new DestroyStep(this, "report", {
      ...steps,
      command: teardownArguments("report", this.platform, steps, "--last-step"),
      continueOnFailure: true,
      cleanupFiles: [payloadFileName, "plan", ...localStateBackups(this, state)],
    });
    const gate = this.gated
      ? new DestroyStep(this, "gate", {
          ...steps,
          command: teardownArguments("gate", this.platform, steps, "--wait=0"),
        }).resource
      : undefined;
    const addDependency = (from: TerraformResource, to: TerraformResource) => {
      from.dependsOn = [...(from.dependsOn ?? []), addressOf(to)];
    };
    Aspects.of(this).add({
      visit: (node) => {
        // Not instanceof: with CDK Terrain, a provider package can bring its own copy of cdktf.
        if (!TerraformResource.isTerraformResource(node) || node === report) return;
        addDependency(node, report);
        if (gate !== undefined && node !== gate) addDependency(gate, node);
      },
    });
    return report;
  }
}
