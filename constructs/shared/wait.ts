import { DataResource, dependable, type ITerraformDependable } from "cdktf";
import { Construct } from "constructs";

export interface WaitProps {
  readonly seconds: number;
  /** What the wait starts after. If one of them is replaced, so is the wait. */
  readonly dependsOn: readonly ITerraformDependable[];
}

/** Waits until a new permission has propagated through the cloud: Ignition gives up on the first refusal. */
export class Wait extends Construct {
  readonly done: ITerraformDependable;

  constructor(scope: Construct, id: string, props: WaitProps) {
    super(scope, id);
    const { seconds, dependsOn } = props;
    this.done = new DataResource(this, "Default", {
      provisioners: [
        {
          type: "local-exec",
          // Every machine that can synthesize the stack has Node.js; Windows has no `sleep`.
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
