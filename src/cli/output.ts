import { oneLine, printable } from "../core/printable.ts";
import type { Warning } from "../core/errors.ts";

/**
 * Where a command prints: results to stdout, everything about them to stderr. Texts may quote a machine, an API or a file:
 * control characters in them are escaped, so that no terminal obeys them.
 */
export interface Output {
  text(text: string): void;
  json(value: unknown): void;
  warnings(warnings: readonly Warning[]): void;
  /** What is worth knowing beside the result, and no reason for concern. */
  note(message: string): void;
  error(message: string): void;
  /** Reports wrong usage. */
  usage(text: string): void;
  /** Rewrites one line, on a terminal only. */
  progress?(text: string): void;
  /** The program's exit code, unless an error ends it. */
  exitCode: number;
}

/** The option with which a command calls `Output.json`. */
export const jsonOption = ["--json", "for machines"] as const;

type Stream = Pick<NodeJS.WriteStream, "write"> & { readonly isTTY?: boolean };

export function outputTo(stdout: Stream, stderr: Stream): Output {
  return {
    text: (text) => stdout.write(printable(text)),
    // JSON.stringify does not escape C1 and format characters; the escapes are valid JSON.
    json: (value) => stdout.write(`${printable(JSON.stringify(value, undefined, 2))}\n`),
    warnings: (warnings) => {
      for (const { message } of warnings) stderr.write(`warning: ${oneLine(message)}\n`);
    },
    note: (message) => stderr.write(`${oneLine(message)}\n`),
    error: (message) => stderr.write(`error: ${oneLine(message)}\n`),
    usage: (text) => stderr.write(printable(text)),
    ...(stderr.isTTY === true && { progress: (text) => stderr.write(`\r${oneLine(text)}\u001b[K\r`) }),
    exitCode: 0,
  };
}
