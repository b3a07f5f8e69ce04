import { build } from "./build.ts";
import { load, type LoadOptions } from "./load.ts";
import { type Inputs, resolve } from "./resolve.ts";

/** load → build → resolve: everything that the stacks are made from, or every problem with it. */
export function readInputs(file: string | undefined, now: Date, options?: LoadOptions): Inputs {
  const loaded = load(file, options);
  return resolve(loaded, build(loaded, now));
}
