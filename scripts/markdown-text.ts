/** The longest line of a generated page. */
const longestLine = 120;

/**
 * Breaks a text into lines at white space. A word that is longer than a line is not broken.
 * @param first before the first line, for example "- "
 * @param rest before each further line
 */
export function wrap(text: string, first = "", rest = ""): string {
  const [begin = "", ...words] = text.trim().split(/\s+/);
  const lines = [`${first}${begin}`];
  for (const word of words) {
    const line = `${lines.at(-1) ?? ""} ${word}`;
    if (line.length <= longestLine) lines[lines.length - 1] = line;
    else lines.push(`${rest}${word}`);
  }
  return lines.join("\n");
}
