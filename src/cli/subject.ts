import { existsSync } from "node:fs";
import { labFolder } from "../../lab/folder.ts";
import { inCloud, type Loaded, load } from "../../stacks/load.ts";
import { configFormat } from "../../stacks/platforms.ts";
import { labNameIn } from "../config/config-file.ts";
import { defaultLabName } from "../core/lab-layout.ts";
import { UserError, problem } from "../core/errors.ts";
import { adviceFor, configFileFor, type ConfigOptions, shownPath } from "./config-option.ts";
import { findKubeconfig } from "./teardown-options.ts";

/** A lab on this machine. */
export interface LabSubject {
  readonly lab: string;
  /** @default - there is none, and a lab of the default name runs */
  readonly configFile?: string;
}

/** A cluster that is not a lab. */
export interface ClusterSubject {
  readonly configFile: string;
  readonly loaded: Loaded;
  /** @default - it does not exist */
  readonly kubeconfig?: string;
  /** Why there is none, for a sentence. */
  readonly noKubeconfig: string;
}

/** What a command examines, if its options do not name it. */
export type Subject = LabSubject | ClusterSubject;

/**
 * What the config file configures: its cloud; its lab if that is its only platform. Without a config file it is the lab of
 * the default name, if that runs.
 * @param flags options that would name something else
 */
export async function configuredSubject(options: ConfigOptions, flags: string): Promise<Subject> {
  const configFile = configFileFor(options);
  if (configFile === undefined) {
    if (await runs(defaultLabName)) return { lab: defaultLabName };
    const reason = `there is no config file, and no lab named ${defaultLabName} runs`;
    throw new UserError(problem("subject-unknown", { reason, flags }));
  }
  const loaded = load(configFile, { configAdvice: adviceFor(options) });
  if (loaded.problems.length > 0) throw new UserError(...loaded.problems);
  const { config } = loaded;
  const lab = configFormat.platforms.find(
    (platform) => platform.lab !== undefined && platform.name in config.platforms,
  );
  const labName = lab === undefined || inCloud(config) ? undefined : labNameIn(configFormat, config, lab.name);
  if (labName !== undefined) return { lab: labName, configFile };
  const kubeconfig = findKubeconfig({ config: configFile }, config);
  if (!existsSync(kubeconfig.file))
    return { configFile, loaded, noKubeconfig: `${shownPath(kubeconfig.file)} does not exist` };
  if (kubeconfig.from === "environment") await mustBeOf(loaded, kubeconfig.file);
  return { configFile, loaded, kubeconfig: kubeconfig.file, noKubeconfig: "" };
}

/** Without root nobody can see whether it runs: its folder is enough then, and the sentence about root follows. */
async function runs(name: string): Promise<boolean> {
  if (!existsSync(labFolder(name))) return false;
  if (process.getuid?.() !== 0) return true;
  const { Lab } = await import("../../lab/lab.ts");
  return Lab.ifRunning(name, labFolder(name)) !== undefined;
}

/** KUBECONFIG is often another cluster's. If its API does not answer, the command itself says so. */
async function mustBeOf({ config, metadata }: Loaded, kubeconfig: string): Promise<void> {
  const { connect, requireCluster } = await import("../cluster/connect.ts");
  const api = connect(kubeconfig);
  try {
    await requireCluster(api, config.infrastructureName ?? metadata?.infraID);
  } catch (error) {
    if (error instanceof UserError) throw error;
  }
}
