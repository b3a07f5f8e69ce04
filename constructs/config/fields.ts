import { z } from "zod";

/** Kinds of values that config files hold. Each says what it expects: that is the second half of the error's sentence. */

export const oneOf = <const T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values, { error: values.join(" or ") });

export const wholeNumber = (from: number, to: number) => {
  const error = `a whole number from ${from} to ${to}`;
  return z.int({ error }).min(from, { error }).max(to, { error });
};

export const yesOrNo = () => z.boolean({ error: "true or false" });

export const textLike = (expected: string, pattern: RegExp) =>
  z.string({ error: expected }).regex(pattern, { error: expected });
