import type { Warning } from "../constructs/problems.ts";

/** Where a command's answer goes: results to stdout, everything about them to stderr. */
export interface Output {
  text(text: string): void;
  json(value: unknown): void;
  warnings(warnings: readonly Warning[]): void;
  error(message: string): void;
  /** For whoever watches: the same line again and again, on a terminal only. */
  progress?(text: string): void;
}

export function consoleOutput(): Output {
  return {
    text: (text) => process.stdout.write(text),
    json: (value) => process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`),
    warnings: (warnings) => {
      for (const { message } of warnings) process.stderr.write(`warning: ${message}\n`);
    },
    ...(process.stderr.isTTY && { progress: (text) => process.stderr.write(`\r${text}\u001b[K\r`) }),
    error: (message) => process.stderr.write(`error: ${message}\n`),
  };
}
