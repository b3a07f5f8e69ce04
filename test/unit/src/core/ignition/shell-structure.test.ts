import { describe, expect, it } from "vitest";
import { linePlaces, ShellStructureError } from "../../../../../src/core/ignition/shell-structure.ts";
import { bootkubeScript, shapes } from "../../../../../src/core/sample/sample.ts";
import { scriptOf, structures } from "../../../../support/shell-structures.ts";

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
    ["a fi too many", 2, /unexpected "fi"/, "a\nfi\n"],
    ["a done too many", 3, /unexpected "done"/, "if a; then\nb\ndone\nfi\n"],
    ["an esac too many", 1, /unexpected "esac"/, "esac\n"],
    ["a brace too many", 2, /unexpected "}"/, "a\n}\n"],
    ["a parenthesis too many", 2, /unexpected "\)"/, "a\nb)\n"],
    ["a single quote without its end", 2, /quote is never closed/, "a\necho 'b\nc\n"],
    ["a double quote without its end", 1, /quote is never closed/, 'echo "a\nb\n'],
    ["an expansion without its end", 2, /\$\{ is never closed/, "a\necho ${b\nc\n"],
    ["a quoted substitution without its end", 1, /never closed/, 'echo "$(a\nb\n'],
    ["arithmetic without its end", 2, /arithmetic expression is never closed/, "a\nx=$((1\n"],
    ["a here-document without its end", 2, /here-document EOF is never closed/, "a\ncat <<EOF\nb\n"],
    ["a here-document without a line", 1, /here-document EOF is never closed/, "cat <<EOF"],
    ["a here-document without an end word", 2, /no delimiter/, "a\ncat <<\n"],
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
