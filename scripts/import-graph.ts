/** The real import graph of the tree: checked by .dependency-cruiser.js, drawn in docs/architecture.md. */
import { cruise, type ICruiseResult } from "dependency-cruiser";
import configuration, { mayImport } from "../.dependency-cruiser.js";
import { projectRoot } from "../src/runtime/project-files.js";

/** Checks every import below a folder against .dependency-cruiser.js. */
export async function cruiseTree(folder: string = projectRoot): Promise<ICruiseResult> {
  const { options, forbidden = [] } = configuration;
  const { enhancedResolveOptions, ...others } = options ?? {};
  const { output } = await cruise(
    ["."],
    { ...others, baseDir: folder, validate: true, ruleSet: { forbidden } },
    enhancedResolveOptions,
  );
  if (typeof output === "string") throw new Error("dependency-cruiser gave a text instead of its findings");
  return output;
}

/** Left out of the picture: scripts and tests import everything, and everything may import src/runtime. */
const leftOut = ["scripts/", "test/", "src/runtime/"];

/** Where a module is in the picture. Platforms are alike, so they are one. */
function folderOf(file: string): string | undefined {
  if (file.startsWith("constructs/shared/")) return "constructs/shared";
  if (file.startsWith("constructs/")) return "constructs/‹platform›";
  const folder = Object.keys(mayImport).find((one) => file === one || (one.endsWith("/") && file.startsWith(one)));
  return folder === undefined || leftOut.includes(folder) ? undefined : folder.replace(/\/$/, "");
}

/** The folders and their imports as a Mermaid diagram. */
export function importGraph({ modules }: Pick<ICruiseResult, "modules">): string {
  const graph = new Map<string, Set<string>>();
  for (const { source, dependencies } of modules) {
    const from = folderOf(source);
    if (from === undefined) continue;
    const targets = graph.get(from) ?? new Set();
    graph.set(from, targets);
    for (const { resolved } of dependencies) {
      const to = folderOf(resolved);
      if (to !== undefined && to !== from) targets.add(to);
    }
  }
  const arrows = [...graph].flatMap(([from, targets]) =>
    [...targets].filter((to) => !isImplied(graph, from, to)).map((to) => `  ${nodeOf(from)} --> ${nodeOf(to)}`),
  );
  return ["```mermaid", "flowchart TD", ...arrows.sort(), "```"].join("\n");
}

/** A folder as a node with its name as the label; Mermaid's own ids may not contain every character. */
const nodeOf = (folder: string) => `${folder.replaceAll(/[^a-z]/g, "_")}["${folder}"]`;

/** Whether a longer way leads from one folder to another: then the arrow between them tells nothing new. */
function isImplied(graph: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  const seen = new Set<string>();
  const next = [...(graph.get(from) ?? [])].filter((folder) => folder !== to);
  for (let folder = next.pop(); folder !== undefined; folder = next.pop()) {
    if (folder === to) return true;
    if (seen.has(folder)) continue;
    seen.add(folder);
    next.push(...(graph.get(folder) ?? []));
  }
  return false;
}

const begin = "<!-- import-graph: npm run docs:graph -->";
const end = "<!-- /import-graph -->";

/** A page's text with this picture between its two markers. */
export function withGraph(page: string, graph: string): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`the page lacks ${begin} or ${end}`);
  return `${before}${begin}\n\n${graph}\n\n${end}${after}`;
}
