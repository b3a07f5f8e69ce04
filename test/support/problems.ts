import { UserError, type Problem } from "../../src/core/errors.ts";

/** The problems with which an action is refused; none if it goes through. Anything else that it throws is a bug. */
export function problemsOf(action: () => unknown): readonly Problem[] {
  try {
    action();
  } catch (error) {
    if (error instanceof UserError) return error.problems;
    throw error;
  }
  return [];
}
