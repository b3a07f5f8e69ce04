import { describe, expect, it } from "vitest";
import type { Call } from "../../../../e2e/load/statistics.ts";
import { lossOf, lostOf } from "../../../../e2e/faults/fault.ts";
import { withPart } from "../../../../e2e/faults/page.ts";
import { summaryOf, unexplained } from "../../../../e2e/faults/soak-summary.ts";

const call = (sent: number, took: number, failure = ""): Call => ({ sent, took, failure });
const windows = [
  { fault: "a", begun: 1000, from: 1000, until: 2000 },
  { fault: "b", begun: 4000, from: 5000, until: 9000 },
  { fault: "a", begun: 10_000, from: 10_000, until: 11_000 },
];
const calls = [
  call(990, 20, "500: it: No agent available"), // under way when the first fault came
  call(1500, 5, "500: it: No agent available"),
  call(1600, 5),
  call(3000, 5, "500: it: late"), // nobody's
  call(4100, 5, "500: it: EOF"), // while the second was prepared
  call(8000, 3500), // as good as lost
  call(10_900, 5, "500: it: EOF"),
];

describe("a soak", () => {
  it("tells calls that a fault took from those that nothing explains", () => {
    expect(unexplained(calls, windows)).toEqual([calls[3]]);
    expect(unexplained(calls, windows.slice(1))).toEqual([calls[0], calls[1], calls[3]]);
  });

  it("adds up each fault's losses and keeps the longest", () => {
    const memory = [
      { server: 30, agents: [20, 21] },
      { server: 50, agents: [22, 40] },
      { server: 31, agents: [23, 24] },
    ];
    const rows = summaryOf(calls, windows, memory)
      .split("\n")
      .map((line) => line.replaceAll(/ +/g, " "));
    expect(rows).toContain("| a | 2 | 3 | 0.9 s |");
    expect(rows).toContain("| b | 1 | 2 | 3.0 s |");
    expect(rows).toContain("Calls: 7, of which 6 were lost (85.7 %).");
    expect(rows).toContain("| server | 30 MB | 50 MB | 31 MB |");
    expect(rows).toContain("| agents | 20 and 21 MB | 40 MB | 23 and 24 MB |");
  });
});

describe("a loss in words", () => {
  it("says what the calls said, when the last one was sent, and how long after the end of the cause", () => {
    expect(lostOf(lossOf(calls, { at: 900, undone: 1200 }, 2000))).toBe(
      "2 calls (`No agent available`), the last one sent after 0.6 s, 0.3 s after it was undone",
    );
    expect(lostOf(lossOf(calls, { at: 1550 }, 2000))).toBe("nothing");
  });
});

describe("the page", () => {
  it("gets another part, and nothing else in it changes", () => {
    const text = "a\n<!-- x: made by a command -->\nold\n<!-- end of x -->\nb\n";
    const once = withPart(text, "x", "new\n");
    expect(once).toBe("a\n<!-- x: made by a command -->\n\nnew\n\n<!-- end of x -->\nb\n");
    expect(withPart(once, "x", "new")).toBe(once);
    expect(() => withPart(text, "y", "new")).toThrow("there is no part y");
  });
});
