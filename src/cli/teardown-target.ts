import { configFormat } from "../../stacks/platforms.ts";
import { type Config, labNameIn, readConfig } from "../config/config-file.ts";
import type { Warning } from "../core/errors.ts";
import { configFileFor } from "./config-option.ts";
import {
  configFor,
  infraIdBeside,
  infraIdFor,
  kubeconfigFor,
  kubeconfigOfEnvironment,
  type TeardownOptions,
} from "./teardown-options.ts";

interface Target {
  /** @default - none was used */
  readonly configFile: string | undefined;
  /** The defaults, if no config file was used. */
  readonly config: Config;
}

export interface LabTarget extends Target {
  readonly lab: string;
  readonly platform: string;
}

export interface ClusterTarget extends Target {
  readonly kubeconfig: string;
  /** The infra ID that this cluster must have. @default - not known */
  readonly infraId: string | undefined;
  readonly warnings: readonly Warning[];
}

/** Which cluster the gate and the sweep ask. */
export type TeardownTarget = LabTarget | ClusterTarget;

/** @returns undefined if the config has none, or several */
export function onlyPlatformOf({ platforms }: Config): string | undefined {
  const [only, ...others] = Object.keys(platforms);
  return others.length === 0 ? only : undefined;
}

/**
 * The cluster of a platform, or without one the cluster of a kubeconfig.
 * @returns undefined if there is neither
 */
export function teardownTarget(platform: string | undefined, options: TeardownOptions): TeardownTarget | undefined {
  const { kubeconfig } = options;
  // A kubeconfig alone can be any cluster's: a config file that is found in the working directory says nothing about it.
  const alone = platform === undefined && kubeconfig !== undefined && typeof options.config !== "string";
  const configFile = alone ? undefined : configFileFor(options);
  if (platform === undefined && configFile === undefined) {
    const file = kubeconfig ?? kubeconfigOfEnvironment();
    return file === undefined ? undefined : targetOf(file, infraIdBeside(file), { configFile, config: defaults() });
  }
  const config = configFor(options);
  const used = { configFile, config };
  const named = platform ?? onlyPlatformOf(config);
  if (named === undefined && kubeconfig === undefined && Object.keys(config.platforms).length > 0) return undefined;
  const lab = named === undefined ? undefined : labNameIn(configFormat, config, named);
  if (named !== undefined && lab !== undefined && kubeconfig === undefined) return { lab, platform: named, ...used };
  const file = kubeconfigFor(options, config);
  // A lab's cluster has no infra ID.
  if (lab !== undefined) return { kubeconfig: file, infraId: undefined, ...used, warnings: [] };
  return targetOf(file, infraIdFor(options, config) ?? infraIdBeside(file), used);
}

const defaults = () => readConfig(configFormat, undefined);

function targetOf(kubeconfig: string, infraId: string | undefined, used: Target): ClusterTarget {
  const unchecked: Warning = {
    code: "cluster-not-checked",
    message: `The infra ID of the cluster is in neither a config file nor metadata.json, so it was not checked which cluster ${kubeconfig} belongs to.`,
  };
  return { kubeconfig, infraId, ...used, warnings: infraId === undefined ? [unchecked] : [] };
}
