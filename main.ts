import { configFileIfThere, readInputs } from "./constructs/config/inputs.ts";
import { InputError } from "./constructs/problems.ts";
import { synthesize } from "./stacks/app.ts";

/** Config in, one stack pair per configured platform out. */
try {
  synthesize(readInputs(configFileIfThere(process.env), new Date()));
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  for (const { message } of error.problems) console.error(`error: ${message}`);
  process.exitCode = 1;
}
