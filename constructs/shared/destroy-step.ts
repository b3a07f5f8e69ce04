import { relative } from "node:path";
import { DataResource, type ITerraformDependable, type LocalExecProvisioner } from "cdktf";
import { Construct } from "constructs";
import { literal } from "../../src/core/terraform-literal.ts";
import { stackFolder } from "./stack-folder.ts";

/** The program that destroy steps run. Both paths are absolute here and relative in the Terraform code, so that the tree can move. */
export interface StepProgram {
  /** The program's file, which Node.js runs. */
  readonly program: string;
  /** The operator's working directory: relative paths in the environment start there. */
  readonly workingDirectory: string;
}

export interface DestroyStepProps extends StepProgram {
  /** The program's arguments. */
  readonly command: readonly [string, ...string[]];
  /** Steps that run after this one when everything is destroyed. @default - none */
  readonly before?: readonly ITerraformDependable[];
  /** Whether the destroy continues if the program fails. @default false */
  readonly continueOnFailure?: boolean;
  /** Files to delete after the program has run, relative to the stack's folder. @default - none */
  readonly cleanupFiles?: readonly string[];
}

/**
 * Runs a command when it is destroyed, and at no other time: it has no `triggers_replace`, which would run the command
 * during a deploy. Terraform takes the command from the current configuration, not from the state.
 */
export class DestroyStep extends Construct {
  readonly resource: DataResource;

  constructor(scope: Construct, id: string, props: DestroyStepProps) {
    super(scope, id);
    const { command, program, workingDirectory, before = [], continueOnFailure = false, cleanupFiles = [] } = props;
    // Paths may look like Terraform expressions.
    const words = command.map((word) => literal(word, "An argument of a destroy step"));
    const last = words.pop() ?? "";
    this.resource = new DataResource(this, "Default", {
      input: { step: id },
      dependsOn: [...before],
      provisioners: [
        {
          type: "local-exec",
          when: "destroy",
          workingDir: literal(relative(stackFolder(this), workingDirectory), "The path of the working directory"),
          // Terraform appends the command to the interpreter's words: no shell is involved.
          interpreter: [
            "node",
            literal(relative(workingDirectory, program), "The path of konnectivity-bootstrap"),
            ...words,
          ],
          command: last,
        },
        ...(cleanupFiles.length === 0 ? [] : [cleanup(cleanupFiles)]),
      ],
    });
    // The cdktf bindings do not have on_failure.
    if (continueOnFailure) this.resource.addOverride("provisioner.0.local-exec.on_failure", "continue");
  }
}

const cleanup = (files: readonly string[]): LocalExecProvisioner => ({
  type: "local-exec",
  when: "destroy",
  interpreter: ["node", "-e"],
  command: "for (const file of JSON.parse(process.env.FILES)) require('node:fs').rmSync(file, { force: true })",
  environment: { FILES: literal(JSON.stringify(files), "The list of files that a destroy removes") },
});
