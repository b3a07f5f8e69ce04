import { inspect } from "node:util";
import { Command, CommanderError, Help, type Option } from "commander";
import { description, version } from "../core/package.ts";
import { describeProblem, UserError } from "../core/errors.ts";
import { acceptanceCommand } from "./acceptance.ts";
import { completionCommand } from "./completion.ts";
import { configCommand } from "./config.ts";
import { doctorCommand } from "./doctor.ts";
import { exampleCommand } from "./example.ts";
import { gatherCommand } from "./gather.ts";
import { ipiCommand } from "./ipi.ts";
import { labCommand } from "./lab.ts";
import { type Output, outputTo } from "./output.ts";
import { payloadCommand } from "./payload.ts";
import { statusCommand } from "./status.ts";
import { teardownCommand } from "./teardown.ts";
import { verifyCommand } from "./verify.ts";

/** Runs one command. @returns the exit code: 0 success, 1 bad input, 2 wrong usage */
export async function main(
  argv: readonly string[],
  output: Output = outputTo(process.stdout, process.stderr),
): Promise<number> {
  const program = new Command("konnectivity-bootstrap")
    .description(description)
    .version(version)
    .enablePositionalOptions()
    .addCommand(ipiCommand(output))
    .addCommand(payloadCommand(output))
    .addCommand(configCommand(output))
    .addCommand(exampleCommand(output))
    .addCommand(labCommand(output))
    .addCommand(verifyCommand(output))
    .addCommand(statusCommand(output))
    .addCommand(gatherCommand(output))
    .addCommand(teardownCommand(output))
    .addCommand(acceptanceCommand(output))
    .addCommand(doctorCommand(output))
    .addCommand(completionCommand(output));
  // Commands that are added do not inherit these settings.
  for (const command of [program, ...program.commands.flatMap((c) => [c, ...c.commands])])
    command
      .exitOverride()
      .showHelpAfterError("(--help shows how)")
      .configureHelp({ optionDescription, minWidthToWrap: 20 })
      .configureOutput({
        writeOut: (text) => {
          output.text(text);
        },
        writeErr: (text) => {
          output.usage(text);
        },
      });
  try {
    await program.parseAsync(argv);
    return output.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof UserError) for (const found of error.problems) output.error(describeProblem(found));
    else output.usage(`${inspect(error)}\n`);
    return 1;
  }
}

/** Commander does not mark the options that a command cannot do without. */
function optionDescription(option: Option): string {
  const text = new Help().optionDescription(option);
  return option.mandatory ? `${text} (required)` : text;
}
