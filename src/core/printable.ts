/**
 * Characters that a terminal acts on or hides, by Unicode category: control characters (C0, DEL, C1), format characters (bidirectional
 * ones, zero-width ones, tags) and separators of lines and paragraphs.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const escaped = (text: string, kept: string) =>
  text.replaceAll(unsafe, (found) => (kept.includes(found) ? found : escapeOf(found)));

/** As in JSON: a character beyond U+FFFF is written as two UTF-16 units. */
const escapeOf = (character: string) =>
  character
    .split("")
    .map((part) => `\\u${part.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

/**
 * Text from outside, safe to print: characters that a terminal acts on become \uXXXX, except newlines and tabs. JSON
 * stays valid, because the escapes mean the same characters there.
 */
export const printable = (text: string) => escaped(text, "\n\t");

/** The same for a part of a line: text from outside cannot start a new line. */
export const oneLine = (text: string) => escaped(text, "\t");

/** Joins lines that may contain text from outside. */
export const inLines = (lines: readonly string[]) => lines.map((line) => `${oneLine(line)}\n`).join("");
