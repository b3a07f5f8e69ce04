import { describe, expect, it } from "vitest";
import { readProjectText } from "../../src/runtime/project-files.js";

interface Lock {
  readonly packages: Record<
    string,
    { resolved?: string; hasInstallScript?: boolean; optionalDependencies?: Record<string, string> }
  >;
}
const read = (file: string): unknown => JSON.parse(readProjectText(file));

describe.each(["package-lock.json", "test/e2e/node-versions/package-lock.json"])("%s", (file) => {
  const { packages } = read(file) as Lock;

  it("has every optional dependency: one that is missing makes npm ci fail, or fails on another platform", () => {
    const locked = new Set(Object.keys(packages).map((path) => path.split("node_modules/").at(-1)));
    const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
      Object.keys(optionalDependencies),
    );
    expect(wanted.length).toBeGreaterThan(7);
    expect(wanted.filter((name) => !locked.has(name))).toEqual([]);
  });

  it("does not say where packages were downloaded", () => {
    expect(Object.entries(packages).filter(([, { resolved }]) => resolved?.startsWith("http"))).toEqual([]);
  });
});

it("package.json says of each package with an install script whether it may run", () => {
  const { packages } = read("package-lock.json") as Lock;
  const { allowScripts } = read("package.json") as { allowScripts: object };
  const scripts = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  expect(scripts.map(([path]) => path.replace("node_modules/", ""))).toEqual(Object.keys(allowScripts));
});
