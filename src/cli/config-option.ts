import { dirname, relative, resolve } from "node:path";
import type { Command } from "commander";
import { configVariable, environmentAdvice, findConfigFile } from "../../stacks/load.ts";
import type { Output } from "./output.ts";

/** What `withConfig` adds to the options of a command. */
export interface ConfigOptions {
  /** false: without a config file. @default - the one that the environment names, or konnectivity.yaml */
  readonly config?: string | false;
}

export const configOption = [
  "--config <file>",
  `config file (default: ${configVariable}, or konnectivity.yaml if it exists)`,
] as const;

/** Every command that uses a config file has these two options. */
export function withConfig(command: Command): Command {
  return command.option(...configOption).option("--no-config", "use no config file");
}

/** The config file to use. @returns undefined if there is none */
export function configFileFor({ config }: ConfigOptions): string | undefined {
  return config === false ? undefined : (config ?? findConfigFile(process.env));
}

/** What to do about a config file that cannot be read. @default - what the reader advises */
export function adviceFor({ config }: ConfigOptions): string | undefined {
  return typeof config === "string" ? "check --config" : environmentAdvice(process.env);
}

/** Resolves a path of the config file, which is relative to that file. */
export function inConfigFolder(configFile: string | undefined, path: string): string {
  return resolve(configFile === undefined ? "" : dirname(configFile), path);
}

/** A path as an operator types it in the working directory. */
export const shownPath = (path: string) => relative("", path) || ".";

/** Names the config file that a command has found by itself. */
export function noteConfig(output: Output, { config }: ConfigOptions, file: string | undefined): void {
  if (config === undefined && file !== undefined) output.note(`config    ${file}`);
}
