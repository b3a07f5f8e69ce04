import { ESLint, Linter } from "eslint";
import { describe, expect, it } from "vitest";
import { projectFile, projectRoot } from "../../src/runtime/project-files.js";

const eslint = new ESLint({ cwd: projectRoot });

/** What lint's rule about syntax says to this code in this file of the tree. That one rule only: the others need types. */
async function refusals(file: string, code: string): Promise<string[]> {
  const { rules } = (await eslint.calculateConfigForFile(projectFile(file))) as { rules: Linter.RulesRecord };
  const rule = rules["no-restricted-syntax"];
  if (rule === undefined) throw new Error(`${file} is not guarded`);
  return new Linter().verify(code, [{ rules: { "no-restricted-syntax": rule } }]).map(({ message }) => message);
}

describe("lint", () => {
  it.each([
    ["src/cli/main.ts", 'new URL("../../package.json", import.meta.url);'],
    ["lab/roots.ts", "export const folder = import.meta.dirname;"],
    ["scripts/app.js", 'createRequire(import.meta.url)("../main.ts");'],
    ["test/support/cli.ts", "export const file = import.meta.filename;"],
  ])("lets one module only know its place on disk: %s: %s", async (file, code) => {
    expect((await refusals(file, code)).join()).toContain("src/runtime/project-files.js");
    expect(await refusals("src/runtime/project-files.js", code)).toEqual([]);
  });

  it("refuses an import with a computed name", async () => {
    expect((await refusals("src/cli/main.ts", "await import(`./${name}.ts`);")).join()).toContain("Name the module");
    expect(await refusals("src/cli/main.ts", 'await import("./verify.ts");')).toEqual([]);
  });
});
