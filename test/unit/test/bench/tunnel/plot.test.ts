import { describe, expect, it } from "vitest";
import { niceTicks, plot } from "../../../../bench/tunnel/plot.ts";

const chart = {
  title: "creates/s",
  xLabel: "clients",
  x: [1, 10, 100],
  series: [
    { name: "a <b> & c", y: [0, 50, 100] },
    { name: "other", y: [100, 100, 100] },
  ],
};
const dots = { title: "back", rows: [{ name: "killed", series: "other", values: [0.01, 1, 10] }] };
const svg = plot([chart], dots);
const all = (pattern: RegExp) => [...svg.matchAll(pattern)].map(([, ...groups]) => groups);

describe("the plot", () => {
  it("has its lines where the values are: 0 at the bottom, the highest tick on top, sizes at equal distances", () => {
    const [first = [], second = []] = all(/<polyline [^>]*stroke="([^"]+)" [^>]*points="([^"]+)"/g);
    expect(first[1]).toBe("46,222 226,126 406,30");
    expect(second[1]).toBe("46,30 226,30 406,30");
    expect(first[0]).not.toBe(second[0]);
  });

  it("has a dot for each round on a logarithmic scale, and what is too short at its edge", () => {
    const [panel = ""] = svg.split("\n</g>").slice(1);
    const centres = [...panel.matchAll(/<circle cx="([^"]+)"/g)].map(([, x]) => Number(x));
    expect(centres).toEqual([150, 235.3, 320.7]);
    expect(panel).toContain('<rect x="234.3"');
  });

  it("names every line once, in its colour, and escapes what would be markup", () => {
    const [[colour = ""] = []] = all(/<polyline [^>]*stroke="([^"]+)"/g);
    expect(svg).toMatch(new RegExp(`fill="${colour}"/><text [^>]*>a &lt;b&gt; &amp; c</text>`));
    expect(svg.match(/>other</g)).toHaveLength(1);
    expect(svg).not.toContain("NaN");
  });
});

describe("ticks", () => {
  it.each([
    [100, [0, 20, 40, 60, 80, 100]],
    [101, [0, 50, 100, 150]],
    [866, [0, 200, 400, 600, 800, 1000]],
    [4, [0, 1, 2, 3, 4]],
    [0.7, [0, 0.2, 0.4, 0.6, 0.8]],
  ])("up to %d", (highest, ticks) => {
    expect(niceTicks(highest)).toEqual(ticks);
  });
});
