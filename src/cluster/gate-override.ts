import { UserError, problem } from "../core/errors.ts";

/** Opens the gate whatever the cluster says. Its value is the reason, which is printed. */
export const gateVariable = "KONNECTIVITY_OPEN_GATE";

/** The reason why the gate is open. @returns undefined if the cluster decides */
export function gateOverride(env: NodeJS.ProcessEnv): string | undefined {
  const reason = env[gateVariable];
  if (reason?.trim() === "") throw new UserError(problem("gate-reason-missing", { variable: gateVariable }));
  return reason;
}
