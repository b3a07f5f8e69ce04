import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { labPrograms } from "../../lab/debian-packages.js";
import { labGoPrograms, mustBeBuilt, titleOf } from "../../lab/go-programs.js";
import { checkControllers } from "../../lab/machine.ts";
import { readInputs } from "../../stacks/inputs.ts";
import { configFileOf, findConfigFile } from "../../stacks/load.ts";
import { configFormat } from "../../stacks/platforms.ts";
import { findProgram, oldestTerraform, terraformAdvice, terraformProgram } from "../../stacks/terraform-program.ts";
import { readPartialConfig } from "../config/config-file.ts";
import { UserError } from "../core/errors.ts";
import { runtimeDifferences } from "../runtime/packages.js";
import { projectFile, projectRoot, readProjectText } from "../runtime/project-files.js";
import { ownCommand } from "./printed-commands.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** One thing that must be on this machine, and whether it is. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** What was found. */
  readonly found: string;
  /** What to do about it. @default - nothing */
  readonly advice?: string;
}

/** Checks of a kind, and the platforms that they are about. */
export interface Checks {
  /** Platforms in the config; without a config file the labs. */
  readonly platforms: readonly string[];
  /** What these platforms cannot do without. */
  readonly needed: readonly Check[];
  /** What only other commands or platforms need. */
  readonly optional: readonly Check[];
}

/** Looks at this machine. Nothing is changed. */
export function runChecks(configFile: string | false | undefined, environment: Environment): Checks {
  const { check: config, platforms } = checkConfig(configFile, environment);
  const usesLab = platforms.some((name) => !configFormat.clouds.some((cloud) => cloud.name === name));
  const lab = labChecks(environment);
  const ssh = checkSsh(environment);
  const always = [checkNode(), checkPackages(), checkCdktf(environment), checkTerraform(environment), config];
  return {
    platforms,
    needed: usesLab ? [...always, ...lab] : always,
    optional: usesLab ? [ssh] : [ssh, ...lab],
  };
}

function checkNode(): Check {
  const { version } = process;
  const { engines } = JSON.parse(readProjectText("package.json")) as { engines: { node: string } };
  return {
    name: "Node.js",
    ok: satisfies(version, engines.node),
    found: version,
    advice: `install a version that is ${engines.node}`,
  };
}

/** Whether a version is in a range as package.json has it: alternatives of ^1.2.3 and >=1.2.3. */
export function satisfies(version: string, range: string): boolean {
  return range.split("||").some((alternative) => {
    const [, operator = "", oldest = ""] = /^\s*(\^|>=)(\S+)\s*$/.exec(alternative) ?? [];
    const sameMajor = numbersOf(version)[0] === numbersOf(oldest)[0];
    return isAtLeast(version, oldest) && (operator === ">=" || sameMajor);
  });
}

const numbersOf = (version: string) => version.replace(/^v/, "").split(".").map(Number.parseFloat);

/** Whether a version is this one or newer. */
export function isAtLeast(version: string, oldest: string): boolean {
  const [found, wanted] = [numbersOf(version), numbersOf(oldest)];
  const differing = wanted.findIndex((number, index) => (found[index] ?? 0) !== number);
  return differing === -1 || (found[differing] ?? 0) > (wanted[differing] ?? 0);
}

function checkPackages(): Check {
  const differences = runtimeDifferences();
  const found =
    differences === undefined ? "not installed completely" : `${differences.length} differ from package-lock.json`;
  const ok = differences?.length === 0;
  return {
    name: "npm packages",
    ok,
    found: ok ? "as in package-lock.json" : found,
    advice: `run "npm ci" in ${projectRoot}`,
  };
}

/** The cdktf command: this project's own, or another one. */
export const cdktfProgram = ({ PATH = "" }: Environment) =>
  findProgram("cdktf", { PATH: `${projectFile("node_modules/.bin")}:${PATH}` });

function checkCdktf(environment: Environment): Check {
  const found = cdktfProgram(environment);
  return {
    name: "cdktf",
    ok: found !== undefined,
    found: found ?? "not found",
    advice: `run "npm ci" in ${projectRoot}, without --omit=dev`,
  };
}

function checkTerraform(environment: Environment): Check {
  const program = terraformProgram(environment);
  const answer = {
    name: program === "terraform" ? "Terraform" : program,
    advice:
      program === "terraform" && findProgram("tofu", environment) !== undefined
        ? "set TERRAFORM_BINARY_NAME=tofu, because OpenTofu is here"
        : terraformAdvice,
  };
  if (findProgram(program, environment) === undefined) return { ...answer, ok: false, found: "not on the PATH" };
  const { stdout } = spawnSync(program, ["version", "-json"], {
    // Nobody asked for news from its makers.
    env: { ...environment, CHECKPOINT_DISABLE: "1" },
    encoding: "utf8",
    timeout: 30_000,
  });
  const version = versionIn(stdout);
  if (version === undefined) return { ...answer, ok: false, found: "does not say its version" };
  return { ...answer, ok: isAtLeast(version, oldestTerraform), found: version };
}

function versionIn(json: string | null): string | undefined {
  try {
    const { terraform_version: version } = JSON.parse(json ?? "") as { terraform_version?: unknown };
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}

/** The name of the check of the config file and of what it names. */
export const configCheck = "config file";

function checkConfig(
  given: string | false | undefined,
  environment: Environment,
): { check: Check; platforms: readonly string[] } {
  const name = configCheck;
  const labs = configFormat.platforms.flatMap((platform) => (platform.lab === undefined ? [] : [platform.name]));
  const file = typeof given === "string" ? given : configFileOf(environment);
  let platforms: readonly string[] = [];
  try {
    if (given === false || (given === undefined && findConfigFile(environment) === undefined))
      return { platforms: labs, check: { name, ok: true, found: "none: a deploy starts the lab with its defaults" } };
    platforms = Object.keys(readPartialConfig(configFormat, file).config.platforms);
    readInputs(file, new Date(), { installDirRequired: true });
    return { platforms, check: { name, ok: true, found: file } };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const [first, ...others] = error.problems;
    const check = ownCommand(["config", "check", ...(typeof given === "string" ? ["--config", given] : [])]);
    const found = others.length === 0 && first !== undefined ? first.message : `${file}: ${others.length + 1} errors`;
    return { platforms, check: { name, ok: false, found, advice: `run ${check}` } };
  }
}

function checkSsh(environment: Environment): Check {
  const found = findProgram("ssh", environment);
  return {
    name: "ssh",
    ok: found !== undefined,
    found: found ?? "not on the PATH",
    advice: "install an OpenSSH client; status and gather ask a cloud's machines by it",
  };
}

/** What a lab on this machine needs. */
function labChecks(environment: Environment): Check[] {
  const isLinux = process.platform === "linux";
  const isRoot = process.getuid?.() === 0;
  return [
    { name: "Linux", ok: isLinux, found: process.platform, advice: "run the lab on Linux: it uses namespaces" },
    { name: "root", ok: isRoot, found: isRoot ? "yes" : "no", advice: "run the lab as root" },
    checkDebianPackages(environment),
    checkControlGroups(),
    checkGo(environment),
  ];
}

function checkDebianPackages({ PATH = "" }: Environment): Check {
  // Some are where only root's PATH leads.
  const missing = Object.entries(labPrograms).filter(
    ([program]) => findProgram(program, { PATH: `${PATH}:/usr/sbin:/sbin` }) === undefined,
  );
  const packages = [...new Set(missing.map(([, name]) => name))];
  return {
    name: "Debian packages",
    ok: packages.length === 0,
    found: packages.length === 0 ? "all of the lab's programs" : `${packages.length} missing`,
    advice: `run as root: apt-get install --yes --no-install-recommends ${packages.join(" ")}`,
  };
}

function checkControlGroups(): Check {
  const name = "control groups";
  try {
    checkControllers();
    return { name, ok: true, found: "with controllers" };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const advice =
      "in a container, start it with --cgroupns=host; elsewhere, enable the controllers in /sys/fs/cgroup/cgroup.subtree_control";
    return { name, ok: false, found: "without controllers", advice };
  }
}

/** Programs of the lab are downloaded or built once, and kept. Some are published nowhere. */
function checkGo(environment: Environment): Check {
  const name = "the lab's programs";
  const unbuilt = labGoPrograms.filter(mustBeBuilt);
  if (unbuilt.length === 0) return { name, ok: true, found: "in the cache" };
  const go = findProgram("go", environment);
  const titles = unbuilt.map(titleOf).join(", ");
  return {
    name,
    ok: go !== undefined,
    found:
      go === undefined
        ? `not in the cache, and there is no Go: ${titles}`
        : `not in the cache yet; Go is in ${dirname(go)}`,
    advice: "install Go 1.26.2 or newer: set-up builds what it cannot download",
  };
}
