import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Anchor, anchors, findAnchors, insertAtAnchors } from "../../../../../src/core/ignition/bootkube.ts";
import { linePlaces } from "../../../../../src/core/ignition/shell-structure.ts";
import { bootkubeScript, shapes, tunnelShapes } from "../../../../../src/core/sample/sample.ts";
import { canInsert, countStatements, insertableLines } from "../../../../support/shell-parser.ts";
import { render } from "../../../../support/tunnel.ts";

/** Every line with the answer whether a command can be inserted before it. */
const annotated = (script: string, answers: readonly boolean[]) =>
  script
    .replace(/\n$/, "")
    .split("\n")
    .map((line, index) => `${answers[index] === true ? "+" : " "} ${line}`);

const ours = (script: string) =>
  linePlaces(script).map(({ depth, text, continued }) => depth === 0 && !text && !continued);

async function expectAgreement(script: string): Promise<void> {
  expect(annotated(script, ours(script))).toEqual(annotated(script, await insertableLines(script)));
}

const blank = fc.constantFrom("", "# it's done; fi", "  # <<E {");
const word = fc.constantFrom(
  ...["a", "if", "done", "fi", "}", "esac", "x=1", "a#b", "{a,b}", "{}", "$#", "$$", "$1", "-n", "\\(", "\\#", "[1]"],
  ...["'it\"s'", '"it\'s"', "'a\nfi\n'", '"a\nfi\n"', '"$(a\nfi=1\n)"', "$'it\\'s'", '"a\\"b"', '"`a "b"`"', '$"a"'],
  ...["${x}", "${#x}", "${x##*/}", "${x:-'}'}", "\"${x%'}'}\"", "${x:-\na}", '"${x:-"a b"}"'],
  ...["$((1 << 2))", "$(((1 + 2) * 3))", "$((x +\n1))", "$(a)", "$(a; b | c)", "$(\na\n)", "$(case a in a) b ;; esac)"],
  ...["`a`", "`a; done=1`", "`for x in a; do b; done`", "`a\nb`", "<(a)", "<(if a; then b; fi)", ">(a\nb)"],
  ...["2>&1", ">&2", "> x", ">> x", ">| x", "&> x", "< x", "<<< a", '<<<"$x"', "@(a|if)"],
);
const simple = fc
  .tuple(
    fc.constantFrom("echo", "a", "\\if", '"if"', "x=$(a)", "2>&1 a", "x=1 a", ": "),
    fc.array(word, { maxLength: 4 }),
  )
  .map(([command, words]) => [command, ...words].join(" "));
const hereDocument = fc.constantFrom(
  "cat <<E\nfi\nE",
  "cat <<E | b\nit's\n E\nE",
  "cat <<E && b\n$(a)\nE",
  "cat <<-E\n\tfi\n\tE",
  "cat <<'E E' > x\n$(a\nE E",
  "cat <<E\na\\\nE\nE",
  "cat <<'E'\na\\\nE",
  "cat <<E\na\\\\\nE",
  "cat <<A <<B\nfi\nA\ndone\nB",
  "x=$(cat <<E\n)\nE\n)",
  'x="$(cat <<E\nit\'s\nE\n)"',
  "{ cat <<E; }\nfi\nE",
  "cat <<E; a\nfi\nE",
);
const special = fc.constantFrom(
  "x=()",
  "x=(a\nif\n# it's\n)",
  "x+=(if done)",
  "[[ $x =~ ^(a|b)$ ]]",
  "[[ a == if && ( -n b ||\n-f done ) ]]",
  "((x = 1 << 2))",
  "(((1 + 2) * 3))",
  "let x=1",
  "x[1<<2]=3",
  "! a",
  "time a",
  "a \\\n  if \\\n  b",
  "a &\nb",
  "a & b",
  "\\\na",
);
/** After the word that closes a compound command. */
const suffix = fc.constantFrom("", "", " > x", " 2>&1", "<x", " < <(a)", " | b", " &", " && b", " ||\n\n# c\nb");
const separator = fc.constantFrom("\n", "\n", "; ", "\n\n", "\n# it's\n");
const operator = fc.constantFrom(
  " && ",
  " &&\n",
  " || ",
  " ||\n# it's\n",
  " | ",
  " |\n\n",
  " |& ",
  " \\\n&& ",
  " | # a\n",
);

const { script } = fc.letrec<{ script: string; list: string; command: string; compound: string }>((tie) => ({
  script: fc
    .array(fc.oneof(tie("command"), tie("command"), blank), { minLength: 1, maxLength: 6 })
    .map((all) => `${all.join("\n")}\n`),
  list: fc.array(tie("command"), { minLength: 1, maxLength: 2 }).map((all) => `${all.join("\n")}\n`),
  command: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    simple,
    special,
    hereDocument,
    fc.tuple(simple, operator, simple).map((all) => all.join("")),
    fc.tuple(simple, operator, tie("compound")).map((all) => all.join("")),
    fc.tuple(tie("compound"), suffix).map((all) => all.join("")),
    fc.tuple(simple, fc.constant("; "), tie("compound")).map((all) => all.join("")),
  ),
  compound: fc
    .tuple(
      fc.constantFrom<(list: string, other: string, separator: string) => string>(
        (a, b, s) => `if a${s === "; " ? "; " : "\n"}then\n${a}else\n${b}fi`,
        (a, b) => `if ! a; then ${a}elif ${b}then\n${a}fi`,
        (a) => `if [[ -n x ]] then\n${a}fi`,
        (a) => `if if a; then b; fi then\n${a}fi`,
        (a) => `if (a) then { b; } fi\n{\n${a}}`,
        (a, _, s) => `for x in a if done${s}do\n${a}done`,
        (a) => `for ((i = 0; i < 3; i++)); do\n${a}done`,
        (a) => `for((;;)) do if a; then ${a}fi done`,
        (a, b) => `while ${b}do ${a}done`,
        (a) => `until a\ndo\n${a}done`,
        (a) => `select x in a b; do ${a}done`,
        (a, b) => `case "$x" in\na | if)\n${a};;\n(b) ${b};;\nesac`,
        (a) => `case in in\n(if) ${a};;& # it's\n"a b"*) b ;;(c) d\nesac`,
        (a) => `case $x\nin *) ${a}esac`,
        (a) => `case x in\n@(if|fi)) ${a};&\n[a-z]) ;;\nesac`,
        (a) => `{\n${a}}`,
        (a) => `(\n${a})`,
        (a) => `(${a.replace(/^\(/, " (")})`,
        (a) => `f() {\n${a}}`,
        (a) => `f ()\n{ ${a}}`,
        (a) => `f()\n\n# it's\n(\n${a})`,
        (a) => `function f {\n${a}}`,
        (a) => `function f()\n{ ${a}}`,
        (a) => `x=$(\n${a})`,
        (a) => `x="a $( ${a}) b"`,
      ),
      tie("list"),
      tie("list"),
      separator,
    )
    .map(([form, list, other, between]) => form(list, other, between)),
}));

/** Fixed seeds: a failure here is one tomorrow as well. */
const runs = (seed: number, numRuns: number) => ({ seed, numRuns });

describe("a line before which a command can be inserted", () => {
  it("is the same to mvdan/sh, in generated scripts", async () => {
    await fc.assert(fc.asyncProperty(script, expectAgreement), runs(4, 60));
  }, 60_000);

  it.each(shapes)(
    "is the same to mvdan/sh, in the bootkube.sh of %s",
    async (shape) => {
      await expectAgreement(bootkubeScript(shape));
    },
    60_000,
  );
});

/** Puts an anchor's line into other surroundings: some leave it a command at the top level, some do not. */
const surroundings = fc.oneof(
  script.map((before) => (line: string) => `${before}${line}`),
  fc.constantFrom<(line: string) => string>(
    (line) => `if a; then\n${line}\nfi`,
    (line) => `if a; then b; fi; fi=1\n${line}`,
    (line) => `f()\n{\n${line}\n}`,
    (line) => `cat <<E\n${line}\nE`,
    (line) => `cat <<E\na\\\nE\n${line}\nE`,
    (line) => `x='\n${line}\n'`,
    (line) => `x=\`a\n${line}\n\``,
    (line) => `a \\\n${line}`,
    (line) => `# a \\\n${line}`,
    (line) => `a &&\n\n${line}`,
    (line) => `a | # b\n${line}`,
    (line) => `a \\|\n${line}`,
    (line) => `case x in\nx) ${line} ;;\nesac\n(\n${line}\n)`,
  ),
);

describe("an anchor", () => {
  it.each(tunnelShapes)(
    "is found in the bootkube.sh of %s exactly where mvdan/sh lets us insert",
    async (shape, release) => {
      await fc.assert(
        fc.asyncProperty(fc.constantFrom("manifests", "cleanup"), surroundings, async (name, around) => {
          const { line } = anchors[name];
          const changed = bootkubeScript(shape).replace(`\n${line}\n`, (found) => `\n${around(found.trim())}\n`);
          const index = changed.split("\n").indexOf(line);
          fc.pre(index >= 0);
          const found = findAnchors(changed, release);
          const accepted = !Array.isArray(found);
          expect(accepted).toBe(await canInsert(changed, index, await countStatements(changed)));
        }),
        runs(5, 25),
      );
    },
    60_000,
  );

  it.each(tunnelShapes)(
    "gets commands of ours at the top level of the bootkube.sh of %s, as mvdan/sh sees it",
    async (shape, release) => {
      const original = bootkubeScript(shape);
      const { insertions } = render({}, release);
      const offsets = findAnchors(original, release);
      if (Array.isArray(offsets)) throw new Error("no anchors");
      const added = await Promise.all(
        ["setup", "manifests", "cleanup"].map((name) => countStatements(insertions[name as Anchor])),
      );
      // The line at the fourth anchor is an argument.
      const expected = added.reduce((sum, count) => sum + count, await countStatements(original));
      expect(await countStatements(insertAtAnchors(original, offsets, insertions))).toBe(expected);
    },
  );
});
