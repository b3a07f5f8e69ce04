/**
 * What a terminal obeys or hides, in Unicode's words: control characters (C0, DEL, C1), format characters (bidirectional
 * ones, zero-width ones, tags) and separators of lines and paragraphs.
 */
const obeyed = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const escaped = (text: string, kept: string) =>
  text.replaceAll(obeyed, (found) => (kept.includes(found) ? found : escapeOf(found)));

/** As JSON spells it: outside its first 65,536 characters Unicode's have two parts. */
const escapeOf = (character: string) =>
  character
    .split("")
    .map((part) => `\\u${part.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

/**
 * A text that may hold others' words, to be printed: characters that a terminal obeys are written as \uXXXX. Lines and
 * tabs stay. In JSON the same escapes mean the same characters.
 */
export const printable = (text: string) => escaped(text, "\n\t");

/** The same for a part of a line: others' words begin no line that looks like one of ours. */
export const oneLine = (text: string) => escaped(text, "\t");

/** Lines of ours, with others' words in them. */
export const inLines = (lines: readonly string[]) => lines.map((line) => `${oneLine(line)}\n`).join("");
