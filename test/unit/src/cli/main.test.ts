import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../../../src/cli/main.ts";
import { outputTo } from "../../../../src/cli/output.ts";
import { command, runIn } from "../../../support/cli.ts";
import { helpPages } from "../../../support/help.ts";
import { projectFile, projectRoot } from "../../../../src/runtime/project-files.js";

const main = pathToFileURL(projectFile("src/cli/main.ts")).href;

/** The packages that a module loads. */
function packagesOf(module: string): Set<string> {
  const script = `import { createRequire } from "node:module";
    await import(${JSON.stringify(module)});
    for (const file of Object.keys(createRequire(import.meta.url).cache)) console.log(file);`;
  const output = execFileSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
    encoding: "utf8",
    cwd: projectRoot,
  });
  return new Set(output.match(/(?<=node_modules\/)(?:@[^/]+\/)?[^/]+(?=\/)/g));
}

it("starts without loading cdktf, which takes longer than everything else", () => {
  const packages = packagesOf(main);
  expect(packages).toContain("commander");
  expect(packages).not.toContain("cdktf");
});

describe("an empty path", () => {
  // Like that of an unset shell variable.
  it("does not write to the working directory", async () => {
    const folder = mkdtempSync(join(tmpdir(), "empty-path-"));
    const { code, stderr } = await runIn(folder, process.env, "example", "", "--platform", "aws");
    expect(stderr).toMatch(/ is invalid.* Name a folder\.\n/);
    expect(code).toBe(2);
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it.each([
    ["a folder", ["ipi", "prepare", ""]],
    ["a folder", ["ipi", "restore", ""]],
    ["a folder", ["ipi", "check", ""]],
    ["a folder", ["payload", "build", "", "--out", "out"]],
    ["a folder", ["payload", "build", "--out", ""]],
    ["a folder", ["payload", "firewall", ""]],
    ["a folder", ["webhooks", ""]],
    ["a folder", ["acceptance", "aws", "--dry-run", "--out", ""]],
    ["a file", ["payload", "inspect", ""]],
    ["a file", ["config", "check", "--config", ""]],
    ["a file", ["gather", "--out="]],
    ["a file", ["teardown", "sweep", "--kubeconfig", ""]],
  ])("is refused: name %s (%j)", async (kind, words) => {
    const { code, stderr } = await command(...words);
    expect(stderr).toMatch(new RegExp(` is invalid.* Name ${kind}\\.\n`));
    expect(code).toBe(2);
  });
});

describe("help", () => {
  it("of every command wraps at 80 columns, between words", async () => {
    const pages = await helpPages();
    expect(pages.length).toBeGreaterThan(15);
    for (const { text } of pages) {
      expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
      // A word that was broken would continue on a line of its own without a space before it.
      expect(text).not.toMatch(/[\w,]-\n/);
    }
  });

  it("begins what a command does with a capital, and what an option or argument is without one", () => {
    const silent = { write: () => true };
    const commandsOf = (command: Command): Command[] => command.commands.flatMap((one) => [one, ...commandsOf(one)]);
    const commands = commandsOf(createProgram(outputTo(silent, silent)));
    expect(commands.length).toBeGreaterThan(20);
    for (const one of commands) {
      expect(one.description(), one.name()).toMatch(/^[A-Z][a-z]+,? .*[^.]$/);
      // Abbreviations keep their capitals.
      for (const { description } of [...one.registeredArguments, ...one.options])
        expect(description, one.name()).toMatch(/^(?:[a-z]|[A-Z]{2,} ).*[^.]$/);
    }
  });

  it("marks the options that a command cannot do without", async () => {
    expect((await command("lab", "up", "--help")).stdout).toMatch(/--payload <file> [^-]*\(required\)/);
    expect((await command("payload", "build", "--help")).stdout).toMatch(/--out <dir> [^-]*\(required\)/);
  });
});
