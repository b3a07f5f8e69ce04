import { existsSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { findConfigFile } from "../../stacks/load.ts";
import { configFormat } from "../../stacks/platforms.ts";
import { type Config, readConfig } from "../config/config-file.ts";
import { metadataOf } from "../config/install-dir.ts";
import { readSavedMetadata } from "../config/saved-metadata.ts";

/** Options of every teardown step. */
export interface TeardownOptions {
  readonly config?: string;
  readonly kubeconfig?: string;
}

/** Whether a platform is a lab on this machine instead of a cloud. */
export const isLab = (platform: string) => !configFormat.clouds.some(({ name }) => name === platform);

/** The config file. @returns undefined if there is none */
export const configFileFor = ({ config }: TeardownOptions) => config ?? findConfigFile(process.env);

export function configFor(options: TeardownOptions): Config {
  return readConfig(configFormat, configFileFor(options));
}

/** Resolves a path of the config file, which is relative to that file. */
function inConfigFolder(options: TeardownOptions, path: string): string {
  const file = configFileFor(options);
  return file === undefined ? resolve(path) : resolve(dirname(file), path);
}

/** From the option, the config, the environment or the install folder, in this order. */
export function kubeconfigFor(options: TeardownOptions, config: Config): string {
  const { kubeconfig } = config.teardown;
  const listed = process.env.KUBECONFIG?.split(delimiter).filter((one) => one !== "") ?? [];
  const ofEnvironment = listed.find((one) => existsSync(one)) ?? listed[0];
  return (
    options.kubeconfig ??
    (kubeconfig === undefined ? undefined : inConfigFolder(options, kubeconfig)) ??
    ofEnvironment ??
    join(inConfigFolder(options, config.installDir), "auth/kubeconfig")
  );
}

/** The infra ID of the cluster that must answer. @returns undefined if it is not known */
export function infraIdFor(platform: string, options: TeardownOptions): string | undefined {
  if (isLab(platform)) return undefined;
  const { infrastructureName, installDir, state } = configFor(options);
  const saved = () =>
    state.local === undefined
      ? undefined
      : readSavedMetadata(configFormat, inConfigFolder(options, state.local.folder));
  return infrastructureName ?? (metadataOf(configFormat, inConfigFolder(options, installDir)) ?? saved())?.infraID;
}
