import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { Loaded } from "../../stacks/load.ts";
import type { Target } from "../cluster/collect.ts";
import { Problems, UserError, problem, type Warning } from "../core/errors.ts";
import { shellWord } from "../core/shell-word.ts";
import {
  adviceFor,
  configFileFor,
  type ConfigOptions,
  inConfigFolder,
  noteConfig,
  shownPath,
  withConfig,
} from "./config-option.ts";
import { labOption, mustBeRoot, runningLab } from "./lab.ts";
import type { Output } from "./output.ts";

/** What `status` and `gather` examine. */
export interface TargetOptions extends ConfigOptions {
  readonly name?: string;
  /** true: the machine that was deployed from here. */
  readonly ssh?: string | true;
  readonly node?: readonly string[];
  readonly kubeconfig?: string;
}

/** What is examined, and why. */
export interface FoundTarget extends Target {
  /** The config file that decided it. @default - the options did, or there is none */
  readonly configFile?: string;
  /** What cannot be examined. @default - nothing */
  readonly warnings?: readonly Warning[];
}

const targetFlags = "--ssh, --kubeconfig or --name";

export function withTarget(command: Command): Command {
  return withMachine(command)
    .option("--node <destination...>", "nodes to examine, by ssh", sshDestinations)
    .option("--kubeconfig <file>", "kubeconfig of the cluster, to examine the agents' pods");
}

/** The options that name a bootstrap machine. */
export function withMachine(command: Command): Command {
  return withConfig(command)
    .option(...labOption)
    .option(
      "--ssh [destination]",
      "bootstrap machine, like core@10.0.0.5 (default: the one that was deployed with the config file)",
      sshDestination,
    );
}

/** What the options name, or else what the config file configures. */
export async function targetOf(options: TargetOptions): Promise<FoundTarget> {
  const { name, ssh, node = [], kubeconfig } = options;
  const real = { "--ssh": ssh, "--node": node[0], "--kubeconfig": kubeconfig };
  const named = Object.entries(real).flatMap(([option, value]) => (value === undefined ? [] : [option]));
  if (name !== undefined && named.length > 0)
    throw new UserError(...named.map((flag) => problem("lab-or-cluster", { flag })));
  if (name !== undefined) return labTarget(name);
  if (named.length === 0) return configuredTarget(options);
  if (ssh !== true) return clusterTarget(options, [...(ssh === undefined ? [] : [ssh]), ...node], kubeconfig);
  const { machine, configFile } = await machineDeployedHere(options);
  return { ...(await clusterTarget(options, [machine, ...node], kubeconfig)), configFile };
}

async function configuredTarget(options: TargetOptions): Promise<FoundTarget> {
  const { configuredSubject } = await import("./subject.ts");
  const subject = await configuredSubject(options, targetFlags);
  const { configFile } = subject;
  if ("lab" in subject) return { ...(await labTarget(subject.lab)), configFile };
  const { kubeconfig, noKubeconfig, loaded } = subject;
  const problems = new Problems();
  const { deployedMachines } = await import("./deployed-state.ts");
  const machines = (await problems.attemptAsync(() => deployedMachines(deploymentOf(loaded)))) ?? [];
  const refuse = (reason: string) => new UserError(problem("subject-unknown", { reason, flags: targetFlags }));
  if (machines.length > 1) throw refuse(`${machines.join(" and ")} were deployed with ${subject.configFile}`);
  if (kubeconfig === undefined && problems.found.length > 0) throw new UserError(...problems.found);
  if (kubeconfig === undefined && machines.length === 0)
    throw refuse(`no bootstrap machine is deployed with ${subject.configFile}, and ${noKubeconfig}`);
  const warnings = problems.found.map(({ code, message }) => ({ code, message }));
  return { ...(await clusterTarget(options, machines, kubeconfig)), configFile, warnings };
}

async function clusterTarget(
  options: TargetOptions,
  machines: readonly string[],
  kubeconfig: string | undefined,
): Promise<Target> {
  const { sshTransports } = await import("../cluster/probe.ts");
  const transports = sshTransports(machines);
  const firewallCommand = await firewallCommandFor(options, kubeconfig);
  if (kubeconfig === undefined) return { transports, firewallCommand };
  const { ClusterApi, readKubeconfig } = await import("../cluster/api.ts");
  return { transports, firewallCommand, api: new ClusterApi(readKubeconfig(kubeconfig)) };
}

/** The command that prints the firewall rule, with the config file and the install folder that exist here. */
async function firewallCommandFor(options: ConfigOptions, kubeconfig: string | undefined): Promise<string | undefined> {
  const { configFormat } = await import("../../stacks/platforms.ts");
  const { readConfig } = await import("../config/config-file.ts");
  const { bootstrapIgnOf } = await import("../config/install-dir.ts");
  try {
    const config = configFileFor(options);
    const folders =
      config === undefined
        ? [...(kubeconfig === undefined ? [] : [dirname(dirname(resolve(kubeconfig)))]), "ocp", "."]
        : [inConfigFolder(config, readConfig(configFormat, config).installDir)];
    const folder = folders.find((one) => existsSync(bootstrapIgnOf(one)));
    if (folder === undefined) return undefined;
    const words = [...(config === undefined ? [] : ["--config", config]), shownPath(resolve(folder))];
    return ["npx konnectivity-bootstrap payload firewall", ...words.map(shellWord)].join(" ");
  } catch (error) {
    // Commands that use the config report its errors.
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

async function machineDeployedHere(options: ConfigOptions) {
  const configFile = configFileFor(options);
  const { load } = await import("../../stacks/load.ts");
  const { deployedMachine } = await import("./deployed-state.ts");
  const loaded = load(configFile, { configAdvice: adviceFor(options) });
  if (loaded.problems.length > 0) throw new UserError(...loaded.problems);
  return { machine: await deployedMachine(deploymentOf(loaded)), configFile };
}

const deploymentOf = ({ config: { platforms }, ...loaded }: Loaded) => ({ ...loaded, platforms });

/** Prints which config file decided what is examined, and what cannot be examined. */
export function noteTarget(output: Output, options: ConfigOptions, { configFile, warnings = [] }: FoundTarget): void {
  noteConfig(output, options, configFile);
  output.warnings(warnings);
}

async function labTarget(name: string): Promise<Target> {
  mustBeRoot();
  const { labTransports } = await import("../../lab/transports.ts");
  const lab = await runningLab(name);
  return { transports: labTransports(lab), machineRemoved: lab.bootstrap.isRemoved };
}

/** ssh would take a leading "-" for an option. */
export function sshDestination(destination: string): string {
  if (!/^[^-\s]\S*$/.test(destination)) throw new InvalidArgumentError("Give user@address, or a name of ssh's config.");
  return destination;
}

const sshDestinations = (destination: string, before: readonly string[] = []) => [
  ...before,
  sshDestination(destination),
];
