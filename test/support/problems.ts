import { expect, it } from "vitest";
import { UserError, type Problem, type ProblemCode } from "../../src/core/errors.ts";
import { phrasesIn } from "./prose.ts";

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

/** Problems that only a running lab can have, or one that is about to run. */
export const labProblems = [
  "machine-not-there",
  "machine-removed",
  "ignition-refuses",
  "installer-refuses",
  "lab-stuck",
] as const satisfies ProblemCode[];

/** The problems that an action reports; nothing else may come out of it. */
export async function provoke(act: () => unknown): Promise<readonly Problem[]> {
  try {
    await act();
  } catch (error) {
    // Anything else would reach the user as a stack trace.
    expect(error).toBeInstanceOf(UserError);
    return (error as UserError).problems;
  }
  return [];
}

/** For problems by their name, actions that report them. */
export type ErrorCases = Readonly<Record<string, readonly (() => unknown)[]>>;

/** Tests that each action reports its problem, and every problem in a good sentence. */
export function testErrorCases(errorCases: ErrorCases): void {
  const cases = Object.entries(errorCases).flatMap(([code, acts]) =>
    acts.map((act, index) => {
      let found: ReturnType<typeof provoke> | undefined;
      // Some take seconds: once is enough.
      return { code, index, provoked: () => (found ??= provoke(act)) };
    }),
  );

  it.each(cases)("is reported: $code ($index)", async ({ code, provoked }) => {
    expect((await provoked()).map((found) => found.code)).toContain(code);
  });

  it.each(cases)("is one good sentence: $code ($index)", async ({ provoked }) => {
    for (const found of await provoked()) expectGoodSentence(found);
  });
}

function expectGoodSentence({ code, message }: Problem): void {
  expect(message, "one line").not.toMatch(/[\n\r]/);
  expect(message, "a period at the end, and no other sign before it").toMatch(/[\w)\]"'`…]\.$/);
  expect(message, "a capital, a path, an option or what was found at the start").toMatch(
    /^(?:[A-Z]|--[a-z]|"|[\w/[][\w./[\]-]*[ :])/,
  );
  expect(message, "nothing left out between two signs").not.toMatch(/[;:,(] ?[.;:,]| {2}/);
  expect(phrasesIn([{ where: code, text: message }]), "plain English").toEqual([]);
  expect(message).not.toMatch(/undefined|\[object|\bat .*:\d+:\d+|TypeError|YAML\./);
}
