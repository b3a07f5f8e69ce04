import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { canonicalIp, isIpAddress, liesIn } from "../src/core/addresses.ts";
import { type BootstrapPayload, makePayload } from "../src/core/bootstrap.ts";
import type { RequiredIngress } from "../src/core/konnectivity/required-ingress.ts";
import { UserError, type Problem, problem, type Warning } from "../src/core/errors.ts";
import { type AwsInputs, resolveAws } from "../constructs/aws/config.ts";
import { type AzureInputs, resolveAzure } from "../constructs/azure/config.ts";
import { type Config, readConfigAsFarAsPossible } from "../src/config/config-file.ts";
import { type GoogleInputs, resolveGoogle } from "../constructs/google/config.ts";
import { type LocalInputs, localSchema, resolveLocal } from "../constructs/local/config.ts";
import { bootstrapIgnOf, metadataOf, readBootstrapIgn } from "../src/config/install-dir.ts";
import type { Metadata } from "../src/config/metadata.ts";
import { type Platform, type PlatformContext, platforms } from "../src/config/platform.ts";
import { deployedIn, readSavedMetadata } from "../src/config/saved-metadata.ts";
import { recordName } from "../constructs/shared/digest-tag.ts";
import { readStream } from "../src/config/stream.ts";
import { isThere } from "../src/files/user-file.ts";

/** The environment variable that names the config file. */
export const configVariable = "KONNECTIVITY_CONFIG";
const usualFile = "konnectivity.yaml";
const usualStateFolder = ".state";

/** The config file to use: the one that the environment names, or konnectivity.yaml. */
export function configFileOf(environment: Readonly<Record<string, string | undefined>>): string {
  const named = environment[configVariable];
  return named === undefined || named === "" ? usualFile : named;
}

/** The config file to read: undefined if none is named, and there is none by the usual name. */
export function configFileIfThere(
  environment: Readonly<Record<string, string | undefined>>,
  workingDirectory = process.cwd(),
): string | undefined {
  const file = configFileOf(environment);
  if (file !== usualFile || existsSync(resolve(workingDirectory, file))) return file;
  if (deployedIn(resolve(workingDirectory, usualStateFolder)).length > 0)
    throw new UserError(problem("config-gone", { file, folder: usualStateFolder }));
  return undefined;
}

/** The payload for the stacks, or that there is none: then everything can be destroyed and nothing deployed. */
export type PayloadInput =
  | ({ readonly present: true } & Pick<BootstrapPayload, "text" | "sha512">)
  | { readonly present: false; readonly why: string };

/** Everything that the stacks are made from, read and checked. */
export interface Inputs extends Pick<
  Config,
  "tags" | "firewall" | "replaceMachine" | "providerVersions" | "state" | "tunnel"
> {
  /** Absolute. @default - there is none */
  readonly configFile?: string;
  /** Where an operator runs the command lines that are shown. Absolute. */
  readonly workingDirectory: string;
  readonly infraId: string;
  /** A few hex digits that make names unique in a whole cloud. */
  readonly uniquePart: string;
  /** For command lines that operators copy: relative to the working directory. */
  readonly installDir: string;
  /** Whether a rule for 8091 is made. */
  readonly opensTunnelPort: boolean;
  /** Absolute. @default - the state is not local */
  readonly stateFolder?: string;
  /** To be remembered beside a local state. @default - not known */
  readonly metadata?: Metadata;
  readonly payload: PayloadInput;
  /** The rule that must be open. @default - the tunnel is off, or there is no payload */
  readonly requiredIngress?: RequiredIngress;
  /** The machine's private address, if the config fixes it. */
  readonly fixedAddress?: string;
  readonly warnings: readonly Warning[];
  readonly aws?: AwsInputs;
  readonly azure?: AzureInputs;
  readonly google?: GoogleInputs;
  readonly local?: LocalInputs;
}

/**
 * Reads the config file and what it names, or throws all that is wrong with them.
 * @param file the config file; without one there is the local platform alone
 * @param workingDirectory where an operator will run the command lines that are shown
 * @param installDirNeeded whether a missing install folder is a mistake if nothing is deployed; what is deployed can be
 * destroyed without it, and to destroy, everything is described first
 */
export function readInputs(
  file: string | undefined,
  now: Date,
  workingDirectory = process.cwd(),
  { installDirNeeded = false } = {},
): Inputs {
  const { config: said, problems: inFile, wrong } = readConfigAsFarAsPossible(file);
  const config: Config = file === undefined ? { ...said, local: localSchema.parse({}) } : said;
  const problems: Problem[] = [];
  const warnings: Warning[] = [];
  /** What can be found out in spite of other mistakes is found out. */
  const attempt = <T>(step: () => T): T | undefined => {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.push(...error.problems);
      return undefined;
    }
  };
  const inConfigFolder = (path: string) => resolve(file === undefined ? workingDirectory : dirname(file), path);
  const installDir = inConfigFolder(config.installDir);
  const stateFolder = config.state.local && inConfigFolder(config.state.local.folder);
  const shownInstallDir = relative(workingDirectory, installDir) || ".";

  const metadata = attempt(
    () => metadataOf(installDir) ?? (stateFolder === undefined ? undefined : readSavedMetadata(stateFolder)),
  );
  const inCloud = platforms.some((platform) => config[platform] !== undefined);
  const deployed = stateFolder === undefined ? [] : deployedIn(stateFolder);
  const installDirMissing = inCloud && isMissing(installDir);
  // What a shared state has is not known here.
  if (
    installDirNeeded &&
    installDirMissing &&
    stateFolder !== undefined &&
    !deployed.some((platform) => config[platform] !== undefined)
  )
    problems.push(
      problem("option-invalid", {
        option: "installDir",
        found: `${shownInstallDir}, which is not there`,
        expected:
          'the folder in which "openshift-install create ignition-configs" ran (nothing is deployed that could be destroyed without it)',
      }),
    );
  // A wrong installDir is told elsewhere, and then nothing is known either.
  const metadataDamaged = problems.length > 0 || wrong.includes("installDir");
  const { stream: streamFile } = config;
  const payloadThere = attempt(() => isThere(bootstrapIgnOf(installDir)));
  const destroyOnly = payloadThere === false;
  const stream =
    streamFile === undefined || (destroyOnly && !existsSync(inConfigFolder(streamFile)))
      ? undefined
      : attempt(() => readStream(inConfigFolder(streamFile)));
  const payload =
    payloadThere === true ? attempt(() => makePayload(readBootstrapIgn(installDir), config.tunnel, now)) : undefined;

  const fixedAddress =
    config.tunnel !== "off" && isIpAddress(config.tunnel.address) ? canonicalIp(config.tunnel.address) : undefined;
  const infraId =
    inCloud && !metadataDamaged
      ? infraIdOf(config, metadata, shownInstallDir, problems)
      : (config.infrastructureName ?? metadata?.infraID ?? "");
  for (const platform of deployed.filter((one) => config[one] === undefined))
    warnings.push({
      code: "platform-still-deployed",
      message: `${platform}-bootstrap is still deployed, but ${platform} is not in the config, and without it nothing can be destroyed: put it back and run \`npx cdktf destroy '${platform}-*'\` first.`,
    });
  const remembered = stateFolder === undefined ? undefined : attempt(() => readSavedMetadata(stateFolder));
  if (
    inCloud &&
    stateFolder !== undefined &&
    remembered !== undefined &&
    infraId !== "" &&
    remembered.infraID !== infraId &&
    deployed.length > 0
  )
    problems.push(
      problem("state-of-another-cluster", {
        folder: relative(workingDirectory, stateFolder),
        remembered: remembered.infraID,
        infraId,
      }),
    );
  for (const tag of Object.keys(config.tags).filter((name) => name.toLowerCase() === recordName))
    problems.push(
      problem("option-invalid", {
        option: `tags.${tag}`,
        found: "a name of ours",
        expected: "another: the machine has it",
      }),
    );
  problems.push(...addressProblems(config, fixedAddress, payload?.firewall));
  const opensTunnelPort = config.tunnel !== "off" && config.firewall === "managed";
  const context: Omit<PlatformContext, "warn"> = {
    infraId,
    metadata,
    architecture: config.architecture,
    stream,
    streamGiven: streamFile !== undefined,
    fixedAddress,
    machineNetworks: payload?.firewall?.sources.networks ?? [],
    opensTunnelPort,
    payload: payload?.text,
    tags: config.tags,
    destroyOnly,
    sharedState: stateFolder === undefined,
    metadataDamaged,
    report: (found) => problems.push(found),
  };
  const contextOf = (platform: Platform): PlatformContext => ({
    ...context,
    warn: (warning) => warnings.push({ ...warning, platform }),
  });
  const { aws, azure, google, local } = config;
  const resolved = {
    aws: aws && attempt(() => resolveAws(aws, contextOf("aws"))),
    azure: azure && attempt(() => resolveAzure(azure, contextOf("azure"))),
    google: google && attempt(() => resolveGoogle(google, contextOf("google"))),
    local: local && attempt(() => resolveLocal(local, config.tunnel, now)),
  };
  // What follows from a wrong value is not said beside it.
  const follows = (option: string) =>
    wrong.some((path) => path === option || path.startsWith(`${option}.`) || option.startsWith(`${path}.`));
  const others = problems.filter((found) => !found.options.some(follows));
  if (inFile.length + others.length > 0) throw new UserError(...inFile, ...others);

  const missing = `there is no bootstrap.ign in ${shownInstallDir}`;
  if (destroyOnly && inCloud)
    warnings.push({
      code: "destroy-only",
      message: `${installDirMissing ? `The install folder ${shownInstallDir} (installDir) is not there` : `There is no bootstrap.ign in ${shownInstallDir}`}: what was deployed can be destroyed, but nothing can be deployed.`,
    });
  return {
    ...config,
    ...resolved,
    configFile: file === undefined ? undefined : resolve(file),
    workingDirectory: resolve(workingDirectory),
    infraId,
    // With a shared state a machine without metadata.json must come to the same names.
    uniquePart: uniquePartOf((stateFolder === undefined ? undefined : metadata?.clusterID) ?? infraId),
    installDir: shownInstallDir,
    opensTunnelPort,
    stateFolder,
    metadata,
    payload:
      payload === undefined
        ? { present: false, why: missing }
        : { present: true, text: payload.text, sha512: payload.sha512 },
    requiredIngress: payload?.firewall,
    fixedAddress,
    warnings: [...warnings, ...(payload?.warnings ?? [])],
  };
}

/** Any other reason why it cannot be looked at is said where its files are read. */
function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

function infraIdOf(
  { infrastructureName, state }: Config,
  metadata: Metadata | undefined,
  installDir: string,
  problems: Problem[],
): string {
  const shared = state.local === undefined;
  if (infrastructureName !== undefined && metadata !== undefined && infrastructureName !== metadata.infraID)
    problems.push(
      problem("option-invalid", {
        option: "infrastructureName",
        found: infrastructureName,
        expected: `${metadata.infraID}, as metadata.json says (leave it out, or give the right installDir)`,
      }),
    );
  const infraId = infrastructureName ?? (shared ? undefined : metadata?.infraID);
  if (infraId !== undefined) return infraId;
  problems.push(
    problem("option-invalid", {
      option: "infrastructureName",
      found: "missing",
      expected:
        metadata === undefined
          ? `the cluster's infra ID (there is no metadata.json in ${installDir}, and nothing is remembered)`
          : `${metadata.infraID} (with a shared state the config says it, so that any machine can destroy)`,
    }),
  );
  return metadata?.infraID ?? "";
}

function addressProblems(
  config: Config,
  fixedAddress: string | undefined,
  need: RequiredIngress | undefined,
): Problem[] {
  if (fixedAddress === undefined) return [];
  const problems: Problem[] = [];
  const configured = platforms.filter((platform) => config[platform] !== undefined);
  if (configured.length > 1)
    problems.push(
      problem("combination-refused", {
        options: { "tunnel.address": fixedAddress, ...Object.fromEntries(configured.map((name) => [name, undefined])) },
        reason: "one machine has that address; use `address: detect`, or one config file for each platform",
      }),
    );
  const networks = need?.sources.networks ?? [];
  if (networks.length > 0 && !liesIn(fixedAddress, networks))
    problems.push(
      problem("option-invalid", {
        option: "tunnel.address",
        found: fixedAddress,
        expected: `an address in the machine networks (${networks.join(", ")})`,
      }),
    );
  return problems;
}

/** A UUID begins with random digits; anything else is hashed to some. */
function uniquePartOf(id: string): string {
  const digits = /^[0-9a-f]{8}(?=-)/i.exec(id)?.[0];
  return (digits ?? createHash("sha256").update(id).digest("hex").slice(0, 8)).toLowerCase();
}
