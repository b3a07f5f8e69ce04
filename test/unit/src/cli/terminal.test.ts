import { describe, expect, it } from "vitest";
import { colourVerdicts } from "../../../../src/cli/terminal.ts";
import { fakeTerminal } from "../../../support/fake-terminal.ts";

const [red, green, yellow] = [31, 32, 33].map((code) => (word: string) => `\u001b[${code}m${word}\u001b[39m`) as [
  (word: string) => string,
  (word: string) => string,
  (word: string) => string,
];
const verdicts = { passed: "good", failed: "bad", "not looked at": "unclear" } as const;

function printed(terminal: ReturnType<typeof fakeTerminal>): string {
  terminal.output.text("step-1  passed  the step\nstep-2  failed  it\n", verdicts);
  terminal.output.warnings([{ code: "x", message: "careful" }]);
  terminal.output.error("it is wrong");
  terminal.output.usage("error: unknown option\nerror: quoted\n");
  return terminal.written();
}
const plain =
  "step-1  passed  the step\nstep-2  failed  it\nwarning: careful\nerror: it is wrong\nerror: unknown option\nerror: quoted\n";

describe("colour", () => {
  it("is for verdicts and for what a message is, on a terminal", () => {
    expect(printed(fakeTerminal())).toBe(
      `step-1  ${green("passed")}  the step\nstep-2  ${red("failed")}  it\n` +
        `${yellow("warning:")} careful\n${red("error:")} it is wrong\n${red("error:")} unknown option\nerror: quoted\n`,
    );
  });

  it.each([
    ["NO_COLOR is set", { NO_COLOR: "1" }, {}],
    ["a CI system runs it", { CI: "true" }, {}],
    ["the terminal has none", { TERM: "dumb" }, {}],
    ["the output is not a terminal", {}, { stdout: false, stderr: false }],
  ])("is absent when %s: the output is the same, byte for byte", (_, environment, streams) => {
    expect(printed(fakeTerminal(environment, streams))).toBe(plain);
  });

  it("does not depend on an empty variable, and is decided for each stream", () => {
    expect(printed(fakeTerminal({ NO_COLOR: "", CI: "" }))).toContain(green("passed"));
    const toFile = printed(fakeTerminal({}, { stdout: false }));
    expect(toFile).toContain("step-1  passed  ");
    expect(toFile).toContain(red("error:"));
  });

  it("is for whole words in the first two columns only", () => {
    const text = [
      "not looked at  what  (failed)",
      "a  failed",
      "a b  failed  c",
      "failed: why",
      "failed again",
      "passedx  y",
      "  failed  indented",
    ].join("\n");
    expect(colourVerdicts(text, verdicts).split("\n")).toEqual([
      `${yellow("not looked at")}  what  (failed)`,
      `a  ${red("failed")}`,
      "a b  failed  c",
      `${red("failed")}: why`,
      "failed again",
      "passedx  y",
      "  failed  indented",
    ]);
  });

  it("is never in what somebody else wrote", () => {
    const { output, written } = fakeTerminal();
    output.text("\u001b[31mred\u001b[39m  passed\n", verdicts);
    expect(written()).toBe(`\\u001b[31mred\\u001b[39m  ${green("passed")}\n`);
  });
});
