import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Warning } from "../src/core/errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The program that cdktf runs. */
export const terraformProgram = (environment: Environment) => {
  const { TERRAFORM_BINARY_NAME: name } = environment;
  return name === undefined || name === "" ? "terraform" : name;
};

/** Whether the cdktf command runs the app; it sets this variable. */
export const isUnderCdktf = (environment: Environment) =>
  environment.CDKTF_CONTINUE_SYNTH_ON_ERROR_ANNOTATIONS !== undefined;

/** A program's file. @returns undefined if it cannot be started by this name */
export function findProgram(name: string, { PATH = "" }: Environment): string | undefined {
  const files = name.includes("/") ? [name] : PATH.split(delimiter).map((folder) => join(folder, name));
  return files.find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The first version with S3 lock files, of Terraform and of OpenTofu. */
export const oldestTerraform = "1.10.0";

/** How to get Terraform or OpenTofu. */
export const terraformAdvice = `install Terraform ${oldestTerraform.replace(/\.0$/, "")} or newer, or OpenTofu and set TERRAFORM_BINARY_NAME=tofu`;

/**
 * The cdktf command fails with "execvp(3) failed" if there is no Terraform. A synth needs none, and the app cannot know
 * whether a deploy follows, so that this is a warning.
 */
export function terraformWarnings(environment: Environment): Warning[] {
  const program = terraformProgram(environment);
  if (!isUnderCdktf(environment) || findProgram(program, environment) !== undefined) return [];
  return [
    {
      code: "terraform-missing",
      message: `The program ${program}, which a deploy and a destroy need, is not on the PATH: ${terraformAdvice}.`,
    },
  ];
}
