import { readdirSync } from "node:fs";
import { join } from "node:path";
import { projectFile, readProjectText } from "../../src/runtime/project-files.js";

/** A command line that a page or a message recommends. */
export interface PrintedCommand {
  /** File and line. */
  readonly where: string;
  readonly words: readonly string[];
}

/** Programs of this project; what any other program takes is not ours to check. */
const starts = /(?:npx (?:konnectivity-bootstrap|cdktf)|npm (?:run|test|ci))\b/;

/** Commands in code spans and code blocks of the pages for users and contributors. */
export function commandsInPages(): PrintedCommand[] {
  const docs = readdirSync(projectFile("docs")).filter((name) => name.endsWith(".md"));
  const pages = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "stacks/README.md",
    ...docs.map((name) => `docs/${name}`),
  ];
  return pages.flatMap((page) =>
    readProjectText(page)
      .replaceAll(/\\\n/g, "  ")
      .split("\n")
      .flatMap((line, index) => codeIn(line).flatMap((code) => commandsIn(code, `${page}:${String(index + 1)}`))),
  );
}

/** Commands in texts of the program, with "x" for each value that is filled in later. */
export function commandsInSources(): PrintedCommand[] {
  return ["src", "stacks", "constructs", "lab", "scripts"].flatMap(sourceFiles).flatMap((file) =>
    readProjectText(file)
      .split("\n")
      .flatMap((line, index) =>
        /^\s*(?:\/\/|\*|\/\*)/.test(line)
          ? []
          : textsIn(line).flatMap((text) => commandsIn(text, `${file}:${String(index + 1)}`)),
      ),
  );
}

/** The words that `ownCommand` and `cdktfCommand` are called with, as far as they are literal. */
export function composedCommands(): PrintedCommand[] {
  return ["src", "stacks"].flatMap(sourceFiles).flatMap((file) =>
    [...readProjectText(file).matchAll(/\b(ownCommand|cdktfCommand)\(\s*\[((?:\s*"[^"]*",?)+)/g)].map(
      ([, name, words = ""]) => ({
        where: file,
        words: [
          "npx",
          name === "ownCommand" ? "konnectivity-bootstrap" : "cdktf",
          ...[...words.matchAll(/"([^"]*)"/g)].map(([, word = ""]) => word),
        ],
      }),
    ),
  );
}

/** Code spans of a line, or the whole line if it is indented as code or may be part of a fenced block. */
function codeIn(line: string): string[] {
  const spans = [...line.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
  return /^ {4}|^\$ |^npx |^npm /.test(line) ? [line] : spans;
}

/** Texts that are nothing but a command: whole literals, and what is quoted inside of one. */
function textsIn(line: string): string[] {
  const filled = line.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, "x");
  return [...filled.matchAll(/(?:\\`|[`"])((?:x)?n(?:px|pm) [^`"\\]*)(?:\\`|[`"])/g)].map(([, text = ""]) => text);
}

function commandsIn(code: string, where: string): PrintedCommand[] {
  return code
    .split(/ && | \| |; |^\$ /)
    .flatMap((part) => {
      const start = starts.exec(part);
      return start === null ? [] : [part.slice(start.index)];
    })
    .map((text) => ({ where, words: wordsOf(text) }));
}

/** As a shell splits them, without optional parts, up to a comment or a redirection. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  const required = text.replaceAll(/\[[^\]]*\]/g, "");
  for (const [, single, double, plain = ""] of required.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)) {
    if (plain.startsWith("#") || plain.startsWith(">") || plain === "<(" || plain === "…") break;
    const word = single ?? double ?? plain;
    const last = single === undefined && double === undefined && /[,;:.)]$/.test(word) && !/^\.+$/.test(word);
    words.push(last ? word.slice(0, -1) : word);
    if (last && !word.endsWith(".")) break;
  }
  return words;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(projectFile(folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.[jt]s$/.test(name) && !name.endsWith(".d.ts"))
    .map((name) => join(folder, name));
}
