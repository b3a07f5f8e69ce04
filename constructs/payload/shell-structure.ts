/** Where a line of a shell script stands. */
export interface LinePlace {
  /** How many `if`, `case`, loops, groups and subshells are open at its start. */
  readonly depth: number;
  /** True when it is text (inside quotes or a here-document), not a command. */
  readonly text: boolean;
}

/** The script cannot be followed; `line` counts from 1. */
export class ShellStructureError extends Error {
  readonly line: number;

  constructor(line: number, detail: string) {
    super(detail);
    this.line = line;
  }
}

const closers: Record<string, string> = { fi: "if", esac: "case", done: "do", "}": "{" };
const openers = new Set(["if", "case", "do", "{"]);
const commandFollows = new Set(["if", "then", "else", "elif", "while", "until", "do", "{", "!", "time"]);

/**
 * The place of every line of a bash script. It knows quotes, comments, here-documents, expansions and compound commands,
 * which is enough to tell whether a line runs at the top level; it does not judge whether the script is right.
 */
export function linePlaces(script: string): LinePlace[] {
  const places: LinePlace[] = [];
  const open: { kind: string; line: number }[] = [];
  const hereDocuments: { end: string; stripTabs: boolean }[] = [];
  let at = 0;
  let commandPosition = true;

  const startLine = (text: boolean) => places.push({ depth: open.length, text });
  const push = (kind: string) => open.push({ kind, line: places.length });
  const top = () => open.at(-1)?.kind;
  const pop = (kind: string, found: string) => {
    if (top() !== kind) throw new ShellStructureError(places.length, `"${found}" closes nothing that is open`);
    open.pop();
  };

  /** Moves past a quoted or braced stretch that ends with `end`, noting the lines that begin inside it. */
  const skipTo = (end: string, what: string, escapes: boolean) => {
    const from = places.length;
    for (; at < script.length; at++) {
      const c = script[at];
      if (c === end) {
        at++;
        return;
      }
      if (c === "\n") startLine(true);
      else if (c === "\\" && escapes) {
        at++;
        if (script[at] === "\n") startLine(true);
      } else if (c === "'" && end === "}") {
        at++;
        skipTo("'", "quote", false);
        at--;
      } else if (c === '"' && end === "}") {
        at++;
        skipTo('"', "quote", true);
        at--;
      } else if (c === "$" && script[at + 1] === "{" && end !== "'") {
        at += 2;
        skipTo("}", "${", true);
        at--;
      } else if (c === "$" && script[at + 1] === "(" && end !== "'") {
        at += 2;
        skipSubstitution();
        at--;
      }
    }
    throw new ShellStructureError(from, `a ${what} is never closed`);
  };

  /** Inside text, a command substitution matters only for where it ends. */
  const skipSubstitution = () => {
    const from = places.length;
    for (let parentheses = 1; at < script.length; at++) {
      const c = script[at];
      if (c === "\n") startLine(true);
      else if (c === "\\") at++;
      else if (c === "(") parentheses++;
      else if (c === ")" && --parentheses === 0) {
        at++;
        return;
      } else if (c === "'" || c === '"') {
        at++;
        skipTo(c, "quote", c === '"');
        at--;
      }
    }
    throw new ShellStructureError(from, "a $( is never closed");
  };

  const readHereDocuments = () => {
    for (const { end, stripTabs } of hereDocuments.splice(0)) {
      const from = places.length;
      for (;;) {
        if (at >= script.length) throw new ShellStructureError(from, `the here-document ${end} never ends`);
        startLine(true);
        const newline = script.indexOf("\n", at);
        const line = script.slice(at, newline < 0 ? undefined : newline);
        at = newline < 0 ? script.length : newline + 1;
        if ((stripTabs ? line.replace(/^\t+/, "") : line) === end) break;
      }
    }
  };

  startLine(false);
  while (at < script.length) {
    const c = script.charAt(at);
    const rest = script.slice(at, at + 64);
    if (c === "\n") {
      at++;
      commandPosition = true;
      readHereDocuments();
      if (at < script.length) startLine(false);
    } else if (c === " " || c === "\t") {
      at++;
    } else if (c === "\\") {
      at += 2;
      if (script[at - 1] === "\n") startLine(false);
      else commandPosition = false;
    } else if (c === "#" && /[\s;&|(]/.test(script[at - 1] ?? " ")) {
      const newline = script.indexOf("\n", at);
      at = newline < 0 ? script.length : newline;
    } else if (c === "'" || c === '"') {
      at++;
      skipTo(c, "quote", c === '"');
      commandPosition = false;
    } else if (rest.startsWith("$((") || (rest.startsWith("((") && commandPosition)) {
      at += c === "$" ? 3 : 2;
      const end = script.indexOf("))", at);
      if (end < 0) throw new ShellStructureError(places.length, "an arithmetic expression is never closed");
      at = end + 2;
      commandPosition = false;
    } else if (rest.startsWith("${")) {
      at += 2;
      skipTo("}", "${", true);
      commandPosition = false;
    } else if (rest.startsWith("$(") || c === "(") {
      const opened = c === "$" ? "$(" : "(";
      push(opened);
      at += opened.length;
      commandPosition = true;
    } else if (c === ")") {
      at++;
      // In a case, a pattern ends with a parenthesis that nothing opened.
      const closed = top() === "case" ? "" : top() === "$(" ? "$(" : "(";
      if (closed !== "") pop(closed, ")");
      commandPosition = closed !== "$(";
    } else if (rest.startsWith("<<<")) {
      at += 3;
    } else if (rest.startsWith("<<")) {
      const word = /^<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([^\s;&|<>()'"]+))/.exec(rest);
      if (word === null) throw new ShellStructureError(places.length, "a here-document has no end word");
      hereDocuments.push({ end: word[2] ?? word[3] ?? word[4] ?? "", stripTabs: word[1] === "-" });
      at += word[0].length;
    } else if (c === ";" || c === "&" || c === "|") {
      at++;
      commandPosition = true;
    } else {
      const word = /^[^\s;&|()'"$\\<>]+|^./.exec(rest)?.[0] ?? c;
      const alone = /^(?:[\s;&|()]|$)/.test(script.slice(at + word.length, at + word.length + 1));
      at += word.length;
      const keyword = commandPosition && alone ? word : "";
      if (openers.has(keyword)) push(keyword);
      const closes = closers[keyword];
      if (closes !== undefined) pop(closes, keyword);
      commandPosition = commandFollows.has(keyword);
    }
  }
  const left = open.at(-1);
  if (left !== undefined) throw new ShellStructureError(left.line, `"${left.kind}" is never closed`);
  if (hereDocuments[0] !== undefined)
    throw new ShellStructureError(places.length, `the here-document ${hereDocuments[0].end} never ends`);
  return places;
}
