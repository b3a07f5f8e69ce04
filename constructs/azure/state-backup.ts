import { DataResource, type ITerraformDependable } from "cdktf";
import { Construct } from "constructs";

export interface StateBackupProps {
  /** The backup, from the stack's folder. @default - the state is not local */
  readonly file?: string;
}

/**
 * Removes the backup that Terraform keeps beside a local state, and a plan that `cdktf diff` left: after a destroy they
 * would still hold every secret of the state before. What holds secrets comes after this, so that this is destroyed last.
 */
export class StateBackup extends Construct {
  readonly removedLast: ITerraformDependable;

  constructor(scope: Construct, id: string, props: StateBackupProps) {
    super(scope, id);
    this.removedLast = new DataResource(this, "Default", {
      provisioners: [
        {
          type: "local-exec",
          when: "destroy",
          interpreter: ["node", "-e"],
          command: "for (const file of process.env.FILES.split(':')) require('node:fs').rmSync(file, { force: true })",
          // Of today's description, not of the state: the folders may be others by now.
          environment: { FILES: [...(props.file === undefined ? [] : [props.file]), "plan"].join(":") },
        },
      ],
    });
  }
}
