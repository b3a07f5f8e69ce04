import { command } from "./cli.ts";

/** One page of help. */
export interface HelpPage {
  /** The words of the command after the program's name. */
  readonly words: readonly string[];
  readonly text: string;
}

/** The help of every command, found by reading the lists of commands in the help itself. */
export async function helpPages(words: readonly string[] = []): Promise<HelpPage[]> {
  const { stdout: text } = await command(...words, "--help");
  const [, list = ""] = /\nCommands:\n(.*)$/s.exec(text) ?? [];
  const names = [...list.matchAll(/^ {2}(\w\S*)/gm)].map(([, name = ""]) => name).filter((name) => name !== "help");
  const below = await Promise.all(names.map((name) => helpPages([...words, name])));
  return [{ words, text }, ...below.flat()];
}
