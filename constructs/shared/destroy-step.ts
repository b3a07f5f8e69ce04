import { DataResource, type ITerraformDependable, type LocalExecProvisioner } from "cdktf";
import { Construct } from "constructs";
import { literal } from "../../src/core/terraform-literal.ts";

export interface DestroyStepProps {
  /** Words after the command line's name. */
  readonly command: readonly [string, ...string[]];
  /** The command line's program, from the working directory. */
  readonly program: string;
  /** Where the operator is, from the stack's folder: paths in the environment are meant from there. */
  readonly workingDirectory: string;
  /** Steps that come later when everything is destroyed. */
  readonly before?: readonly ITerraformDependable[];
  /** Whether the rest is destroyed although this failed. @default false */
  readonly continueOnFailure?: boolean;
  /** Files that go when the command is done, from the stack's folder. @default - none */
  readonly cleanupFiles?: readonly string[];
}

/** Of today's description, not of the state: the folders may be others by now. */
const removalOf = (files: readonly string[]): LocalExecProvisioner => ({
  type: "local-exec",
  when: "destroy",
  interpreter: ["node", "-e"],
  command: "for (const file of JSON.parse(process.env.FILES)) require('node:fs').rmSync(file, { force: true })",
  environment: { FILES: literal(JSON.stringify(files), "The list of files that a destroy removes") },
});

/**
 * Runs a command of ours when it is destroyed, and at no other time: nothing in it can make Terraform replace it during a
 * deploy. The command is today's, not the state's: Terraform takes it from the description.
 */
export class DestroyStep extends Construct {
  readonly resource: DataResource;

  constructor(scope: Construct, id: string, props: DestroyStepProps) {
    super(scope, id);
    const { command, program, workingDirectory, before = [], continueOnFailure = false, cleanupFiles = [] } = props;
    // No part of it is an expression; paths may look like one.
    const words = command.map((word) => literal(word, "A word of a step's command"));
    const last = words.pop() ?? "";
    this.resource = new DataResource(this, "Default", {
      input: { step: id },
      dependsOn: [...before],
      provisioners: [
        {
          type: "local-exec",
          when: "destroy",
          workingDir: literal(workingDirectory, "The way to the working directory"),
          // No shell: words are passed as they are.
          interpreter: ["node", literal(program, "The way to the command line's program"), ...words],
          command: last,
        },
        ...(cleanupFiles.length === 0 ? [] : [removalOf(cleanupFiles)]),
      ],
    });
    // The bindings do not know it.
    if (continueOnFailure) this.resource.addOverride("provisioner.0.local-exec.on_failure", "continue");
  }
}
