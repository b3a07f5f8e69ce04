import { isObject } from "../ignition/config.ts";
import { UserError, problem } from "../errors.ts";

/** The file in which openshift-install keeps what it has made, in every install folder. */
export const stateFileName = ".openshift_install_state.json";

/** The Ignition configs that openshift-install writes besides bootstrap.ign: their names, and the state's keys for them. */
export const machineConfigs = {
  "master.ign": "*machine.Master",
  "worker.ign": "*machine.Worker",
  // From 4.20 on, for clusters with an arbiter node.
  "arbiter.ign": "*machine.Arbiter",
} as const;
export type MachineConfigName = keyof typeof machineConfigs;
export const machineConfigNames = Object.keys(machineConfigs) as readonly MachineConfigName[];

const bootstrapKey = "*bootstrap.Bootstrap";

/** What is read of openshift-install's state file. */
export interface InstallerState {
  /** The bytes of bootstrap.ign as openshift-install knows it. */
  readonly bootstrapIgn: Buffer;
  /** The same of the other Ignition configs; the state lacks one if it was never made. */
  readonly machineConfigs: Readonly<Partial<Record<MachineConfigName, Buffer>>>;
  /** The platform of the install config, like aws. */
  readonly platform: string;
  /** Whether the install config asks for bootstrap-in-place. */
  readonly bootstrapInPlace: boolean;
  /** An asset of the agent-based installer. @default - there is none */
  readonly agentAsset?: string;
  /** Whether openshift-install has created the cluster. */
  readonly clusterCreated: boolean;
}

/** Reads the state: JSON, an object from the Go type of each asset to its value. */
export function parseInstallerState(text: string, file: string): InstallerState {
  const invalid = (detail: string) => new UserError(problem("installer-state-invalid", { file, detail }));
  let assets: unknown;
  try {
    assets = JSON.parse(text);
  } catch {
    throw invalid("it is not JSON");
  }
  if (!isObject(assets)) throw invalid("it is not an object");
  const bytesOf = (key: string) => fileData(assets[key], key, invalid);
  const bootstrapIgn = bytesOf(bootstrapKey);
  if (bootstrapIgn === undefined) throw invalid(`it has no bootstrap.ign (${bootstrapKey})`);
  const found = machineConfigNames.map((name) => [name, bytesOf(machineConfigs[name])] as const);
  const installConfig = installConfigOf(assets);
  const platform = platformOf(installConfig);
  if (platform === undefined) throw invalid("it has no install config with a platform");
  const agentAsset = Object.keys(assets).find(isAgentAsset);
  return {
    bootstrapIgn,
    machineConfigs: Object.fromEntries(found.filter(([, bytes]) => bytes !== undefined)),
    platform,
    bootstrapInPlace: isObject(installConfig.bootstrapInPlace),
    ...(agentAsset !== undefined && { agentAsset }),
    clusterCreated: "*cluster.Cluster" in assets,
  };
}

/** Assets that only `openshift-install agent create …` makes, by their Go package or type. */
const isAgentAsset = (key: string) =>
  /^\*(agent|agentconfig|gencrypto|joiner|workflow)\./.test(key) ||
  /^\*(image|manifests|configimage)\.(Agent|InfraEnv|NMState|ClusterDeployment|UnconfiguredIgnition)/.test(key);

/** The bytes of an asset's file. @returns undefined if the state has none: an asset may have no file */
function fileData(asset: unknown, key: string, invalid: (detail: string) => UserError): Buffer | undefined {
  if (asset === undefined || asset === null) return undefined;
  if (!isObject(asset)) throw invalid(`${key} is not an object`);
  const { File: file } = asset;
  if (file === undefined || file === null) return undefined;
  const data = isObject(file) ? file.Data : undefined;
  if (typeof data !== "string" || data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data))
    throw invalid(`File.Data of ${key} is not base64`);
  return Buffer.from(data, "base64");
}

function installConfigOf(assets: Record<string, unknown>): Record<string, unknown> {
  const asset = assets["*installconfig.InstallConfig"];
  return isObject(asset) && isObject(asset.config) ? asset.config : {};
}

/** A platform is the one key in `platform`, with an object. */
function platformOf({ platform }: Record<string, unknown>): string | undefined {
  if (!isObject(platform)) return undefined;
  return Object.entries(platform).find(([, options]) => isObject(options))?.[0];
}
