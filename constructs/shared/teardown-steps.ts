import type { StepProgram } from "./destroy-step.ts";

/** How the destroy steps of a stack call `teardown`. */
export interface TeardownSteps extends StepProgram {
  /** Arguments that name the config file, like `--config konnectivity.yaml`. Empty without a config file. */
  readonly configArguments: readonly string[];
}

/** The arguments of a step, like `teardown gate --config konnectivity.yaml aws`. */
export function teardownArguments(
  step: "gate" | "sweep" | "report",
  platform: string,
  { configArguments }: Pick<TeardownSteps, "configArguments">,
  ...options: readonly string[]
): [string, ...string[]] {
  return ["teardown", step, ...options, ...configArguments, platform];
}
