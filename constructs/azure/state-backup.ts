import { DataResource, type ITerraformDependable } from "cdktf";
import { Construct } from "constructs";

export interface StateBackupProps {
  /** From the stack's folder. */
  readonly file: string;
}

/**
 * Removes the backup that Terraform keeps beside a local state: after a destroy it would still hold every secret of the
 * state before. What holds secrets comes after this, so that this is destroyed last.
 */
export class StateBackup extends Construct {
  readonly removedLast: ITerraformDependable;

  constructor(scope: Construct, id: string, props: StateBackupProps) {
    super(scope, id);
    const removal = new DataResource(this, "Default", {
      input: { file: props.file },
      provisioners: [
        {
          type: "local-exec",
          when: "destroy",
          interpreter: ["node", "-e"],
          command: "require('node:fs').rmSync(process.env.STATE_BACKUP, { force: true })",
          environment: { STATE_BACKUP: "${self.input.file}" },
        },
      ],
    });
    this.removedLast = removal;
  }
}
