import { oneLine, printable } from "../core/printable.ts";
import type { Warning } from "../core/errors.ts";

/**
 * Where a command's answer goes: results to stdout, everything about them to stderr. Texts may hold others' words, of a
 * machine, an API or a file: no character of them reaches a terminal that would obey it.
 */
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
    text: (text) => stdout.write(printable(text)),
    // JSON.stringify leaves C1 and format characters as they are; the escapes are JSON's own.
    json: (value) => stdout.write(`${printable(JSON.stringify(value, undefined, 2))}\n`),
    warnings: (warnings) => {
      for (const { message } of warnings) stderr.write(`warning: ${oneLine(message)}\n`);
    },
    error: (message) => stderr.write(`error: ${oneLine(message)}\n`),
    usage: (text) => stderr.write(printable(text)),
    ...(stderr.isTTY === true && { progress: (text) => stderr.write(`\r${oneLine(text)}\u001b[K\r`) }),
    exitCode: 0,
  };
}
