import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { linePlaces, ShellStructureError } from "../../../../../src/core/ignition/shell-structure.ts";
import { bootkubeScript, shapes } from "../../../../../src/core/sample/sample.ts";

/** A line and where it stands: its depth, or "text". */
type Line = readonly [number | "text", string];
const scriptOf = (lines: readonly Line[]) => lines.map(([, line]) => `${line}\n`).join("");

const structures: Record<string, readonly Line[]> = {
  "plain commands": [
    [0, "#!/usr/bin/env bash"],
    [0, "set -e"],
    [0, ""],
    [0, "true; false"],
  ],
  "if with every branch": [
    [0, "if a"],
    [1, "then"],
    [1, "  b"],
    [1, "elif c; then"],
    [1, "  d"],
    [1, "else"],
    [1, "  e"],
    [1, "fi"],
    [0, "f"],
  ],
  "if on one line": [
    [0, "if a; then b; else c; fi"],
    [0, "d"],
  ],
  "if in if": [
    [0, "if a; then"],
    [1, "  if ! b; then"],
    [2, "    c"],
    [2, "  fi"],
    [1, "fi"],
    [0, "d"],
  ],
  case: [
    [0, 'case "$1" in'],
    [1, "a | b)"],
    [1, "  c"],
    [1, "  ;;"],
    [1, "(d) e ;;"],
    [1, "*)"],
    [1, "  if f; then"],
    [2, "    g"],
    [2, "  fi"],
    [1, "  ;;"],
    [1, "esac"],
    [0, "h"],
  ],
  "case with keywords as patterns": [
    [0, 'case "$1" in'],
    [1, "if) a ;;"],
    [1, "done | fi)"],
    [1, "  b"],
    [1, "  ;;"],
    [1, "esac"],
    [0, "c"],
  ],
  "case on one line, in a substitution": [
    [0, "x=$(case a in a) echo 1 ;; b) echo 2 ;; esac)"],
    [0, "a"],
  ],
  loops: [
    [0, "for x in a b; do"],
    [1, "  c"],
    [1, "done"],
    [0, "while read -r y; do"],
    [1, "  until d; do e; done"],
    [1, "done < <(f)"],
    [0, "for ((i = 0; i < 3; i++)); do"],
    [1, "  g"],
    [1, "done"],
    [0, "for x; do h; done"],
    [0, "i"],
  ],
  "a loop whose condition has lines of its own": [
    [0, "while"],
    [1, "  a"],
    [1, "  b"],
    [1, "do"],
    [1, "  c"],
    [1, "done"],
    [0, "d"],
  ],
  functions: [
    [0, "f() {"],
    [1, "  a"],
    [1, "}"],
    [0, "g ()"],
    [0, "{"],
    [1, "  b"],
    [1, "}"],
    [0, "h() ("],
    [1, "  c"],
    [1, ")"],
    [0, "d"],
  ],
  "functions by keyword": [
    [0, "function f {"],
    [1, "  a"],
    [1, "}"],
    [0, "function g() {"],
    [1, "  b"],
    [1, "}"],
    [0, "c"],
  ],
  "groups and subshells": [
    [0, "{"],
    [1, "  a"],
    [1, "} 2>&1 | b"],
    [0, "("],
    [1, "  cd c"],
    [1, "  (d)"],
    [1, ")"],
    [0, "[ -f x ] && {"],
    [1, "  e"],
    [1, "}"],
    [0, "x=$("],
    [1, "  f"],
    [1, ")"],
    [0, "g"],
  ],
  arrays: [
    [0, "words=("],
    [1, "  a"],
    [1, ")"],
    [0, "words+=(if done esac)"],
    [0, "b"],
  ],
  "a here-document": [
    [0, "cat <<EOF"],
    ["text", "if then {"],
    ["text", "it's"],
    ["text", " EOF"],
    ["text", "EOF"],
    [0, "a"],
  ],
  "a here-document whose end is indented": [
    [0, "if a; then"],
    [1, "\tcat <<-EOF"],
    ["text", "\t\tfi"],
    ["text", "\tEOF"],
    [1, "fi"],
    [0, "b"],
  ],
  "a here-document with a quoted end word": [
    [0, "cat <<'THE END' > file"],
    ["text", "$(never run"],
    ["text", "THE END"],
    [0, 'cat <<"E" | tee x'],
    ["text", "}"],
    ["text", "E"],
    [0, "cat << \\X"],
    ["text", "done"],
    ["text", "X"],
    [0, "a"],
  ],
  "a here-document with a partly quoted end word": [
    [0, 'cat <<E"O"F'],
    ["text", "fi"],
    ["text", "EOF"],
    [0, "a"],
  ],
  "two here-documents on one line": [
    [0, "paste /dev/fd/3 3<<A /dev/fd/4 4<<B"],
    ["text", "fi"],
    ["text", "A"],
    ["text", "done"],
    ["text", "B"],
    [0, "a"],
  ],
  "a here-document in a substitution": [
    [0, "x=$(cat <<EOF"],
    ["text", ")"],
    ["text", "EOF"],
    [1, ")"],
    [0, "a"],
  ],
  "a here-document in a quoted substitution": [
    [0, 'x="$(cat <<EOF'],
    ["text", "it's fine"],
    ["text", "EOF"],
    ["text", ')"'],
    [0, "a"],
  ],
  "a here-string": [
    [0, 'cat <<<"if" && a'],
    [0, "b"],
  ],
  "quotes over several lines": [
    [0, "echo 'if"],
    ["text", 'it"s'],
    ["text", "' x"],
    [0, 'echo "a \\" b'],
    ["text", 'fi $(c \'"\' ) ${d:-"}"}'],
    ["text", '"'],
    [0, "e"],
  ],
  "quotes with C escapes": [
    [0, "x=$'it\\'s'"],
    [0, "a"],
  ],
  "a substitution in quotes over several lines": [
    [0, 'x="$(a \\'],
    ["text", '  b)"'],
    [0, "if c; then"],
    [1, "  d"],
    [1, "fi"],
    [0, "e"],
  ],
  comments: [
    [0, "a # if then { it's ("],
    [0, "# done; <<EOF"],
    [0, "b;# case x in"],
    [0, "echo a#b if"],
    [0, "c"],
  ],
  expansions: [
    [0, "echo ${x#y} ${#x} $# ${x##*/} ${x%'}'} ${x:-${y:-$(a)}}"],
    [0, 'echo "${x#y}" "${x//\\"/}"'],
    [0, "echo ${x:-"],
    ["text", "if }"],
    [0, "a"],
  ],
  arithmetic: [
    [0, "x=$((1 << 2))"],
    [0, "((y = 1 << 2)) && a"],
    [0, 'echo "$((1 << 2))"'],
    [0, "if ((x > 1)); then"],
    [1, "  b"],
    [1, "fi"],
    [0, "c"],
  ],
  "arithmetic with parentheses": [
    [0, "x=$((3 * (1 + 2)))"],
    [0, "y=$(((1 + 2) * 3))"],
    [0, "a"],
  ],
  "arithmetic over several lines": [
    [0, "x=$((1 +"],
    ["text", "  2))"],
    [0, "if a; then"],
    [1, "  b"],
    [1, "fi"],
    [0, "c"],
  ],
  "regular expressions": [
    [0, "if [[ $x =~ ^(a|b)$ ]]; then"],
    [1, "  c"],
    [1, "fi"],
    [0, "[[ $x =~ ^(if|done)$ ]] && d"],
    [0, "e"],
  ],
  "brace expansion": [
    [0, "mkdir -p /etc/{a,b,c}/{d,e}"],
    [0, "echo {1..3} {} }"],
    [0, "a"],
  ],
  "continuation lines": [
    [0, "if a \\"],
    [1, "  b; then"],
    [1, "  c \\"],
    [1, "    if \\"],
    [1, "    done"],
    [1, "fi"],
    [0, "d"],
  ],
  "keywords as arguments": [
    [0, "echo if done fi { } case esac do"],
    [0, "grep -q done x || echo fi"],
    [0, 'echo "$x" if'],
    [0, "done=1 fi=2"],
    [0, "a"],
  ],
  "keywords that are quoted or longer words": [
    [0, '"if" a'],
    [0, "\\if a"],
    [0, "iffy; done_already; {a"],
    [0, "b"],
  ],
  backticks: [
    [0, 'x=`a "b"`'],
    [0, "x=`for y in a; do b; done`"],
    [0, "x=`a"],
    ["text", "fi`"],
    [0, 'x="`a "b"`"'],
    [0, "c"],
  ],
  "several keywords on a line": [
    [0, "if a; then if b; then"],
    [2, "  c"],
    [2, "fi fi"],
    [0, "if [[ -n x ]] then if ((x)) then"],
    [2, "  d"],
    [2, "fi fi"],
    [0, "for ((;;)) do if e; then f; fi done"],
    [0, "g"],
  ],
  "redirections beside keywords": [
    [0, "while read -r x; do"],
    [1, "  a"],
    [1, "done<x"],
    [0, "{"],
    [1, "  b"],
    [1, "}>&2"],
    [0, "cat <(a) if >(b) done 2>&1 fi &> if"],
    [0, "c"],
  ],
  "a here-document with lines that are joined": [
    [0, "cat <<EOF"],
    ["text", "a\\"],
    ["text", "EOF"],
    ["text", "EOF"],
    [0, "cat <<'EOF'"],
    ["text", "a\\"],
    ["text", "EOF"],
    [0, "a"],
  ],
  "case with odd subjects and patterns": [
    [0, "case in in in) a ;;(b) c ;; esac"],
    [0, "case $x"],
    [1, "in"],
    [1, "+(if|fi)) a ;;"],
    [1, '"a b") b ;&'],
    [1, "esac"],
    [0, "c"],
  ],
  "extended globs": [
    [0, "ls @(if|fi) !(done)"],
    [0, "a"],
  ],
  "a single quote in a default value": [
    [0, 'echo "${x:-it\'s}" "${x%\'}\'}"'],
    [0, "a"],
  ],
};

const shown = ({ depth, text }: { depth: number; text: boolean }) => (text ? "text" : depth);

describe("linePlaces", () => {
  it.each(Object.entries(structures))("follows %s", (_, lines) => {
    const script = scriptOf(lines);
    const places = lines.map(([place]) => place);
    expect(linePlaces(script).map(shown)).toEqual(places);
    expect(linePlaces(script.slice(0, -1)).map(shown), "without the last newline").toEqual(places);
  });

  it.each([
    ["nothing", ""],
    ["one newline", "\n"],
  ])("takes %s", (_, script) => {
    expect(linePlaces(script)).toMatchObject([{ depth: 0, text: false }]);
  });

  it.each([
    ["a backslash", "a \\\nb\n", [false, true]],
    ["a backslash and nothing before it", "\\\nb\n", [false, false]],
    ["&&, with a comment and empty lines", "a && # b\n\n# c\nd\ne\n", [false, true, true, true, false]],
    ["||", "a ||\nb\n", [false, true]],
    ["a pipe", "a |\nb |&\nc\n", [false, true, true]],
    ["a function's name", "f()\n{\na\n}\ng\n", [false, true, false, false, false]],
    ["a function's name after its keyword", "function f\n{\na\n}\ng\n", [false, true, false, false, false]],
    ["no operator, but a command in the background", "a &\nb\n", [false, false]],
    ["no operator, but an escaped one", "a \\|\nb\n", [false, false]],
    ["no operator, but one in a comment", "a # &&\nb # \\\nc\n", [false, false, false]],
  ])("tells which lines continue a command: after %s", (_, script, continued) => {
    expect(linePlaces(script).map((place) => place.continued)).toEqual(continued);
  });

  it("tells the depth of text too", () => {
    const places = linePlaces("if a; then\n(\ncat <<EOF\nx\nEOF\n)\nfi\n");
    expect(places[3]).toMatchObject({ depth: 2, text: true });
  });

  const refused: readonly (readonly [string, number, RegExp, string])[] = [
    ["an if without fi", 2, /"if" is never closed/, "a\nif b; then\nc\n"],
    ["the inner of two that are open", 2, /"(do|for|while)" is never closed/, "if a; then\nwhile b; do\nc\n"],
    ["a case without esac", 1, /"case" is never closed/, "case x in\na) b;;\n"],
    ["a loop without done", 1, /"(do|for|while)" is never closed/, "for x in a; do\nb\n"],
    ["a function without its end", 1, /"{" is never closed/, "f() {\n  a\n"],
    ["a subshell without its end", 2, /"\(" is never closed/, "a\n(\nb\n"],
    ["a substitution without its end", 1, /"\$\(" is never closed/, "x=$(a\nb\n"],
    ["a fi too many", 2, /"fi" closes nothing/, "a\nfi\n"],
    ["a done too many", 3, /"done" closes nothing/, "if a; then\nb\ndone\nfi\n"],
    ["an esac too many", 1, /"esac" closes nothing/, "esac\n"],
    ["a brace too many", 2, /"}" closes nothing/, "a\n}\n"],
    ["a parenthesis too many", 2, /"\)" closes nothing/, "a\nb)\n"],
    ["a single quote without its end", 2, /quote is never closed/, "a\necho 'b\nc\n"],
    ["a double quote without its end", 1, /quote is never closed/, 'echo "a\nb\n'],
    ["an expansion without its end", 2, /\$\{ is never closed/, "a\necho ${b\nc\n"],
    ["a quoted substitution without its end", 1, /never closed/, 'echo "$(a\nb\n'],
    ["arithmetic without its end", 2, /arithmetic expression is never closed/, "a\nx=$((1\n"],
    ["a here-document without its end", 2, /here-document EOF never ends/, "a\ncat <<EOF\nb\n"],
    ["a here-document without a line", 1, /here-document EOF never ends/, "cat <<EOF"],
    ["a here-document without an end word", 2, /no end word/, "a\ncat <<\n"],
  ];
  it.each(refused)("refuses %s, at line %i", (_, line, detail, script) => {
    let thrown: unknown;
    try {
      linePlaces(script);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ShellStructureError);
    expect(thrown).toMatchObject({ line, message: expect.stringMatching(detail) as string });
  });

  it.each(shapes)("follows the bootkube.sh of %s to its end", (shape) => {
    const script = bootkubeScript(shape);
    const places = linePlaces(script);
    expect(places).toHaveLength(script.split("\n").length - 1);
    expect(places.at(-1)).toMatchObject({ depth: 0, text: false });
  });
});

/**
 * Another judge: a line stands at the top level exactly when everything before it is a whole script to bash. It warns
 * about a here-document that the end of the file cuts off, so only silence counts as yes.
 */
function topLevelByBash(script: string): boolean[] {
  const lines = script.split("\n").slice(0, -1);
  const folder = mkdtempSync(join(tmpdir(), "shell-structure-"));
  try {
    for (const index of lines.keys()) {
      const before = lines.slice(0, index).map((line) => `${line}\n`);
      writeFileSync(join(folder, String(index)), before.join(""));
    }
    const judge = 'for ((i = 0; i < $2; i++)); do [ -z "$(bash -O extglob -n "$1/$i" 2>&1)" ] && echo 1 || echo 0; done';
    const { stdout } = spawnSync("bash", ["-c", judge, "judge", folder, String(lines.length)], { encoding: "utf8" });
    return stdout
      .trim()
      .split("\n")
      .map((answer) => answer === "1");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("linePlaces and bash", () => {
  it.each(Object.entries(structures))("agree that it is valid, and on its top level: %s", (_, lines) => {
    const script = scriptOf(lines);
    const bash = spawnSync("bash", ["-O", "extglob", "-n"], { input: script, encoding: "utf8" });
    expect([bash.status, bash.stderr]).toEqual([0, ""]);
    const ours = linePlaces(script).map(({ depth, text, continued }) => depth === 0 && !text && !continued);
    expect(ours).toEqual(topLevelByBash(script));
  });

  it.each(shapes)("agree on the top level of the bootkube.sh of %s", (shape) => {
    const script = bootkubeScript(shape);
    const ours = linePlaces(script).map(({ depth, text }) => depth === 0 && !text);
    expect(ours).toEqual(topLevelByBash(script));
  });

  it.each([
    ["a subscript with a shift", "a[1<<2]=3\n"],
    ["a loop without in", "for x do :; done\n"],
    ["a coprocess", "coproc { :; }\n"],
    ["a negated group", "if ! { :; }; then\n:\nfi\n"],
    ["a redirection in front", "2>/dev/null cat <<<x\n"],
    ["a select", "select x in a b; do break; done\n"],
    ["a timed group", "time { :; }\n"],
    ["a case in an if's condition", "if case a in a) :;; esac; then :; fi\n"],
    ["a process substitution with an if", "cat <(if :; then :; fi)\n"],
    ["a fi right behind a parenthesis", "if :; then (:) fi\n"],
    ["an end word of 80 letters", `cat <<${"E".repeat(80)}\nfi\n${"E".repeat(80)}\n`],
    ["a word of 200 letters", `echo ${"a".repeat(200)} if\n`],
  ])("both take %s", (_, script) => {
    const bash = spawnSync("bash", ["-O", "extglob", "-n"], { input: script, encoding: "utf8" });
    expect([bash.status, bash.stderr]).toEqual([0, ""]);
    expect(linePlaces(script)).toHaveLength(script.split("\n").length - 1);
  });
});
