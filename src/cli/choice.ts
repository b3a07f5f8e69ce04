import { InvalidArgumentError } from "commander";
import { nearestTo } from "../core/schema/parse.ts";
import { configFormat } from "../../stacks/platforms.ts";
import type { Output } from "./output.ts";

/** Names that users know from elsewhere, and what is meant by them here. */
export type Aliases = Readonly<Record<string, string>>;

/**
 * A parser for one of several words. An error names the word that was probably meant; an alias is accepted, and the
 * word for it is printed.
 */
export function oneOfWords(words: readonly string[], output: Output, aliases: Aliases = {}): (text: string) => string {
  return (text) => {
    if (words.includes(text)) return text;
    const meant = aliases[text];
    if (meant !== undefined && words.includes(meant)) {
      output.warnings([{ code: "alias", message: `${text} means ${meant} here.` }]);
      return meant;
    }
    const near = nearestTo(text, [...words, ...Object.keys(aliases)]);
    const hint = near === undefined ? "" : ` (Did you mean ${aliases[near] ?? near}?)`;
    throw new InvalidArgumentError(`Allowed choices are ${words.join(", ")}.${hint}`);
  };
}

/** openshift-install's names of the platforms that have another name here, like gcp. */
export const installerNames: Aliases = Object.fromEntries(
  configFormat.platforms.flatMap(({ name, metadata }) =>
    metadata === undefined || metadata.key === name ? [] : [[metadata.key, name]],
  ),
);
