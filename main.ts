import { inspect } from "node:util";
import { configFileIfThere, readInputs } from "./stacks/inputs.ts";
import { oneLine, printable } from "./src/core/printable.ts";
import { UserError } from "./src/core/errors.ts";
import { synthesize } from "./stacks/app.ts";

/** Config in, one stack pair per configured platform out. */
try {
  const inputs = readInputs(configFileIfThere(process.env), new Date());
  // The cdktf command sets this variable. It prints the stacks' annotations, which are the same, and shows as an error what
  // is written to stderr here.
  if (process.env.CDKTF_CONTINUE_SYNTH_ON_ERROR_ANNOTATIONS === undefined)
    for (const { message } of inputs.warnings) console.error(`warning: ${oneLine(message)}`);
  synthesize(inputs);
} catch (error) {
  if (error instanceof UserError) for (const { message } of error.problems) console.error(`error: ${oneLine(message)}`);
  else console.error(printable(inspect(error)));
  process.exitCode = 1;
}
