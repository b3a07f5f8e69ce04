import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { expect, test } from "vitest";
import { projectFile, projectRoot, readProjectText } from "../../../../src/runtime/project-files.js";

test("finds the project's root and the files below it", () => {
  expect(isAbsolute(projectRoot)).toBe(true);
  expect(projectRoot).not.toMatch(/[/\\]$/);
  expect(existsSync(projectFile("src", "runtime", "project-files.js"))).toBe(true);
  expect(projectFile("src/runtime")).toBe(projectFile("src", "runtime"));
});

test("reads a file by its path from the root", () => {
  expect(JSON.parse(readProjectText("package.json"))).toMatchObject({ name: "konnectivity-bootstrap" });
});
