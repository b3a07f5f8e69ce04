import { type Command, CommanderError } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../src/cli/main.ts";
import { outputTo } from "../../src/cli/output.ts";
import { readProjectText } from "../../src/runtime/project-files.js";
import { platformNames } from "../../stacks/platforms.ts";
import {
  commandsInPages,
  commandsInSources,
  composedCommands,
  type PrintedCommand,
} from "../support/printed-commands.ts";

const { scripts } = JSON.parse(readProjectText("package.json")) as { scripts: Record<string, string> };
const stacks = platformNames.flatMap((name) => [`${name}-bootstrap`, `${name}-teardown`]);

/** The words that are known before the program runs are only the beginning of such a command. */
const filledInLater = [
  "commander.missingArgument",
  "commander.missingMandatoryOptionValue",
  "commander.optionMissingArgument",
];

/** Values for what a reader fills in. */
const values: Readonly<Record<string, string>> = { platform: "aws", shell: "bash", machine: "node-0", number: "2" };
/** What docs/adding-a-platform.md adds. */
const madeUpPlatform = "metal";
const filledIn = (word: string) =>
  word === madeUpPlatform
    ? "aws"
    : word.replaceAll(/<([a-z]+)[^>]*>/g, (_, name: string) => values[name] ?? "x").replaceAll("…", "x");

/** @returns what is wrong with it */
async function problemOf({ words }: PrintedCommand, ignored: readonly string[] = []): Promise<string | undefined> {
  const [first = "", second = "", ...rest] = words.map(filledIn);
  if (first === "npx" && second === "konnectivity-bootstrap") return problemOfArguments(rest, ignored);
  if (first === "npx" && second === "cdktf") return problemOfCdktf(rest);
  if (first === "npm" && second === "run") {
    const script = rest.find((word) => !word.startsWith("-")) ?? "";
    return script in scripts ? undefined : `package.json has no script ${script}`;
  }
  return undefined;
}

/** Parses the arguments as the program does, and runs nothing. */
async function problemOfArguments(words: readonly string[], ignored: readonly string[]): Promise<string | undefined> {
  let said = "";
  const stream = {
    write: (text: string | Uint8Array) => {
      said += String(text);
      return true;
    },
  };
  const program = createProgram(outputTo(stream, stream));
  const withoutAction = (command: Command): void => {
    if (command.commands.length === 0) command.action(() => undefined);
    command.commands.forEach(withoutAction);
  };
  withoutAction(program);
  // A group of commands is named in a sentence; without a command it prints its help.
  if (program.commands.some((group) => group.commands.length > 0 && words.join(" ") === group.name())) return undefined;
  try {
    await program.parseAsync(["node", "konnectivity-bootstrap", ...words]);
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError && (error.exitCode === 0 || ignored.includes(error.code))) return undefined;
    return said.split("\n")[0] ?? String(error);
  }
}

/** cdktf's own parser is not at hand; these are the commands that this project's texts recommend. */
function problemOfCdktf([verb, ...rest]: readonly string[]): string | undefined {
  if (verb === undefined) return undefined;
  if (!["deploy", "destroy", "diff", "list", "output", "synth"].includes(verb)) return `cdktf has no command ${verb}`;
  const patterns = rest.filter((word) => !word.startsWith("-") && word !== "x");
  const unknown = patterns.filter((pattern) => {
    const matches = new RegExp(`^${pattern.replaceAll("x-*", ".*").replaceAll("*", ".*")}$`);
    return !stacks.some((stack) => matches.test(stack));
  });
  return unknown.length === 0 ? undefined : `no stack is named ${unknown.join(" or ")}`;
}

describe.each([
  ["pages", commandsInPages(), 100, []],
  ["texts of the program", commandsInSources(), 10, []],
  ["composed texts", composedCommands(), 3, filledInLater],
] as const)("commands in %s", (_, commands, least, ignored) => {
  it("are found", () => {
    expect(commands.length).toBeGreaterThan(least);
  });

  it("are taken by the program that they name", async () => {
    const problems = await Promise.all(commands.map(async (one) => ({ one, problem: await problemOf(one, ignored) })));
    const wrong = problems.filter(({ problem }) => problem !== undefined);
    expect(wrong.map(({ one, problem = "" }) => `${one.where}: ${one.words.join(" ")}: ${problem}`)).toEqual([]);
  });
});
