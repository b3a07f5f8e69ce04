/** `npm run docs:graph`: draws the direction of imports in docs/architecture.md anew. */
import { writeFileSync } from "node:fs";
import { projectFile, readProjectText } from "../src/runtime/project-files.js";
import { cruiseTree, importGraph, withGraph } from "./import-graph.ts";

const page = "docs/architecture.md";
writeFileSync(projectFile(page), withGraph(readProjectText(page), importGraph(await cruiseTree())));
