import { relative, resolve } from "node:path";
import { App, Manifest, type TerraformStack } from "cdktf";
import type { Inputs } from "../../stacks/inputs.ts";
import type { Platform } from "../../src/config/platform.ts";
import { program } from "../../src/runtime/program.ts";
import { shellWord } from "../../src/core/shell-word.ts";
import type { DestroyStepProps } from "./destroy-step.ts";

/** How a stack's steps find the command line and the operator's folder, from wherever the tree is. */
export function stepOf(stack: TerraformStack, { workingDirectory }: Pick<Inputs, "workingDirectory">) {
  const folder = resolve(App.of(stack).outdir, Manifest.stacksFolder, stack.node.id);
  return {
    program: relative(workingDirectory, program),
    workingDirectory: relative(folder, workingDirectory),
  };
}

/**
 * Asks the cluster whether it still needs its bootstrap machine.
 * @param options of the command, beside the config file
 */
export function gateStep(
  stack: TerraformStack,
  platform: Platform | "local",
  inputs: Inputs,
  ...options: string[]
): DestroyStepProps {
  return { ...stepOf(stack, inputs), command: ["teardown", "gate", ...options, ...configOf(inputs), platform] };
}

/** In front of a command line of the cdktf command, so that it finds the config file. */
export function configPrefix({
  configFile,
  workingDirectory,
}: Pick<Inputs, "configFile" | "workingDirectory">): string {
  const file = configFile === undefined ? "" : relative(workingDirectory, configFile);
  return file === "" || file === "konnectivity.yaml" ? "" : `KONNECTIVITY_CONFIG=${shellWord(file)} `;
}

/** Names the config file to a step, if there is one. */
export function configOf({ configFile, workingDirectory }: Pick<Inputs, "configFile" | "workingDirectory">): string[] {
  return configFile === undefined ? [] : ["--config", relative(workingDirectory, configFile)];
}
