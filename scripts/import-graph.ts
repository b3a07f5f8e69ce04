/** The real import graph of the tree: checked by .dependency-cruiser.js, drawn in docs/architecture.md. */
import { cruise, type ICruiseResult } from "dependency-cruiser";
import configuration, { mayImport } from "../.dependency-cruiser.js";
import { arrowsOf, mermaid, nodeOf } from "./mermaid.ts";
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
  const arrows = arrowsOf(graph).map(([from, to]) => `  ${nodeOf(from)} --> ${nodeOf(to)}`);
  return mermaid(["flowchart TD", ...arrows.sort()]);
}
