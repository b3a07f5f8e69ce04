import { DataResource, dependable, type ITerraformDependable } from "cdktf";
import { Construct } from "constructs";

export interface WaitProps {
  readonly seconds: number;
  /** What the wait begins after. If one of them is made anew, the wait is too. */
  readonly dependsOn: readonly ITerraformDependable[];
}

/** Time for a new permission to spread through the cloud: Ignition gives up on the first refusal. */
export class Wait extends Construct {
  readonly done: ITerraformDependable;

  constructor(scope: Construct, id: string, props: WaitProps) {
    super(scope, id);
    const { seconds, dependsOn } = props;
    this.done = new DataResource(this, "Default", {
      provisioners: [
        {
          type: "local-exec",
          // Node is there wherever this stack was made from; `sleep` is not on Windows.
          interpreter: ["node", "-e"],
          command: "setTimeout(() => {}, 1000 * Number(process.env.WAIT_SECONDS))",
          environment: { WAIT_SECONDS: String(seconds) },
        },
      ],
      lifecycle: { replaceTriggeredBy: dependsOn.map(dependable) },
      dependsOn: [...dependsOn],
    });
  }
}
