import { UserError, problem } from "./errors.ts";

/** How a template begins in Terraform. */
const template = /[$%]\{/;

/** Whether Terraform would read a part of this text as an expression. */
export const hasTemplate = (text: string) => template.test(text);

/**
 * A text as Terraform code that means just this text. For texts from outside that can contain anything, such as paths; names
 * of cloud resources are checked instead.
 * @param what describes the text in the error
 */
export function literal(text: string, what: string): string {
  if (confusesCdktf(text)) throw refusal(text, what);
  return text.replaceAll(new RegExp(template, "g"), (found) => `${found[0] ?? ""}${found}`);
}

/**
 * A text for a place that Terraform reads as it is: its backend block. OpenTofu evaluates templates there, so that no
 * spelling of one means the same to both.
 */
export function plainLiteral(text: string, what: string): string {
  if (hasTemplate(text) || confusesCdktf(text)) throw refusal(text, what);
  return text;
}

const refusal = (text: string, what: string) =>
  new UserError(problem("template-refused", { what, found: JSON.stringify(text) }));

/**
 * cdktf looks for tokens of its own in every text, also behind an escape: by their name, and by a number that stands for
 * one. If a text has a "${" without its "}", cdktf takes tokens behind it for parts of that expression.
 */
function confusesCdktf(text: string): boolean {
  let open = 0;
  for (const [found] of text.matchAll(/\$\{|\}/g)) open = found === "}" ? Math.max(0, open - 1) : open + 1;
  return open > 0 || /TfToken\[|e\+289/i.test(text);
}

/**
 * The last check of synthesized code: templates that come from outside and are not escaped.
 * @param outside texts that are meant as they are, in any structure
 * @param code a stack's code, parsed
 */
export function templatesLeft(outside: unknown, code: unknown): string[] {
  // Each up to the next, or to a character that is another one in a part of a path or in quotes.
  const starts = textsIn(outside).flatMap((text) => text.match(/[$%]\{[^/'"\\$%]{0,40}/g) ?? []);
  if (starts.length === 0) return [];
  const texts = textsIn(code);
  const isLeft = (start: string) =>
    texts.some((text) => {
      for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + 1))
        if (text[at - 1] !== start[0]) return true;
      return false;
    });
  return [...new Set(starts)].filter(isLeft);
}

/** Every text in a value, names included. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => [key, ...textsIn(part)]);
}
