import { describe, expect, it } from "vitest";
import { terminalPicture, wrap } from "../../scripts/terminal-picture.ts";

describe("wrap", () => {
  it("breaks at spaces, and continues below the text behind time and verdict", () => {
    expect(wrap("   1.5 s  ✓ one two three", 20)).toEqual(["   1.5 s  ✓ one two", "            three"]);
  });
  it("breaks a word that is longer than a line", () => {
    expect(wrap("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
  });
  it("keeps a short line", () => {
    expect(wrap("$ npm run demo")).toEqual(["$ npm run demo"]);
  });
});

describe("terminalPicture", () => {
  const picture = terminalPicture('$ run\n\n   1.0 s  ✗ <webhook> & "quotes"\n', "A run");
  it("escapes the text, and shows a failure in red", () => {
    const shown = picture.replaceAll("\u00a0", " ");
    expect(shown).toContain('<tspan fill="#f85149">✗ </tspan>');
    expect(shown).toContain('&lt;webhook&gt; &amp; "quotes"');
    expect(picture).not.toMatch(/<script|href/);
  });
  it("has a line for each line", () => {
    expect(picture.match(/<text /g)).toHaveLength(3);
    expect(picture).toContain('viewBox="0 0 822 86"');
  });
});
