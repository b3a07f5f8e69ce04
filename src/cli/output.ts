import { oneLine, printable } from "../core/printable.ts";
import type { Problem, Warning } from "../core/errors.ts";
import { asStarted } from "./printed-commands.ts";
import { type Clock, Progress, systemClock } from "./progress.ts";
import {
  coloured,
  colourVerdicts,
  type Environment,
  hasColour,
  isInteractive,
  type Stream,
  type Verdicts,
} from "./terminal.ts";

/**
 * Where a command prints: results to stdout, everything about them to stderr. Texts may quote a machine, an API or a file:
 * control characters in them are escaped, so that no terminal obeys them. Commands in them are printed as the program was
 * started.
 */
export interface Output {
  /** @param verdicts words to be coloured on a terminal */
  text(text: string, verdicts?: Verdicts): void;
  /** The result, for --json. It is printed when the command ends, together with the errors and warnings. */
  json(result: object): void;
  /** Prints a result that others follow, on a line of its own, at once. */
  jsonLine(result: object, ok: boolean): void;
  warnings(warnings: readonly Warning[]): void;
  /** What is worth knowing beside the result, and no reason for concern. */
  note(message: string): void;
  error(message: string): void;
  /** Reports wrong usage. */
  usage(text: string): void;
  /** Says what the command does now: on a terminal, if it takes long. Without a text it does nothing but wait. */
  doing(what?: string): void;
  /** Ends a command. With --json, prints its result or its errors. */
  end(ending: Ending): void;
  /** The program's exit code, unless an error ends it. */
  exitCode: number;
}

/** The option with which a command calls `Output.json`. */
export const jsonOption = ["--json", "print JSON"] as const;
/** The same for a command with --watch, which calls `Output.jsonLine` then. */
export const jsonLinesOption = ["--json", "print JSON; with --watch, one line for each change"] as const;

/** The version of the JSON that commands print. It changes when a key is removed or means something else. */
export const formatVersion = 1;

/** An error as JSON has it. */
export interface JsonError {
  readonly code: string;
  readonly message: string;
  /** The option that it is about, like aws.vpcId: the one at this line. */
  readonly option?: string;
  /** All of them, if it is about several. */
  readonly options?: readonly string[];
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

export interface Ending {
  readonly exitCode: number;
  readonly errors: readonly JsonError[];
  /** How to print a result or errors as JSON. @default - they are not printed as JSON */
  readonly json: "document" | "line" | undefined;
}

export function jsonErrorOf({ code, message, options: all = [], position, file }: Problem): JsonError {
  // An empty option is the whole config.
  const options = all.filter((one) => one !== "");
  const [option] = options;
  return {
    code,
    message,
    ...(option !== undefined && { option }),
    ...(options.length > 1 && { options }),
    ...(file !== undefined && { file }),
    ...position,
  };
}

export interface OutputProps {
  readonly environment?: Environment;
  readonly clock?: Clock;
}

export function outputTo(stdout: Stream, stderr: Stream, props: OutputProps = {}): Output {
  const { environment = process.env, clock = systemClock } = props;
  const progress = isInteractive(stderr, environment)
    ? new Progress({ write: (text) => stderr.write(text), columns: () => stderr.columns ?? 80, clock })
    : undefined;
  const coloursText = hasColour(stdout, environment);
  const coloursErrors = hasColour(stderr, environment);
  const print = (stream: Stream, text: string) => {
    // Both may be the same terminal.
    progress?.erase();
    stream.write(text);
  };
  const label = (word: "error" | "warning") =>
    coloursErrors ? coloured(`${word}:`, word === "error" ? "bad" : "unclear") : `${word}:`;
  let result: object | undefined;
  const warned: Warning[] = [];
  const envelope = (ok: boolean, content: object, errors: readonly JsonError[]) => ({
    formatVersion,
    ok,
    ...content,
    errors,
    warnings: warned.splice(0),
  });
  // JSON.stringify does not escape C1 and format characters; the escapes are valid JSON.
  const printJson = (value: object, indent?: number) => {
    const withCommands = (_: string, part: unknown) => (typeof part === "string" ? asStarted(part) : part);
    print(stdout, `${printable(JSON.stringify(value, withCommands, indent))}\n`);
  };
  return {
    text: (text, verdicts) => {
      const safe = printable(asStarted(text));
      print(stdout, coloursText && verdicts !== undefined ? colourVerdicts(safe, verdicts) : safe);
    },
    json: (value) => {
      result = value;
    },
    jsonLine: (value, ok) => {
      printJson(envelope(ok, value, []));
    },
    warnings: (warnings) => {
      warned.push(...warnings);
      for (const { message } of warnings) print(stderr, `${label("warning")} ${oneLine(asStarted(message))}\n`);
    },
    error: (message) => {
      print(stderr, `${label("error")} ${oneLine(asStarted(message))}\n`);
    },
    usage: (text) => {
      print(stderr, printable(text).replace(/^error:/, label("error")));
    },
    doing: (what) => {
      if (what === undefined) progress?.done();
      else progress?.doing(oneLine(what));
    },
    end: ({ exitCode, errors, json }) => {
      progress?.done();
      if (result === undefined && (errors.length === 0 || json === undefined)) return;
      printJson(envelope(exitCode === 0, result ?? {}, errors), json === "line" ? undefined : 2);
    },
    note: (message) => {
      print(stderr, `${oneLine(asStarted(message))}\n`);
    },
    exitCode: 0,
  };
}
