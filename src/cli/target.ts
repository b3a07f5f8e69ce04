import { existsSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { Target } from "../cluster/collect.ts";
import { UserError, problem } from "../core/errors.ts";
import { defaultLabName } from "../core/lab-layout.ts";
import { shellWord } from "../core/shell-word.ts";
import { labOption, mustBeRoot, runningLab } from "./lab.ts";

/** What `status` and `gather` examine. */
export interface TargetOptions {
  readonly name?: string;
  /** true: the machine that was deployed from this folder. */
  readonly ssh?: string | true;
  readonly node?: readonly string[];
  readonly kubeconfig?: string;
}

export function withTarget(command: Command): Command {
  return command
    .option(...labOption)
    .option(
      "--ssh [destination]",
      "a real bootstrap machine instead, like core@10.0.0.5, by this machine's ssh (default: the one that was deployed from here)",
      sshDestination,
    )
    .option("--node <destination...>", "nodes, the same way: their agents' side", sshDestinations)
    .option("--kubeconfig <file>", "the cluster's API: the agents' pods, and their logs where it can get them");
}

/** A lab, unless the options name a part of a real cluster. */
export async function targetOf({ name, ssh, node = [], kubeconfig }: TargetOptions): Promise<Target> {
  const real = { "--ssh": ssh, "--node": node[0], "--kubeconfig": kubeconfig };
  const named = Object.entries(real).flatMap(([option, value]) => (value === undefined ? [] : [option]));
  if (name !== undefined && named.length > 0)
    throw new UserError(...named.map((flag) => problem("lab-or-cluster", { flag })));
  if (named.length === 0) return labTarget(name ?? defaultLabName);
  const { sshTransports } = await import("../cluster/probe.ts");
  const machine = ssh === true ? await machineDeployedHere() : ssh;
  const transports = sshTransports([...(machine === undefined ? [] : [machine]), ...node]);
  const firewallCommand = await firewallCommandFor(kubeconfig);
  if (kubeconfig === undefined) return { transports, firewallCommand };
  const { ClusterApi, readKubeconfig } = await import("../cluster/api.ts");
  return { transports, firewallCommand, api: new ClusterApi(readKubeconfig(kubeconfig)) };
}

/** The command that prints the firewall rule, with the config file and the install folder that exist here. */
async function firewallCommandFor(kubeconfig: string | undefined): Promise<string | undefined> {
  const { findConfigFile } = await import("../../stacks/load.ts");
  const { configFormat } = await import("../../stacks/platforms.ts");
  const { readConfig } = await import("../config/config-file.ts");
  const { bootstrapIgnOf } = await import("../config/install-dir.ts");
  try {
    const config = findConfigFile(process.env);
    const folders =
      config === undefined
        ? [...(kubeconfig === undefined ? [] : [dirname(dirname(resolve(kubeconfig)))]), "ocp", "."]
        : [resolve(dirname(config), readConfig(configFormat, config).installDir)];
    const folder = folders.find((one) => existsSync(bootstrapIgnOf(one)));
    if (folder === undefined) return undefined;
    const words = [...(config === undefined ? [] : ["--config", config]), relative("", resolve(folder)) || "."];
    return ["npx konnectivity-bootstrap payload firewall", ...words.map(shellWord)].join(" ");
  } catch (error) {
    // Commands that use the config report its errors.
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

async function machineDeployedHere(): Promise<string> {
  const { findConfigFile } = await import("../../stacks/load.ts");
  const { readInputs } = await import("../../stacks/inputs.ts");
  const { deployedMachine } = await import("./deployed-state.ts");
  return deployedMachine(readInputs(findConfigFile(process.env), new Date()));
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
