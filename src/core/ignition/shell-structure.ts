/** Where a line of a shell script stands. */
export interface LinePlace {
  /** How many `if`, `case`, loops, groups and subshells are open at its start. */
  readonly depth: number;
  /** True when it is text (inside quotes, arithmetic or a here-document), not a command. */
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

const closers: Record<string, readonly string[]> = {
  fi: ["if"],
  esac: ["case"],
  done: ["for", "select", "while", "until"],
  "}": ["{"],
  "]]": ["[["],
};
const openers = new Set(["if", "case", "for", "select", "while", "until", "{", "[["]);
const commandFollows = new Set(["if", "then", "else", "elif", "while", "until", "do", "{", "!", "time", "coproc"]);

/**
 * The place of every line of a bash script. It knows quotes, comments, here-documents, expansions and compound commands,
 * which is enough to tell whether a line runs at the top level; it does not judge whether the script is right.
 */
export function linePlaces(script: string): LinePlace[] {
  const places: LinePlace[] = [];
  /** `pattern`: a `case` that waits for a pattern's end. */
  const open: { kind: string; line: number; pattern?: boolean }[] = [];
  const hereDocuments: { end: string; stripTabs: boolean }[] = [];
  let at = 0;

  const startLine = (text: boolean) => places.push({ depth: open.length, text });
  const push = (kind: string) => open.push({ kind, line: places.length });
  const top = () => open.at(-1)?.kind ?? "";
  const pop = (kinds: readonly string[], found: string) => {
    if (!kinds.includes(top())) throw new ShellStructureError(places.length, `"${found}" closes nothing that is open`);
    open.pop();
  };
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return pattern.exec(script);
  };

  /** Moves past a quoted or braced stretch that ends with `end`, noting the lines that begin inside it. */
  const skipTo = (end: string, what: string, escapes: boolean) => {
    const from = places.length;
    while (at < script.length) {
      const c = script.charAt(at);
      at++;
      if (c === end) return;
      if (c === "\n") startLine(true);
      else if (c === "\\" && escapes) {
        if (script[at] === "\n") startLine(true);
        at++;
      } else if (end === "'") continue;
      else if ((c === "'" || c === '"') && end === "}") skipTo(c, "quote", c === '"');
      else if (c === "$" && script.startsWith("((", at)) {
        at += 2;
        skipArithmetic();
      } else if (c === "$" && script[at] === "{") {
        at++;
        skipTo("}", "${", true);
      } else if (c === "$" && script[at] === "(") {
        at++;
        push("$(");
        commands(true);
      }
    }
    throw new ShellStructureError(from, `a ${what} is never closed`);
  };

  /** From behind `((`. What looks like it and is a subshell in a subshell ends at the same place. */
  const skipArithmetic = () => {
    const from = places.length;
    for (let parentheses = 2; at < script.length;) {
      const c = script.charAt(at);
      at++;
      if (c === "\n") startLine(true);
      else if (c === "(") parentheses++;
      else if (c === ")" && --parentheses === 0) return;
    }
    throw new ShellStructureError(from, "an arithmetic expression is never closed");
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

  /** Follows commands to the end of the script or, in text, to the end of the substitution that was just opened. */
  const commands = (inText: boolean) => {
    const outside = open.length - 1;
    let commandPosition = true;
    while (at < script.length) {
      const c = script.charAt(at);
      const here = open.at(-1);
      if (c === "\n") {
        at++;
        commandPosition = true;
        readHereDocuments();
        if (at < script.length) startLine(inText);
      } else if (c === " " || c === "\t") {
        at++;
      } else if (c === "\\") {
        at += 2;
        if (script[at - 1] === "\n") startLine(inText);
        else commandPosition = false;
      } else if (c === "#" && /[\s;&|()]/.test(script[at - 1] ?? " ")) {
        const newline = script.indexOf("\n", at);
        at = newline < 0 ? script.length : newline;
      } else if (c === "'" || c === '"') {
        at++;
        skipTo(c, "quote", c === '"');
        commandPosition = false;
      } else if (script.startsWith("$'", at)) {
        at += 2;
        skipTo("'", "quote", true);
        commandPosition = false;
      } else if (
        script.startsWith("$((", at) ||
        (script.startsWith("((", at) && (commandPosition || afterFor(script, at)))
      ) {
        at += c === "$" ? 3 : 2;
        skipArithmetic();
        commandPosition = false;
      } else if (script.startsWith("${", at)) {
        at += 2;
        skipTo("}", "${", true);
        commandPosition = false;
      } else if (script.startsWith("$(", at)) {
        at += 2;
        push("$(");
        commandPosition = true;
      } else if (c === "(") {
        at++;
        // In a test they group or belong to an expression; before a pattern one may stand for beauty.
        if (here?.kind === "[[" || (here?.pattern === true && /\s/.test(script[at - 2] ?? ""))) continue;
        const array = script[at - 2] === "=";
        push(array ? "array" : "(");
        commandPosition = !array;
      } else if (c === ")") {
        at++;
        if (here?.kind === "[[") continue;
        if (here?.pattern === true) {
          here.pattern = false;
          commandPosition = true;
          continue;
        }
        commandPosition = here?.kind === "(";
        pop(["(", "$(", "array"], ")");
        if (inText && open.length === outside) return;
      } else if (script.startsWith("<<<", at)) {
        at += 3;
      } else if (script.startsWith("<<", at)) {
        const word = match(/<<(-?)[ \t]*((?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s;&|<>()'"\\])+)/y);
        if (word === null) throw new ShellStructureError(places.length, "a here-document has no end word");
        const end = (word[2] ?? "").replace(/'([^']*)'|"([^"]*)"|\\(.)/g, "$1$2$3");
        hereDocuments.push({ end, stripTabs: word[1] === "-" });
        at += word[0].length;
      } else if (c === ";" || c === "&" || c === "|") {
        if (here?.kind === "case" && /^;[;&]/.test(script.slice(at, at + 2))) here.pattern = true;
        at += here?.pattern === true && c === ";" ? 2 : 1;
        commandPosition = true;
      } else {
        const word = match(/\w+\[[^\]\n]*\]|[^\s;&|()'"$\\<>]+|[^]/y)?.[0] ?? c;
        at += word.length;
        const alone = /^(?:[\s;&|()]|$)/.test(script.slice(at, at + 1));
        if (here?.kind === "case" && here.pattern === undefined && word === "in" && alone) {
          here.pattern = true;
          commandPosition = true;
          continue;
        }
        const literal =
          here?.kind === "array" ||
          (here?.kind === "[[" && word !== "]]") ||
          (here?.pattern === true && word !== "esac");
        const keyword: string = (commandPosition || here?.kind === "[[") && alone && !literal ? word : "";
        if (openers.has(keyword)) push(keyword);
        const closes = closers[keyword];
        if (closes !== undefined) pop(closes, keyword);
        if (keyword === "function") at += match(/[ \t]+[^\s(){}]+/y)?.[0].length ?? 0;
        commandPosition = commandFollows.has(keyword) || keyword === "function";
      }
    }
  };

  startLine(false);
  commands(false);
  const left = open.at(-1);
  if (left !== undefined) throw new ShellStructureError(left.line, `"${left.kind}" is never closed`);
  if (hereDocuments[0] !== undefined)
    throw new ShellStructureError(places.length, `the here-document ${hereDocuments[0].end} never ends`);
  return places;
}

function afterFor(script: string, at: number): boolean {
  return /(?:^|[\s;&|])for[ \t]*$/.test(script.slice(Math.max(0, at - 16), at));
}
