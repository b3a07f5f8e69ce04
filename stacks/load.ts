import { existsSync, statSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { type Config, readPartialConfig } from "../src/config/config-file.ts";
import { bootstrapIgnOf, metadataOf } from "../src/config/install-dir.ts";
import type { Metadata } from "../src/config/metadata.ts";
import { deployedIn, readSavedMetadata } from "../src/config/saved-metadata.ts";
import { readStream, type Stream } from "../src/config/stream.ts";
import { type Problem, Problems, UserError, problem } from "../src/core/errors.ts";
import { isThere } from "../src/files/user-file.ts";
import { configFormat } from "./platforms.ts";

/** The environment variable that names the config file. */
export const configVariable = "KONNECTIVITY_CONFIG";
const usualFile = "konnectivity.yaml";
const usualStateFolder = ".state";

/** What a synth and `config check` say where there is no config file. */
export const withoutConfig = {
  stacks: "these are the stacks of the lab on this machine",
  advice: "for a cloud, write a config file with `npx konnectivity-bootstrap config init <platform>`",
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** The config file to use: the one that the environment names, or konnectivity.yaml. */
export const configFileOf = (environment: Environment): string => namedConfigFile(environment) ?? usualFile;

/** The config file to read: undefined if the environment names none and konnectivity.yaml does not exist. */
export function findConfigFile(environment: Environment, workingDirectory = process.cwd()): string | undefined {
  const named = namedConfigFile(environment);
  if (named !== undefined) return named;
  if (existsSync(resolve(workingDirectory, usualFile))) return usualFile;
  if (deployedIn(configFormat, resolve(workingDirectory, usualStateFolder)).length > 0)
    throw new UserError(problem("config-gone", { file: usualFile, folder: usualStateFolder }));
  return undefined;
}

/** The config file that the environment names. It is read even if it does not exist, which is an error. */
export function namedConfigFile({ [configVariable]: named }: Environment): string | undefined {
  return named === "" ? undefined : named;
}

/** What to do if the config file that the environment names cannot be read. @returns undefined if it names none */
export const environmentAdvice = (environment: Environment): string | undefined =>
  namedConfigFile(environment) === undefined ? undefined : `check ${configVariable}`;

export interface LoadOptions {
  /** Where an operator will run the command lines that are shown. @default - this process's */
  readonly workingDirectory?: string;
  /**
   * Whether an install folder without bootstrap.ign is an error if nothing is deployed. What is deployed can be destroyed without it, and
   * a destroy describes everything first.
   * @default false
   */
  readonly installDirRequired?: boolean;
  /** What to do about a config file that cannot be read. @default - create it, or check its name */
  readonly configAdvice?: string | undefined;
}

/** The user's files, and everything that is wrong with them. */
export interface Loaded {
  /** Absolute. @default - there is none */
  readonly configFile?: string;
  /** Absolute. */
  readonly workingDirectory: string;
  /** Without its invalid values. */
  readonly config: Config;
  /** Options with invalid values: other problems with them follow from that. */
  readonly invalidOptions: readonly string[];
  /** Adds the position in the config file to a problem. */
  readonly locate: (found: Problem) => Problem;
  readonly installDir: InstallDirState;
  /** Absolute. @default - the state is not local */
  readonly stateFolder?: string;
  /** Clouds whose stacks have resources in the state folder. */
  readonly deployed: readonly string[];
  /** Of the install folder, or else saved beside the state. @default - not known */
  readonly metadata?: Metadata;
  /** What a deploy saved beside the state. @default - nothing */
  readonly savedMetadata?: Metadata;
  /** metadata.json cannot be read or is another cluster's, or nobody knows where it is, which is among the problems. */
  readonly metadataDamaged: boolean;
  /** @default - none is given, or it cannot be read */
  readonly stream?: Stream;
  readonly problems: readonly Problem[];
}

export interface InstallDirState {
  /** Absolute. */
  readonly folder: string;
  /** For command lines that operators copy: relative to the working directory. */
  readonly shown: string;
  readonly missing: boolean;
  /** Undefined if that cannot be found out, which is among the problems. */
  readonly hasBootstrapIgn: boolean | undefined;
}

/**
 * Reads the config file and the files that it names. All problems are collected: an error in one file hides no error in
 * another.
 * @param file the config file; without one there is the lab alone
 * @throws UserError if the config file cannot be read at all
 */
export function load(file: string | undefined, options: LoadOptions = {}): Loaded {
  const { workingDirectory = process.cwd(), installDirRequired = false, configAdvice } = options;
  const {
    config: given,
    problems: inFile,
    invalidOptions,
    locate,
  } = readPartialConfig(configFormat, file, configAdvice);
  const config = file === undefined ? { ...given, platforms: labsWithDefaults() } : given;
  const problems = new Problems();
  const inConfigFolder = (path: string) => resolve(file === undefined ? workingDirectory : dirname(file), path);
  const folder = inConfigFolder(config.installDir);
  const shown = relative(workingDirectory, folder) || ".";
  const missing = isMissing(folder);
  const stateFolder = config.state.local && inConfigFolder(config.state.local.folder);
  const deployed = stateFolder === undefined ? [] : deployedIn(configFormat, stateFolder);

  const ofInstallDir = problems.attempt(() => ({ metadata: metadataOf(configFormat, folder) }));
  const saved =
    stateFolder === undefined
      ? undefined
      : problems.attempt(() => ({ metadata: readSavedMetadata(configFormat, stateFolder) }));
  const destroyable = stateFolder === undefined || deployed.some((platform) => platform in config.platforms);
  const needed = installDirRequired && inCloud(config) && !destroyable;
  if (needed && missing) problems.add(installDirUnusable(shown, "does not exist"));
  // What was deployed with such a config can still be destroyed; a shared state is not read here.
  const other = destroyable ? undefined : otherPlatformOf(ofInstallDir?.metadata, config);
  if (other !== undefined)
    problems.add(
      problem("option-invalid", {
        option: "installDir",
        found: `${shown}, which is the install folder of a cluster on ${other}`,
        expected: `that of a cluster on ${cloudsIn(config)
          .map(({ name }) => name)
          .join(" or ")}`,
      }),
    );
  const metadataDamaged = problems.found.length > 0 || invalidOptions.includes("installDir");

  const hasBootstrapIgn = problems.attempt(() => isThere(bootstrapIgnOf(folder)));
  if (needed && !missing && hasBootstrapIgn === false) problems.add(installDirUnusable(shown, "has no bootstrap.ign"));
  const streamFile = config.stream === undefined ? undefined : inConfigFolder(config.stream);
  // Without bootstrap.ign everything can only be destroyed, which takes no image.
  const streamNeeded = hasBootstrapIgn !== false || (streamFile !== undefined && existsSync(streamFile));
  const stream = streamFile === undefined || !streamNeeded ? undefined : problems.attempt(() => readStream(streamFile));
  return {
    configFile: file === undefined ? undefined : resolve(file),
    workingDirectory: resolve(workingDirectory),
    config,
    invalidOptions,
    locate,
    installDir: { folder, shown, missing, hasBootstrapIgn },
    stateFolder,
    deployed,
    metadata: ofInstallDir === undefined ? undefined : (ofInstallDir.metadata ?? saved?.metadata),
    savedMetadata: saved?.metadata,
    metadataDamaged,
    stream,
    problems: [...inFile, ...withoutConsequences(problems.found, invalidOptions).map(locate)],
  };
}

/** Whether the config has a platform that a real cluster is on. */
export const inCloud = (config: Config) => cloudsIn(config).length > 0;

const cloudsIn = ({ platforms }: Config) => configFormat.clouds.filter(({ name }) => name in platforms);

/** The cloud of a metadata.json, if the config has clouds, but not that one. */
function otherPlatformOf(metadata: Metadata | undefined, config: Config): string | undefined {
  const found = configFormat.clouds.filter((cloud) => cloud.metadata && metadata?.[cloud.metadata.key] !== undefined);
  const wanted = cloudsIn(config);
  // A platform without a part in metadata.json can be that of any cluster.
  const fits = wanted.some((cloud) => cloud.metadata === undefined || found.includes(cloud));
  return wanted.length === 0 || fits ? undefined : found[0]?.name;
}

/** Without the problems that follow from invalid values, which are reported themselves. */
export function withoutConsequences(problems: readonly Problem[], invalidOptions: readonly string[]): Problem[] {
  const follows = (option: string) =>
    invalidOptions.some((path) => path === option || path.startsWith(`${option}.`) || option.startsWith(`${path}.`));
  return problems.filter(({ options = [] }) => !options.some(follows));
}

const labsWithDefaults = () =>
  Object.fromEntries(
    configFormat.platforms.filter(({ lab }) => lab !== undefined).map(({ name, schema }) => [name, schema.parse({})]),
  );

/** Any other reason why it cannot be read is reported where its files are read. */
function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

const installDirUnusable = (shown: string, why: string) =>
  problem("option-invalid", {
    option: "installDir",
    found: `${shown}, which ${why}`,
    expected:
      'the folder in which "openshift-install create ignition-configs" ran (only a destroy works without it, and nothing is deployed)',
  });
