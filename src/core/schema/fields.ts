import { z } from "zod";
import { isNetworkStart } from "../addresses.ts";

/** Kinds of values in config files. Each describes what it expects; the error message ends with that. */

export const oneOf = <const T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values, { error: values.join(" or ") });

export const integer = (from: number, to: number) => {
  const error = `a whole number from ${from} to ${to}`;
  return z.int({ error }).min(from, { error }).max(to, { error });
};

export const boolean = () => z.boolean({ error: "true or false" });

export const pattern = (expected: string, pattern: RegExp) =>
  z.string({ error: expected }).regex(pattern, { error: expected });

export const text = (expected: string) => z.string({ error: expected }).min(1, { error: expected });

/** A network by its first address: clouds store any other form in this one, so Terraform would see a difference in every plan. */
export const network = () => {
  const error = "a network with its first address, like 10.0.0.0/16 or fd00::/48";
  return z.string({ error }).refine(isNetworkStart, { error });
};
