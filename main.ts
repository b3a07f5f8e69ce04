import { configFileOf, readInputs } from "./constructs/config/inputs.ts";
import { InputError } from "./constructs/problems.ts";
import { synthesize } from "./stacks/app.ts";

/** Config in, one stack pair per configured platform out. */
try {
  synthesize(readInputs(configFileOf(process.env), new Date()));
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  for (const { message } of error.problems) console.error(`error: ${message}`);
  process.exitCode = 1;
}
