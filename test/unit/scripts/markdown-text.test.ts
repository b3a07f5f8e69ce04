import { describe, expect, it } from "vitest";
import { wrap } from "../../../scripts/markdown-text.ts";

describe("wrap", () => {
  it("breaks a text into lines of at most 120 characters, and indents each but the first", () => {
    const lines = wrap("word ".repeat(60), "- ", "  ").split("\n");
    expect(lines.map((line) => line.length)).toEqual([116, 116, 71]);
    expect(lines.map((line) => line.slice(0, 3))).toEqual(["- w", "  w", "  w"]);
  });

  it("does not break a word that is longer than a line", () => {
    expect(wrap(`a ${"b".repeat(130)} c`)).toBe(`a\n${"b".repeat(130)}\nc`);
  });

  it("keeps a line of exactly 120 characters", () => {
    expect(wrap(`${"a".repeat(59)} ${"b".repeat(60)}`)).not.toContain("\n");
    expect(wrap(`${"a".repeat(60)} ${"b".repeat(60)}`)).toContain("\n");
  });
});
