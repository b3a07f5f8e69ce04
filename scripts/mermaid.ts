/** Pictures for docs that are drawn from the code: Mermaid text, and its place in a page. */

/** Nodes by name, each with the names of those that its arrows lead to. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** The arrows of a graph without those that a longer path implies. */
export function arrowsOf(graph: Graph): (readonly [from: string, to: string])[] {
  return [...graph].flatMap(([from, targets]) =>
    [...targets].filter((to) => !isImplied(graph, from, to)).map((to) => [from, to] as const),
  );
}

/** Whether a longer path leads from one node to another: then an arrow between them adds nothing. */
function isImplied(graph: Graph, from: string, to: string): boolean {
  const seen = new Set<string>();
  const next = [...(graph.get(from) ?? [])].filter((node) => node !== to);
  for (let node = next.pop(); node !== undefined; node = next.pop()) {
    if (node === to) return true;
    if (seen.has(node)) continue;
    seen.add(node);
    next.push(...(graph.get(node) ?? []));
  }
  return false;
}

/** A node with its label; Mermaid's own ids may not contain every character. */
export const nodeOf = (name: string, label = name) => `${name.replaceAll(/[^a-z]/g, "_")}["${label}"]`;

export const mermaid = (lines: readonly string[]) => ["```mermaid", ...lines, "```"].join("\n");

/** A page's text with generated text between the two markers of this name. */
export function withGenerated(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}: generated -->`, `<!-- /${name} -->`];
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`the page lacks ${begin} or ${end}`);
  return `${before}${begin}\n\n${text}\n\n${end}${after}`;
}
