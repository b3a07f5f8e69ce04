import { ESLint, Linter } from "eslint";
import { describe, expect, it } from "vitest";
import { projectFile, projectRoot } from "../../src/runtime/project-files.js";

const eslint = new ESLint({ cwd: projectRoot });

/** Why lint refuses this import in this file of the tree; empty if it does not. That one rule only: the others need types. */
async function refusals(file: string, module: string): Promise<string[]> {
  const { rules } = (await eslint.calculateConfigForFile(projectFile(file))) as { rules: Linter.RulesRecord };
  const rule = rules["no-restricted-imports"];
  if (rule === undefined) throw new Error(`${file} is not guarded`);
  return new Linter()
    .verify(`import "${module}";\n`, [{ rules: { "no-restricted-imports": rule } }])
    .map(({ message }) => message);
}

describe("lint", () => {
  it.each([
    ["main.ts", "@cdktf/provider-aws"],
    ["main.ts", "@cdktf/provider-azurerm"],
    ["src/core/ignition/pointer.ts", "@cdktf/provider-google/lib/index.js"],
  ])("refuses a provider's root: %s imports %s", async (file, module) => {
    expect((await refusals(file, module)).join()).toContain("Import one resource");
  });

  it.each([
    ["src/core/ignition/check.ts", "../konnectivity/options.ts", "pure"],
    ["src/core/ignition/check.ts", "cdktf", "pure"],
    ["src/core/ignition/check.ts", "node:fs", "pure"],
    ["src/core/konnectivity/tunnel.ts", "../ignition/check.ts", "knows no Ignition"],
    ["constructs/aws/machine.ts", "../google/machine.ts", "never import each other"],
    ["constructs/google/config.ts", "../azure/config.ts", "never import each other"],
    ["stacks/azure.ts", "../constructs/aws/machine.ts", "never import each other"],
    ["stacks/azure.ts", "./local.ts", "never import each other"],
    ["src/core/errors.ts", "../../cli/main.ts", "one way"],
    ["src/core/errors.ts", "../../main.ts", "one way"],
  ])("keeps the direction: %s does not import %s", async (file, module, reason) => {
    expect((await refusals(file, module)).join()).toContain(reason);
  });

  it.each([
    ["stacks/azure.ts", "../constructs/azure/machine.ts"],
    ["stacks/app.ts", "./azure.ts"],
  ])("lets a platform's own parts in: %s imports %s", async (file, module) => {
    expect(await refusals(file, module)).toEqual([]);
  });

  it("has nothing against one resource of a provider", async () => {
    expect(await refusals("main.ts", "@cdktf/provider-aws/lib/vpc/index.js")).toEqual([]);
  });
});
