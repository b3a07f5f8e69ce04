import { UserError, problem } from "./errors.ts";

/** Multiplies the time limits of the lab and of requests to a cluster, for machines that are much slower than usual. */
export const timeoutVariable = "KONNECTIVITY_TIMEOUT_FACTOR";

/** The time limit multiplied by the factor, in the unit in which it is given. */
export const timeLimit = (usual: number): number => usual * timeoutFactor();

/** 1 unless the variable has another value. */
export function timeoutFactor(): number {
  const text = process.env[timeoutVariable] ?? "";
  // An empty variable counts as none.
  if (text === "") return 1;
  if (!/^[1-9]\d?$|^100$/.test(text))
    throw new UserError(problem("timeout-factor-invalid", { variable: timeoutVariable, found: JSON.stringify(text) }));
  return Number(text);
}

/** For programs in the lab's machines, which have an environment of their own. */
export const timeoutEnvironment = (): Record<string, string> => ({ [timeoutVariable]: String(timeoutFactor()) });
