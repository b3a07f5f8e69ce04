import { readFileSync, writeFileSync } from "node:fs";
import { projectFile } from "../../../src/runtime/project-files.js";

const page = projectFile("docs/faults.md");

/** A text with another content between the two marks of a part that a command makes. */
export function withPart(text: string, part: string, content: string): string {
  const [begin, end] = [`<!-- ${part}: made by a command -->\n`, `<!-- end of ${part} -->\n`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`there is no part ${part}`);
  return `${text.slice(0, from)}${begin}\n${content.trim()}\n\n${text.slice(to)}`;
}

/** Puts what a run has shown into docs/faults.md. */
export function writePart(part: "faults" | "soak", content: string): void {
  writeFileSync(page, withPart(readFileSync(page, "utf8"), part, content));
}
