import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const { packages } = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8")) as {
  packages: Record<string, { resolved?: string; optionalDependencies?: Record<string, string> }>;
};

describe("the lock file", () => {
  it("has every optional dependency: one that is missing makes npm ci fail, or fails on another platform", () => {
    const locked = new Set(Object.keys(packages).map((path) => path.split("node_modules/").at(-1)));
    const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
      Object.keys(optionalDependencies),
    );
    expect(wanted.length).toBeGreaterThan(20);
    expect(wanted.filter((name) => !locked.has(name))).toEqual([]);
  });

  it("does not say where packages were downloaded", () => {
    expect(Object.entries(packages).filter(([, { resolved }]) => resolved?.startsWith("http"))).toEqual([]);
  });
});
