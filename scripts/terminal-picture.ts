/** A terminal's text as a still picture: an SVG without scripts and fonts of its own, as GitHub shows it. */

const columns = 100;
const line = 18;
const character = 7.9;
const padding = 16;

/** Breaks a line at spaces; what follows begins below the text of the first line. */
export function wrap(text: string, width: number = columns): string[] {
  const hanging = " ".repeat(/^ *[\d.]+ s {2}(?:[✓✗] )?|^ */.exec(text)?.[0].length ?? 0);
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const end = rest.lastIndexOf(" ", width);
    const at = end > hanging.length ? end : width;
    lines.push(rest.slice(0, at));
    rest = hanging + rest.slice(at).trimStart();
  }
  return [...lines, rest];
}

const colours = { background: "#0d1117", text: "#e6edf3", dim: "#8b949e", right: "#3fb950", wrong: "#f85149" };

const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
/** Browsers collapse ordinary spaces in SVG. */
const unbroken = (text: string) => escape(text).replaceAll(" ", "\u00a0");
const span = (fill: string, text: string, weight = "normal") =>
  `<tspan fill="${fill}"${weight === "normal" ? "" : ` font-weight="${weight}"`}>${unbroken(text)}</tspan>`;

/** The parts of a line in their colours: the time, a verdict, a command, a heading. */
function painted(text: string): string {
  const [, time, verdict, rest] = /^( *[\d.]+ s {2})?([✓✗] )?(.*)$/s.exec(text) ?? [];
  if (time === undefined && text.startsWith("$ "))
    return span(colours.dim, "$ ") + span(colours.text, text.slice(2), "bold");
  if (time === undefined && /^\S/.test(text)) return span(colours.text, text, "bold");
  return [
    ...(time === undefined ? [] : [span(colours.dim, time)]),
    ...(verdict === undefined ? [] : [span(verdict.startsWith("✓") ? colours.right : colours.wrong, verdict)]),
    span(colours.text, rest ?? ""),
  ].join("");
}

export function terminalPicture(transcript: string, title: string): string {
  const lines = transcript
    .trimEnd()
    .split("\n")
    .flatMap((text) => wrap(text));
  const width = Math.ceil(columns * character + 2 * padding);
  const height = lines.length * line + 2 * padding;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(width)} ${String(height)}" role="img" aria-label="${escape(title)}">`,
    `<title>${escape(title)}</title>`,
    `<rect width="${String(width)}" height="${String(height)}" rx="8" fill="${colours.background}"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13">`,
    ...lines.map(
      (text, index) =>
        `<text x="${String(padding)}" y="${String(padding + 13 + index * line)}">${painted(text)}</text>`,
    ),
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}
