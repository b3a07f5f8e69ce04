import { styleText } from "node:util";

/** What a command writes to: stdout, stderr, or a fake of them. */
export type Stream = Pick<NodeJS.WriteStream, "write"> & { readonly isTTY?: boolean; readonly columns?: number };
export type Environment = Readonly<Record<string, string | undefined>>;

const isSet = (value: string | undefined) => value !== undefined && value !== "";

/** Whether somebody watches who can see a line change. A CI system may record what a terminal would show. */
export function isInteractive({ isTTY }: Stream, { CI, TERM }: Environment): boolean {
  return isTTY === true && TERM !== "dumb" && !isSet(CI);
}

/** NO_COLOR: https://no-color.org */
export function hasColour(stream: Stream, environment: Environment): boolean {
  return isInteractive(stream, environment) && !isSet(environment.NO_COLOR);
}

const colours = { good: "green", bad: "red", unclear: "yellow" } as const;
type Meaning = keyof typeof colours;

/** Words of a table that are verdicts, like "passed", and what they mean to the user. */
export type Verdicts = Readonly<Record<string, Meaning>>;

/** A word in its colour. */
export function coloured(word: string, meaning: Meaning): string {
  // The stream is not always this process's: whether it shows colours was decided before.
  return styleText(colours[meaning], word, { validateStream: false });
}

/** Colours the verdicts that fill the first or the second column of a line, or that a colon follows at its start. */
export function colourVerdicts(text: string, verdicts: Verdicts): string {
  // The longest first: one may be the beginning of another.
  const words = Object.keys(verdicts).sort((a, b) => b.length - a.length);
  const alternatives = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const pattern = new RegExp(`^((?:\\S+ {2,})?)(${alternatives})(?= {2,}|:|$)`, "gm");
  return text.replace(pattern, (_, before: string, word: string) => {
    const meaning = verdicts[word];
    return `${before}${meaning === undefined ? word : coloured(word, meaning)}`;
  });
}
