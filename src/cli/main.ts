import { inspect } from "node:util";
import { Command, CommanderError, Help, InvalidArgumentError, type Option } from "commander";
import { description, version } from "../core/package.ts";
import { describeProblem, type ProblemCode, UserError } from "../core/errors.ts";
import { payloadVersion } from "../core/ignition/record.ts";
import { acceptanceCommand } from "./acceptance.ts";
import { completionCommand } from "./completion.ts";
import { configCommand } from "./config.ts";
import { doctorCommand } from "./doctor.ts";
import { exampleCommand } from "./example.ts";
import { gatherCommand } from "./gather.ts";
import { ipiCommand } from "./ipi.ts";
import { labCommand } from "./lab.ts";
import { type Ending, type JsonError, jsonErrorOf, type Output, outputTo } from "./output.ts";
import { payloadCommand } from "./payload.ts";
import { statusCommand } from "./status.ts";
import { teardownCommand } from "./teardown.ts";
import { tunnelCommand } from "./tunnel.ts";
import { verifyCommand } from "./verify.ts";
import { webhooksCommand } from "./webhooks.ts";

/** Runs one command. @returns the exit code: 0 success, 1 bad input or a check that failed, 2 wrong usage */
export async function main(
  argv: readonly string[],
  output: Output = outputTo(process.stdout, process.stderr),
): Promise<number> {
  const program = createProgram(output);
  const words = argv.slice(2);
  const { exitCode, errors } = await run(program, words, output);
  output.end({ exitCode, errors, json: jsonFor(program, words) });
  return exitCode;
}

/** All commands, with their arguments and options. */
export function createProgram(output: Output): Command {
  const program = new Command("konnectivity-bootstrap")
    .description(description)
    .version(version, "-V, --version", "print the version; with --json, what a bug report needs")
    .enablePositionalOptions()
    .addCommand(ipiCommand(output))
    .addCommand(payloadCommand(output))
    .addCommand(configCommand(output))
    .addCommand(webhooksCommand(output))
    .addCommand(exampleCommand(output))
    .addCommand(labCommand(output))
    .addCommand(verifyCommand(output))
    .addCommand(statusCommand(output))
    .addCommand(gatherCommand(output))
    .addCommand(tunnelCommand(output))
    .addCommand(teardownCommand(output))
    .addCommand(acceptanceCommand(output))
    .addCommand(doctorCommand(output))
    .addCommand(completionCommand(output));
  // Commands that are added do not inherit these settings.
  for (const command of withSubcommands(program)) {
    refuseEmptyPaths(command);
    if (command.commands.length > 0) command.helpCommand("help [command]", "Print help for a command");
    command
      .helpOption("-h, --help", "print help")
      .exitOverride()
      .showHelpAfterError("(see --help)")
      .configureHelp({ optionDescription, minWidthToWrap: 20 })
      .configureOutput({
        writeOut: (text) => {
          output.text(text);
        },
        writeErr: (text) => {
          output.usage(text);
        },
      });
  }
  return program;
}

/** What an argument or an option names, by the word that the help has for its value. */
const pathKinds: Readonly<Record<string, string>> = {
  file: "a file",
  dir: "a folder",
  folder: "a folder",
  "install-dir": "a folder",
};

/** An unset shell variable becomes an empty path, and that would mean the working directory. */
function refuseEmptyPaths(command: Command): void {
  const refuseEmpty = (kind: string) => (text: string) => {
    if (text === "") throw new InvalidArgumentError(`Name ${kind}.`);
    return text;
  };
  const options = command.options.map((option) => [/<(.+)>/.exec(option.flags)?.[1], option] as const);
  const args = command.registeredArguments.map((argument) => [argument.name(), argument] as const);
  for (const [name = "", one] of [...options, ...args]) {
    const kind = pathKinds[name];
    if (kind !== undefined && one.parseArg === undefined) one.argParser(refuseEmpty(kind));
  }
}

const withSubcommands = (command: Command): Command[] => [command, ...command.commands.flatMap(withSubcommands)];

async function run(program: Command, words: readonly string[], output: Output): Promise<Omit<Ending, "json">> {
  try {
    if (asksForVersions(words)) output.json(versions());
    else await program.parseAsync(words, { from: "user" });
    return { exitCode: output.exitCode, errors: [] };
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? { exitCode: 0, errors: [] } : { exitCode: 2, errors: [usageError(error)] };
    if (error instanceof UserError) {
      for (const found of error.problems) output.error(describeProblem(found));
      const isUsage = error.problems.every(({ code }) => usageProblems.includes(code));
      return { exitCode: isUsage ? 2 : 1, errors: error.problems.map(jsonErrorOf) };
    }
    output.usage(`${inspect(error)}\n`);
    return { exitCode: 1, errors: [{ code: "unexpected", message: String(error) }] };
  }
}

/** Problems with the command line itself, which Commander does not find. */
const usageProblems: readonly ProblemCode[] = [
  "lab-or-cluster",
  "switch-unconfirmed",
  "verify-lab-only",
  "pointer-option-without-url",
  "pointer-option-invalid",
  "pointer-option-not-honoured",
  "pointer-scheme-unknown",
  "pointer-url-invalid",
];

/** Commander's codes are like commander.unknownOption, and its messages are for a terminal. */
function usageError({ code, message }: CommanderError): JsonError {
  // Without a command it prints the help, and has nothing to say about it.
  if (code === "commander.help") return { code: "missing-command", message: "name a command: --help lists them" };
  return {
    code: code.replace(/^commander\./, "").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    message: message.replace(/^error: /, "").replaceAll("\n", " "),
  };
}

/** Whether --json is among the words, and whether a result is one of several. */
function jsonFor(program: Command, words: readonly string[]): Ending["json"] {
  let command = program;
  const own: string[] = [];
  for (const word of words) {
    if (word === "--") break;
    own.push(word);
    if (word.startsWith("-")) continue;
    const below = command.commands.find((one) => one.name() === word);
    // What follows is another program's command line.
    if (below === undefined && command.registeredArguments.some(({ variadic }) => variadic)) break;
    command = below ?? command;
  }
  if (!own.includes("--json")) return undefined;
  return own.includes("--watch") ? "line" : "document";
}

/** Commander prints the version before it has seen the other options. */
const asksForVersions = (words: readonly string[]) =>
  words.length === 2 && words.includes("--json") && words.some((word) => word === "--version" || word === "-V");

const versions = () => ({
  version,
  payloadVersion,
  node: process.version,
  platform: process.platform,
  architecture: process.arch,
});

/** Commander does not mark the options that a command cannot do without. */
function optionDescription(option: Option): string {
  const text = new Help().optionDescription(option);
  return option.mandatory ? `${text} (required)` : text;
}
