import { describe, expect, it } from "vitest";
import { type Call, disturbance, firstAnswer, isQuiet, percentile } from "../../../../e2e/load/statistics.ts";

const call = (sent: number, took: number, failure = ""): Call => ({ sent, took, failure });

describe("percentile", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);

  it.each([
    [0.5, 50],
    [0.95, 95],
    [0.99, 99],
    [1, 100],
    [0, 1],
  ])("%d of 1 to 100, in any order", (share, value) => {
    expect(percentile(hundred, share)).toBe(value);
  });

  it("is always one of the values, and not above the share", () => {
    expect(percentile([3, 1, 2], 0.5)).toBe(2);
    expect(percentile([4, 1, 2, 3], 0.5)).toBe(2);
    expect(percentile([7], 0.99)).toBe(7);
    expect(percentile([10, 9], 0.51)).toBe(10);
  });

  it("of nothing is no number", () => {
    expect(percentile([], 0.5)).toBeNaN();
  });
});

describe("the first answer", () => {
  it("is the one that came first, not the one that was asked for first", () => {
    expect(firstAnswer([call(1000, 900), call(1500, 100), call(1700, 5)], 1000)).toBe(600);
  });

  it("is none to a call from before, and no failure", () => {
    expect(firstAnswer([call(990, 100), call(1010, 5, "refused")], 1000)).toBeUndefined();
    expect(firstAnswer([call(990, 100), call(1010, 5, "refused"), call(1100, 7)], 1000)).toBe(107);
  });
});

describe("a disturbance", () => {
  it("lasts until the last bad call was sent, in whatever order they ended", () => {
    const calls = [call(1000, 5), call(1400, 5000), call(1200, 5, "refused"), call(1600, 5)];
    expect(disturbance(calls, 1000)).toEqual({ milliseconds: 400, bad: 2 });
  });

  it("counts what was under way, and nothing that had ended before", () => {
    expect(disturbance([call(900, 50, "other"), call(950, 100, "cut")], 1000)).toEqual({ milliseconds: 0, bad: 1 });
  });

  it("is none where every call was answered soon", () => {
    expect(disturbance([call(1000, 2999), call(1050, 4)], 1000)).toEqual({ milliseconds: 0, bad: 0 });
  });
});

describe("quiet", () => {
  it("is so many good calls in a row at the end", () => {
    const good = [call(1000, 1), call(1050, 1), call(1100, 1)];
    expect(isQuiet(good, 0, 3)).toBe(true);
    expect(isQuiet(good, 0, 4)).toBe(false);
    expect(isQuiet(good, 1050, 3)).toBe(false);
    expect(isQuiet([call(1075, 1, "refused"), ...good], 0, 3)).toBe(false);
    expect(isQuiet([call(950, 1, "refused"), ...good], 0, 3)).toBe(true);
  });
});
