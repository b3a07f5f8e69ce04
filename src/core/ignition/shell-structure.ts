/** Where a line of a shell script is. */
export interface LinePlace {
  /** How many `if`, `case`, loops, groups, subshells and the like are open at its start. */
  readonly depth: number;
  /** True inside quotes, an expansion, arithmetic or a here-document: the line is text, not a command. */
  readonly text: boolean;
  /** True if the line continues the command before it: after a backslash, `&&`, `||`, `|` or the head of a function. */
  readonly continued: boolean;
}

/** The structure of the script cannot be determined; `line` counts from 1. */
export class ShellStructureError extends Error {
  readonly line: number;

  constructor(line: number, detail: string) {
    super(detail);
    this.line = line;
  }
}

/**
 * The place of every line of a bash script. It knows quotes, comments, here-documents, expansions and compound commands,
 * which is enough to tell where a command can be inserted. It does not check that the script is valid.
 */
export function linePlaces(script: string): LinePlace[] {
  return new Tokenizer(script).run();
}

/** What each closing word closes. */
const closers: Readonly<Record<string, readonly string[]>> = {
  fi: ["if"],
  esac: ["case"],
  done: ["for", "select", "while", "until"],
  "}": ["{"],
  "]]": ["[["],
};
const openers = new Set(["if", "case", "for", "select", "while", "until", "{", "[["]);
/** Words after which a command follows. */
const beforeCommand = new Set(["if", "then", "else", "elif", "while", "until", "do", "{", "!", "time", "coproc"]);
/** Of those, the ones that begin a list of commands. */
const beforeList = new Set(["if", "then", "else", "elif", "while", "until", "do", "{"]);

/** `array`, `glob` (of the form `@(a|b)`), `$(`, `<(`, `(` or one of the openers. */
interface Open {
  readonly kind: string;
  readonly line: number;
  /** How far a `case` has been read. */
  phase?: "before-subject" | "before-in" | "before-pattern" | "pattern" | "commands";
}

interface HereDocument {
  readonly end: string;
  readonly stripTabs: boolean;
  /** Without quotes in its end word, a backslash at the end of a line joins it with the next one. */
  readonly joinsLines: boolean;
}

const wordBoundary = /[\s;&|()]/;

class Tokenizer {
  readonly #script: string;
  readonly #places: LinePlace[] = [];
  readonly #open: Open[] = [];
  /** Those that begin on the current line: their text begins on the next. */
  readonly #hereDocuments: HereDocument[] = [];
  #at = 0;
  /** True in a substitution inside quotes: lines must not be inserted between its commands. */
  #inText = false;
  /** Whether a keyword would be one here. */
  #commandPosition = true;
  /** What the current list of commands has open at the cursor: `operator` needs another command. */
  #pending: "nothing" | "command" | "operator" = "nothing";

  constructor(script: string) {
    this.#script = script;
  }

  run(): LinePlace[] {
    this.#startLine(false);
    while (!this.#atEnd) this.#token();
    const left = this.#open.at(-1);
    if (left !== undefined) throw new ShellStructureError(left.line, `"${left.kind}" is never closed`);
    const [unread] = this.#hereDocuments;
    if (unread !== undefined) throw this.#error(`the here-document ${unread.end} is never closed`);
    return this.#places;
  }

  #token(): void {
    const next = this.#next;
    if (next === "\n") this.#newline();
    else if (next === " " || next === "\t") this.#skip(1);
    else if (next === "\\") this.#escape();
    else if (next === "#" && wordBoundary.test(this.#previous)) this.#comment();
    else if (next === "'" || next === '"' || next === "`") this.#quotes();
    else if (next === "$") this.#dollar();
    else if (next === "(") this.#openParenthesis();
    else if (next === ")") this.#closeParenthesis();
    else if (next === "<" || next === ">") this.#redirection();
    else if (next === ";" || next === "&" || next === "|") this.#operator();
    else this.#word();
  }

  #newline(): void {
    this.#skip(1);
    this.#commandPosition = true;
    if (this.#pending === "command") this.#pending = "nothing";
    for (const document of this.#hereDocuments.splice(0)) this.#skipHereDocument(document);
    if (!this.#atEnd) this.#startLine(this.#inText, this.#pending === "operator");
  }

  #escape(): void {
    this.#skip(2);
    if (this.#previous !== "\n") this.#partOfWord();
    else if (!this.#atEnd) this.#startLine(this.#inText, this.#pending !== "nothing");
  }

  #comment(): void {
    this.#match(/.*/y);
  }

  #quotes(): void {
    this.#skipQuotes();
    this.#partOfWord();
  }

  #dollar(): void {
    if (this.#match(/\$\((?!\()/y) !== undefined) {
      this.#push("$(");
      return;
    }
    if (this.#match(/\$'/y) !== undefined) this.#skipSingleQuotes("escapes");
    else if (!this.#skipExpansion("unquoted")) this.#match(/\$(?:\w+|[#?$!*@-])?/y);
    this.#partOfWord();
  }

  #openParenthesis(): void {
    const before = this.#previous;
    const top = this.#top;
    if (top?.kind === "[[") {
      // They group, or belong to a regular expression; in both cases they are balanced.
      this.#skip(1);
    } else if (top?.phase === "before-pattern") {
      // A pattern may be written `(a)` instead of `a)`.
      top.phase = "pattern";
      this.#skip(1);
    } else if (this.#commandPosition && this.#match(/\(\(/y) !== undefined) {
      this.#arithmeticCommand();
    } else if (before !== "=" && this.#match(/\([ \t]*\)/y) !== undefined) {
      this.#functionHead();
    } else {
      this.#skip(1);
      const isGlob = /[?*+@]/.test(before) || (before === "!" && !this.#commandPosition) || top?.phase === "pattern";
      this.#push(before === "=" ? "array" : isGlob ? "glob" : "(");
    }
  }

  #closeParenthesis(): void {
    this.#skip(1);
    const top = this.#top;
    if (top?.kind === "[[") return;
    if (top?.phase === "pattern") {
      top.phase = "commands";
      this.#commandPosition = true;
      this.#pending = "nothing";
      return;
    }
    this.#pop(["(", "$(", "<(", "array", "glob"], ")");
    // After a subshell a keyword may follow on the same line: `if a; then (b) fi`.
    this.#commandPosition = top?.kind === "(";
  }

  #redirection(): void {
    if (this.#match(/[<>]\(/y) !== undefined) {
      this.#push("<(");
      return;
    }
    if (this.#match(/<<<|[<>]&|>>|>\||<>|>|<(?!<)/y) === undefined) this.#hereDocument();
    this.#partOfWord();
  }

  #hereDocument(): void {
    const found = this.#match(/<<-?[ \t]*(?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s;&|<>()'"\\])+/y);
    if (found === undefined) throw this.#error("a here-document has no delimiter");
    const word = found.replace(/^<<-?[ \t]*/, "");
    this.#hereDocuments.push({
      end: word.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, "$1$2$3"),
      stripTabs: found.startsWith("<<-"),
      joinsLines: !/['"\\]/.test(word),
    });
  }

  #operator(): void {
    if (this.#match(/&>>?/y) !== undefined) {
      this.#partOfWord();
      return;
    }
    const operator = this.#match(/;;&|;[;&]?|&&?|\|[|&]?/y) ?? "";
    const top = this.#top;
    if (top?.kind === "case" && /^;[;&]/.test(operator)) top.phase = "before-pattern";
    this.#commandPosition = true;
    this.#pending = operator === "&&" || operator.startsWith("|") ? "operator" : "nothing";
  }

  #word(): void {
    const startsWord = wordBoundary.test(this.#previous);
    const word = this.#match(/\w+\[[^\]\n]*\]|[^\s;&|()'"`$\\<>]+|[^]/y) ?? "";
    const alone = startsWord && /[\s;&|()<>]|^$/.test(this.#next);
    const top = this.#top;
    if (alone && top?.phase === "before-in" && word === "in") {
      top.phase = "before-pattern";
      this.#commandPosition = true;
    } else if (alone && this.#mayBeKeyword(word)) this.#keyword(word);
    else this.#partOfWord();
  }

  #mayBeKeyword(word: string): boolean {
    const top = this.#top;
    if (top?.kind === "[[") return word === "]]";
    if (top?.phase === "before-pattern") return word === "esac";
    return this.#commandPosition && top?.kind !== "array" && top?.kind !== "glob" && top?.phase !== "pattern";
  }

  #keyword(word: string): void {
    const closes = closers[word];
    if (closes !== undefined) {
      this.#pop(closes, word);
      // Another keyword may follow on the same line: `fi fi`, `]] then`.
      this.#commandPosition = true;
    } else if (word === "function") {
      this.#match(/[ \t]+[^\s(){}]+(?:[ \t]*\([ \t]*\))?/y);
      this.#functionHead();
    } else if (openers.has(word)) {
      this.#push(word);
      if (word === "for" && this.#match(/[ \t]*\(\(/y) !== undefined) this.#arithmeticCommand();
    } else {
      this.#partOfWord();
      this.#commandPosition = beforeCommand.has(word);
      if (beforeList.has(word)) this.#pending = "nothing";
    }
  }

  /** After `f()` or `function f`: the body may begin on a later line. */
  #functionHead(): void {
    this.#commandPosition = true;
    this.#pending = "operator";
  }

  /** After `((`. A subshell in a subshell that is written so ends at the same parenthesis. */
  #arithmeticCommand(): void {
    this.#skipArithmetic();
    this.#partOfWord();
    this.#commandPosition = true;
  }

  /** Notes that a piece of an ordinary word was read: no keyword can follow in this command. */
  #partOfWord(): void {
    const top = this.#top;
    if (top?.phase === "before-subject") top.phase = "before-in";
    if (top?.phase === "before-pattern") top.phase = "pattern";
    this.#commandPosition = false;
    this.#pending = "command";
  }

  /** Moves past a quoted stretch. */
  #skipQuotes(): void {
    const quote = this.#next;
    this.#skip(1);
    if (quote === "'") this.#skipSingleQuotes("no escapes");
    else if (quote === '"')
      this.#skipText('"', "quote", () => this.#skipEscapeInText() || this.#skipExpansion("quoted"));
    else this.#skipText("`", "quote", () => this.#skipEscapeInText());
  }

  #skipSingleQuotes(escapes: "escapes" | "no escapes"): void {
    this.#skipText("'", "quote", () => escapes === "escapes" && this.#skipEscapeInText());
  }

  /** Moves past an expansion or a substitution, if one begins here. */
  #skipExpansion(where: "quoted" | "unquoted"): boolean {
    if (this.#next === "`") this.#skipQuotes();
    else if (this.#match(/\$\(\(/y) !== undefined) this.#skipArithmetic();
    else if (this.#match(/\$\(/y) !== undefined) this.#skipSubstitution();
    else if (this.#next === "$" && this.#script[this.#at + 1] === "{") this.#skipBraces(where);
    else return false;
    return true;
  }

  #skipBraces(where: "quoted" | "unquoted"): void {
    // In "${x:-it's}" the single quote is a character like any other; in "${x%'}'}" it quotes.
    const takesValue = this.#match(/\$\{!?(?:\w+|[@*#?$!-])(?:\[[^\]\n]*\])?:?[-+=?]/y) !== undefined;
    if (!takesValue) this.#skip(2);
    const quotes = where === "quoted" && takesValue ? /["]/ : /["']/;
    this.#skipText("}", "${", () => {
      if (this.#skipEscapeInText() || this.#skipExpansion(where)) return true;
      if (!quotes.test(this.#next)) return false;
      this.#skipQuotes();
      return true;
    });
  }

  /** After `((`. */
  #skipArithmetic(): void {
    let inner = 1;
    this.#skipText(")", "arithmetic expression", () => {
      if (this.#skipEscapeInText() || this.#skipExpansion("quoted")) return true;
      if (this.#next === "(") inner++;
      return this.#next === ")" && inner-- > 0 && this.#skipCharacter();
    });
  }

  /** After a `$(` in text: reads its commands, because only they tell where it ends. */
  #skipSubstitution(): void {
    const outside = this.#inText;
    this.#inText = true;
    this.#push("$(");
    const depth = this.#open.length;
    while (!this.#atEnd && this.#open.length >= depth) this.#token();
    this.#inText = outside;
  }

  #skipHereDocument({ end, stripTabs, joinsLines }: HereDocument): void {
    const from = this.#places.length;
    for (let joined = false; ;) {
      if (this.#atEnd) throw new ShellStructureError(from, `the here-document ${end} is never closed`);
      this.#startLine(true);
      const line = this.#match(/.*/y) ?? "";
      this.#skip(1);
      if (!joined && (stripTabs ? line.replace(/^\t+/, "") : line) === end) return;
      joined = joinsLines && /(?<!\\)(?:\\\\)*\\$/.test(line);
    }
  }

  /**
   * Moves past text up to and with `end`, and notes the lines that begin in it.
   * @param skipPart moves past something in the text that may contain `end`, if it begins here
   */
  #skipText(end: string, what: string, skipPart: () => boolean): void {
    const from = this.#places.length;
    while (!this.#atEnd) {
      if (skipPart()) continue;
      const character = this.#next;
      this.#skipCharacter();
      if (character === end) return;
    }
    throw new ShellStructureError(from, `${what === "arithmetic expression" ? "an" : "a"} ${what} is never closed`);
  }

  #skipCharacter(): true {
    this.#skip(1);
    if (this.#previous === "\n") this.#startLine(true);
    return true;
  }

  #skipEscapeInText(): boolean {
    if (this.#next !== "\\") return false;
    this.#skip(1);
    return this.#skipCharacter();
  }

  #startLine(text: boolean, continued = false): void {
    this.#places.push({ depth: this.#open.length, text, continued: continued && !text });
  }

  #push(kind: string): void {
    this.#open.push({ kind, line: this.#places.length, ...(kind === "case" && { phase: "before-subject" }) });
    this.#commandPosition = ["(", "$(", "<("].includes(kind) || beforeCommand.has(kind);
    this.#pending = "nothing";
  }

  #pop(kinds: readonly string[], found: string): void {
    if (!kinds.includes(this.#top?.kind ?? "")) throw this.#error(`unexpected "${found}"`);
    this.#open.pop();
    this.#partOfWord();
  }

  #error(detail: string): ShellStructureError {
    return new ShellStructureError(this.#places.length, detail);
  }

  /** Moves past what the sticky pattern finds at the cursor. */
  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#script)?.[0];
    this.#skip(found?.length ?? 0);
    return found;
  }

  #skip(characters: number): void {
    this.#at += characters;
  }

  get #next(): string {
    return this.#script.charAt(this.#at);
  }

  /** The start of the script counts as a blank. */
  get #previous(): string {
    return this.#at === 0 ? " " : this.#script.charAt(this.#at - 1);
  }

  get #top(): Open | undefined {
    return this.#open.at(-1);
  }

  get #atEnd(): boolean {
    return this.#at >= this.#script.length;
  }
}
