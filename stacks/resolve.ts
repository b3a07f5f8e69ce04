import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { PayloadContent } from "../constructs/shared/payload-file.ts";
import { digestTagName } from "../constructs/shared/digest-tag.ts";
import type { Config } from "../src/config/config-file.ts";
import type { Metadata } from "../src/config/metadata.ts";
import type { PlatformContext } from "../src/config/platform.ts";
import { savedMetadataFile } from "../src/config/saved-metadata.ts";
import { canonicalIp, isIpAddress, liesIn } from "../src/core/addresses.ts";
import { Problems, problem, UserError, type Warning } from "../src/core/errors.ts";
import { installerListening, type RequiredIngress } from "../src/core/konnectivity/required-ingress.ts";
import { folderWarnings } from "../src/files/private-folder.ts";
import { stateBackupOf, stateFileOf } from "../src/files/terraform-state.ts";
import type { Built, LabInput } from "./build.ts";
import { inCloud, type Loaded, withoutConsequences } from "./load.ts";
import { configFormat, type PlatformInputs } from "./platforms.ts";

/** Everything that the stacks are made from, read and checked. */
export interface Inputs extends Pick<
  Config,
  "architecture" | "tags" | "firewall" | "replaceMachine" | "providerVersions" | "state" | "tunnel"
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
  /** The tunnel's port, for which a rule is created. @default - none is */
  readonly tunnelPort?: number;
  /** Absolute. @default - the state is not local */
  readonly stateFolder?: string;
  /** To be saved beside a local state. @default - not known */
  readonly metadata?: Metadata;
  /** The payload of the cluster. */
  readonly payload: PayloadContent;
  /** The rule that must be open. @default - the tunnel is off, or there is no payload */
  readonly requiredIngress?: RequiredIngress;
  /** The machine's private address. @default - the config does not fix it */
  readonly fixedAddress?: string;
  readonly warnings: readonly Warning[];
  /** Of the platforms in the config. */
  readonly platforms: PlatformInputs;
  /** Of the platforms in the config that are labs, by the platform's name. */
  readonly labs: Readonly<Record<string, LabInput>>;
}

/**
 * Checks the options against everything that is known, and fills in what the config leaves out.
 * @throws UserError with every problem of this step and of those before it
 */
export function resolve(loaded: Loaded, built: Built): Inputs {
  const { config, installDir, stateFolder, metadata, invalidOptions, locate } = loaded;
  const { tunnel } = config;
  const problems = new Problems();
  const warnings: Warning[] = [...stillDeployed(loaded), ...unprotectedState(loaded)];
  const infraId = resolveInfraId(loaded, problems);
  checkStateOwner(loaded, infraId, problems);
  checkTagNames(config, problems);
  const options = typeof tunnel === "string" ? undefined : tunnel;
  const fixedAddress = options !== undefined && isIpAddress(options.address) ? canonicalIp(options.address) : undefined;
  checkAddress(config, fixedAddress, built.requiredIngress, problems);
  const opensPort = tunnel !== "off" && config.firewall === "managed";
  const tunnelPort = opensPort ? (options ?? installerListening).port : undefined;
  const context = {
    infraId,
    architecture: config.architecture,
    stream: loaded.stream,
    streamGiven: config.stream !== undefined || invalidOptions.includes("stream"),
    fixedAddress,
    machineNetworks: built.requiredIngress?.sources.networks ?? [],
    tunnelPort,
    sshKeys: built.sshKeys,
    tags: config.tags,
    destroyOnly: installDir.hasBootstrapIgn === false,
    sharedState: stateFolder === undefined,
    metadataDamaged: loaded.metadataDamaged,
  };
  const resolved = resolvePlatforms(loaded, context, problems, warnings);
  const found = [...built.problems, ...problems.found];
  const all = [...loaded.problems, ...withoutConsequences(found, invalidOptions).map(locate)];
  // The payloads of the cluster and of a lab can have the same problem.
  const unique = [...new Map(all.map((one) => [one.message, one])).values()];
  if (unique.length > 0) throw new UserError(...unique);
  return {
    ...config,
    platforms: resolved,
    labs: built.labs,
    configFile: loaded.configFile,
    workingDirectory: loaded.workingDirectory,
    infraId,
    // With a shared state, a machine without metadata.json must compute the same names.
    uniquePart: uniquePartOf((stateFolder === undefined ? undefined : metadata?.clusterID) ?? infraId),
    installDir: installDir.shown,
    tunnelPort,
    stateFolder,
    metadata,
    payload: built.payload,
    requiredIngress: built.requiredIngress,
    fixedAddress,
    warnings: [...warnings, ...built.warnings],
  };
}

/** Each platform's inputs, as far as its options can be resolved. */
function resolvePlatforms(
  { config, metadata }: Loaded,
  context: Omit<PlatformContext, "metadata" | "report" | "warn">,
  problems: Problems,
  warnings: Warning[],
): PlatformInputs {
  const resolved = configFormat.platforms.flatMap((platform) => {
    const { name } = platform;
    const options = config.platforms[name];
    if (options === undefined) return [];
    const inputs = problems.attempt(() =>
      platform.resolve(options, {
        ...context,
        metadata: platform.metadata && (metadata?.[platform.metadata.key] as Record<string, unknown> | undefined),
        report: (found) => {
          problems.add(found);
        },
        warn: (warning) => warnings.push({ ...warning, platform: name }),
      }),
    );
    return [[name, inputs] as const];
  });
  return Object.fromEntries(resolved);
}

/** The infra ID of the cluster: what the config says, or else metadata.json. */
function resolveInfraId(loaded: Loaded, problems: Problems): string {
  const { config, metadata, installDir, stateFolder, metadataDamaged } = loaded;
  const { infrastructureName } = config;
  if (!inCloud(config) || metadataDamaged) return infrastructureName ?? metadata?.infraID ?? "";
  const invalid = (found: string, expected: string) => {
    problems.add(problem("option-invalid", { option: "infrastructureName", found, expected }));
  };
  if (infrastructureName !== undefined && metadata !== undefined && infrastructureName !== metadata.infraID)
    invalid(
      infrastructureName,
      `${metadata.infraID}, the one in metadata.json (remove the option, or set the right installDir)`,
    );
  const infraId = infrastructureName ?? (stateFolder === undefined ? undefined : metadata?.infraID);
  if (infraId === undefined)
    invalid(
      "missing",
      metadata === undefined
        ? `the cluster's infra ID (there is no metadata.json in ${installDir.shown}, and no copy of it in the state folder)`
        : `${metadata.infraID} (required with a shared state, so that a destroy works on any machine)`,
    );
  return infraId ?? metadata?.infraID ?? "";
}

function stillDeployed({ config, deployed }: Loaded): Warning[] {
  return deployed
    .filter((platform) => !(platform in config.platforms))
    .map((platform) => ({
      code: "platform-still-deployed",
      message: `${platform}-bootstrap is still deployed, but ${platform} is not in the config, without which it cannot be destroyed: add it again, and run \`npx cdktf destroy '${platform}-*'\` first.`,
    }));
}

/** A state folder without a `.gitignore` gets one; the user's own may lack the state, which can contain keys. */
function unprotectedState({ config, stateFolder }: Loaded): Warning[] {
  if (stateFolder === undefined || !existsSync(join(stateFolder, ".gitignore"))) return [];
  const states = Object.keys(config.platforms)
    .flatMap((platform) => [`${platform}-bootstrap`, `${platform}-teardown`])
    .map((stack) => stateFileOf("", stack));
  return folderWarnings(stateFolder, [...states.flatMap((file) => [file, stateBackupOf(file)]), savedMetadataFile]);
}

/** The state folder must not hold what another cluster deployed. */
function checkStateOwner(loaded: Loaded, infraId: string, problems: Problems): void {
  const { config, stateFolder, savedMetadata, deployed, workingDirectory } = loaded;
  if (stateFolder === undefined || savedMetadata === undefined || deployed.length === 0) return;
  if (!inCloud(config) || infraId === "" || savedMetadata.infraID === infraId) return;
  problems.add(
    problem("state-of-another-cluster", {
      folder: relative(workingDirectory, stateFolder),
      saved: savedMetadata.infraID,
      infraId,
    }),
  );
}

function checkTagNames({ tags }: Config, problems: Problems): void {
  for (const tag of Object.keys(tags).filter((name) => name.toLowerCase() === digestTagName))
    problems.add(
      problem("option-invalid", {
        option: `tags.${tag}`,
        found: "a reserved name",
        expected: "another name, because the stack sets this tag",
      }),
    );
}

function checkAddress(
  config: Config,
  fixedAddress: string | undefined,
  ingress: RequiredIngress | undefined,
  problems: Problems,
): void {
  if (fixedAddress === undefined) return;
  const clouds = configFormat.clouds.map(({ name }) => name).filter((name) => name in config.platforms);
  if (clouds.length > 1)
    problems.add(
      problem("combination-refused", {
        options: { "tunnel.address": fixedAddress, ...Object.fromEntries(clouds.map((name) => [name, undefined])) },
        reason: "only one machine can have that address; use `address: detect`, or one config file for each platform",
      }),
    );
  const networks = ingress?.sources.networks ?? [];
  if (networks.length > 0 && !liesIn(fixedAddress, networks))
    problems.add(
      problem("option-invalid", {
        option: "tunnel.address",
        found: fixedAddress,
        expected: `an address in the machine networks (${networks.join(", ")})`,
      }),
    );
}

/** A UUID begins with random digits; anything else is hashed to some. */
function uniquePartOf(id: string): string {
  const digits = /^[0-9a-f]{8}(?=-)/i.exec(id)?.[0];
  return (digits ?? createHash("sha256").update(id).digest("hex").slice(0, 8)).toLowerCase();
}
