import { inspect } from "node:util";
import { loadStackClasses, synthesize } from "./stacks/app.ts";
import { build } from "./stacks/build.ts";
import { environmentAdvice, findConfigFile, load } from "./stacks/load.ts";
import { resolve } from "./stacks/resolve.ts";
import { isUnderCdktf, terraformWarnings } from "./stacks/terraform-program.ts";
import { describeProblem, UserError, type Warning } from "./src/core/errors.ts";
import { oneLine, printable } from "./src/core/printable.ts";
import { packageProblem } from "./src/runtime/packages.js";

/** Config in, a bootstrap stack and a teardown stack for each of its platforms out. */
async function main(): Promise<void> {
  const loaded = load(findConfigFile(process.env), { configAdvice: environmentAdvice(process.env) });
  const built = build(loaded, new Date());
  const resolved = resolve(loaded, built);
  const inputs = { ...resolved, warnings: [...terraformWarnings(process.env), ...resolved.warnings] };
  printWarnings(inputs.warnings);
  const notes = synthesize(inputs, await loadStackClasses(Object.keys(inputs.platforms)));
  if (!isUnderCdktf(process.env)) for (const note of notes) console.error(oneLine(note));
}

function printWarnings(warnings: readonly Warning[]): void {
  // The cdktf command prints the stacks' annotations, which are the same, and shows whatever is written to stderr here as
  // an error.
  if (isUnderCdktf(process.env)) return;
  for (const { message } of warnings) console.error(`warning: ${oneLine(message)}`);
}

main().catch((error: unknown) => {
  // The stack of a platform is loaded on demand, and with it the npm package of its provider.
  const sentences =
    error instanceof UserError ? error.problems.map(describeProblem) : [packageProblem(error) ?? []].flat();
  for (const sentence of sentences) console.error(`error: ${oneLine(sentence)}`);
  if (sentences.length === 0) console.error(printable(inspect(error)));
  process.exitCode = 1;
});
