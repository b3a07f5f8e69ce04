import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { Command, CommanderError } from "commander";
import { InputError } from "../constructs/problems.ts";
import { consoleOutput } from "./output.ts";
import { payloadCommand } from "./payload.ts";

const { version, description } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
  description: string;
};

/** Runs one command; the result is the exit code: 0 done, 1 bad input, 2 wrong usage. */
export async function main(argv: readonly string[]): Promise<number> {
  const output = consoleOutput();
  // The work is done in one go; a signal in the middle of it must not leave half of it. It ends the command right after.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  const program = new Command("konnectivity-bootstrap")
    .description(description)
    .version(version)
    .addCommand(payloadCommand(output));
  // Not inherited by commands that are added.
  for (const command of [program, ...program.commands.flatMap((c) => [c, ...c.commands])])
    command.exitOverride().showHelpAfterError("(--help shows how)");
  try {
    await program.parseAsync(argv);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof InputError)) throw error;
    for (const { message } of error.problems) output.error(message);
    return 1;
  }
}
