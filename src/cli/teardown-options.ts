import { existsSync } from "node:fs";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { configFormat } from "../../stacks/platforms.ts";
import { type Config, readConfig } from "../config/config-file.ts";
import { metadataOf } from "../config/install-dir.ts";
import { readSavedMetadata } from "../config/saved-metadata.ts";
import { adviceFor, configFileFor, type ConfigOptions, inConfigFolder } from "./config-option.ts";

/** Options of every teardown step. */
export interface TeardownOptions extends ConfigOptions {
  readonly kubeconfig?: string;
}

/** Whether a platform is a lab on this machine instead of a cloud. */
export const isLab = (platform: string) => !configFormat.clouds.some(({ name }) => name === platform);

export function configFor(options: TeardownOptions): Config {
  return readConfig(configFormat, configFileFor(options), adviceFor(options));
}

/** Where a kubeconfig is named, and so how certain it is that it belongs to the config's cluster. */
export interface FoundKubeconfig {
  readonly file: string;
  readonly from: "option" | "config" | "environment" | "install folder";
}

/** The kubeconfig of the option, the config, the environment or the install folder, in this order. */
export function findKubeconfig(options: TeardownOptions, config: Config): FoundKubeconfig {
  const { kubeconfig } = config.teardown;
  const environment = kubeconfigOfEnvironment();
  if (options.kubeconfig !== undefined) return { file: options.kubeconfig, from: "option" };
  if (kubeconfig !== undefined) return { file: inConfigFolder(configFileFor(options), kubeconfig), from: "config" };
  if (environment !== undefined) return { file: environment, from: "environment" };
  const installDir = inConfigFolder(configFileFor(options), config.installDir);
  return { file: join(installDir, "auth/kubeconfig"), from: "install folder" };
}

export const kubeconfigFor = (options: TeardownOptions, config: Config) => findKubeconfig(options, config).file;

/** The first file in KUBECONFIG that exists. @returns undefined if the variable names none */
export function kubeconfigOfEnvironment(): string | undefined {
  const listed = process.env.KUBECONFIG?.split(delimiter).filter((one) => one !== "") ?? [];
  return listed.find((one) => existsSync(one)) ?? listed[0];
}

/** The infra ID of the config's cluster. @returns undefined if it is not known */
export function infraIdFor(options: TeardownOptions, config: Config): string | undefined {
  const { infrastructureName, installDir, state } = config;
  const configFile = configFileFor(options);
  const saved = () =>
    state.local === undefined
      ? undefined
      : readSavedMetadata(configFormat, inConfigFolder(configFile, state.local.folder));
  return infrastructureName ?? (metadataOf(configFormat, inConfigFolder(configFile, installDir)) ?? saved())?.infraID;
}

/** The infra ID in the install folder of a kubeconfig. @returns undefined if it is not in one */
export function infraIdBeside(kubeconfig: string): string | undefined {
  const folder = dirname(resolve(kubeconfig));
  return basename(folder) === "auth" ? metadataOf(configFormat, dirname(folder))?.infraID : undefined;
}
