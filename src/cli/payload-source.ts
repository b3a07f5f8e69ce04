import { existsSync, realpathSync } from "node:fs";
import { configFormat } from "../../stacks/platforms.ts";
import { type Config, onlyParts, type PartialConfig, readPartialConfig } from "../config/config-file.ts";
import { bootstrapIgnOf, readInstallDir } from "../config/install-dir.ts";
import type { Metadata } from "../config/metadata.ts";
import { aboutFile, Problems, UserError, type Warning } from "../core/errors.ts";
import { adviceFor, configFileFor, type ConfigOptions, inConfigFolder, shownPath } from "./config-option.ts";

/** What a payload is built from. */
export interface PayloadSource {
  /** @default - there is none: the tunnel has its defaults */
  readonly configFile: string | undefined;
  readonly config: Config;
  /** The file that was read, as an operator names it. */
  readonly file: string;
  readonly bootstrapIgn: string;
  readonly metadata: Metadata | undefined;
  readonly warnings: readonly Warning[];
}

/**
 * Reads the config file and the install folder, and uses them. Every problem with either is reported at once.
 * @param given the install folder; without one it is the config's
 * @returns undefined if there is neither
 */
export function usePayloadSource<T>(
  given: string | undefined,
  options: ConfigOptions,
  use: (source: PayloadSource) => T,
): T | undefined {
  const problems = new Problems();
  const { configFile, partial } = readConfigOf(options, problems);
  const configured = partial === undefined ? undefined : installDirOf(configFile, partial);
  const folder = given ?? configured;
  if (folder === undefined && problems.found.length === 0) return undefined;
  const install = problems.attempt(() => (folder === undefined ? undefined : readInstallDir(configFormat, folder)));
  if (partial === undefined || folder === undefined || install === undefined || problems.found.length > 0)
    throw new UserError(...problems.found);
  const { config, locate } = partial;
  const warnings = otherFolderWarnings(given, configFile, configured);
  try {
    const file = bootstrapIgnOf(folder);
    return aboutFile(file, () => use({ configFile, config, file, metadata: undefined, ...install, warnings }));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(...error.problems.map(locate));
  }
}

/**
 * The config file of the options, read for its tunnel and its installDir. Problems with these are collected; platforms
 * may still have to be filled in.
 */
export function readConfigOf(
  options: ConfigOptions,
  problems: Problems,
): { readonly configFile?: string | undefined; readonly partial?: PartialConfig | undefined } {
  const found = problems.attempt(() => {
    const configFile = configFileFor(options);
    return { configFile };
  });
  const partial =
    found &&
    problems.attempt(() =>
      onlyParts(readPartialConfig(configFormat, found.configFile, adviceFor(options)), ["tunnel", "installDir"]),
    );
  problems.add(...(partial?.problems ?? []));
  return { configFile: found?.configFile, partial };
}

/** @returns undefined if there is no config file, or what it says is not a folder */
function installDirOf(configFile: string | undefined, { config, invalidOptions }: PartialConfig): string | undefined {
  if (configFile === undefined || invalidOptions.includes("installDir")) return undefined;
  return shownPath(inConfigFolder(configFile, config.installDir));
}

/** The stacks would use the config's folder. */
function otherFolderWarnings(
  given: string | undefined,
  configFile: string | undefined,
  configured: string | undefined,
): Warning[] {
  if (given === undefined || configFile === undefined || configured === undefined) return [];
  if (!existsSync(bootstrapIgnOf(configured)) || realpathSync(given) === realpathSync(configured)) return [];
  return [
    {
      code: "install-dir-differs",
      message: `The install folder of ${configFile} is ${configured}, which also has a bootstrap.ign: ${given} is used, with the tunnel of ${configFile}.`,
    },
  ];
}
