/** `npm run docs:diagrams`: draws the diagrams in docs that come from the code. `npm test` checks that they are current. */
import { writeFileSync } from "node:fs";
import { projectFile, readProjectText } from "../src/runtime/project-files.js";
import { cruiseTree, importGraph } from "./import-graph.ts";
import { withGenerated } from "./mermaid.ts";
import { stackDiagrams } from "./stack-graph.ts";

const rewrite = (page: string, diagrams: Readonly<Record<string, string>>) => {
  const text = Object.entries(diagrams).reduce(
    (before, [name, diagram]) => withGenerated(before, name, diagram),
    readProjectText(page),
  );
  writeFileSync(projectFile(page), text);
};

rewrite("docs/architecture.md", { "import-graph": importGraph(await cruiseTree()) });
rewrite("docs/stacks.md", await stackDiagrams());
