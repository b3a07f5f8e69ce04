import type { Warning } from "../constructs/problems.ts";

/** Where a command's answer goes: results to stdout, everything about them to stderr. */
export interface Output {
  text(text: string): void;
  json(value: unknown): void;
  warnings(warnings: readonly Warning[]): void;
  error(message: string): void;
  /** How the command was used wrongly. */
  usage(text: string): void;
  /** For whoever watches: the same line again and again, on a terminal only. */
  progress?(text: string): void;
  /** What the program ends with, unless a mistake ends it. */
  exitCode: number;
}

type Stream = Pick<NodeJS.WriteStream, "write"> & { readonly isTTY?: boolean };

export function outputTo(stdout: Stream, stderr: Stream): Output {
  return {
    text: (text) => stdout.write(text),
    json: (value) => stdout.write(`${JSON.stringify(value, undefined, 2)}\n`),
    warnings: (warnings) => {
      for (const { message } of warnings) stderr.write(`warning: ${message}\n`);
    },
    error: (message) => stderr.write(`error: ${message}\n`),
    usage: (text) => stderr.write(text),
    ...(stderr.isTTY === true && { progress: (text) => stderr.write(`\r${text}\u001b[K\r`) }),
    exitCode: 0,
  };
}
