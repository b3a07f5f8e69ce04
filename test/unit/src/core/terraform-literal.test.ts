import { expect, it } from "vitest";
import { literal } from "../../../../src/core/terraform-literal.ts";
import { literalTexts } from "../../../support/literals.ts";

it.each(literalTexts)("a literal of %j doubles the sign before each brace, and nothing else", (text) => {
  expect(literal(text, "it")).toBe(text.replaceAll(/([$%])\{/g, (_, sign: string) => `${sign}${sign}{`));
});
