import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { readUserFile } from "../files/user-file.ts";
import { oneLine } from "../core/printable.ts";
import { UserError, problem } from "../core/errors.ts";
import { ipFamilies } from "../core/sample/networks.ts";
import { labFolder } from "../../lab/folder.ts";
import type { Lab } from "../../lab/lab.ts";
import { defaultLabName, labNamePattern, type LabLayout } from "../core/lab-layout.ts";
import { interruptible } from "./interruptible.ts";
import type { Output } from "./output.ts";
import { program } from "../runtime/project-files.js";

const nameOption = ["--name <name>", "name of the lab", labName, defaultLabName] as const;

/** For commands that can also be about a real cluster: then no lab is named. */
export const labOption = ["--name <lab>", "name of a lab on this machine", labName] as const;

interface UpOptions {
  readonly name: string;
  readonly nodes: string;
  readonly ipFamily: LabLayout["ipFamily"];
  readonly ipi?: boolean;
  readonly payload: string;
}

/** `lab up`, `down`, `finish` and `enter`: the local stack's deploy and destroy run the first two. */
export function labCommand(output: Output): Command {
  return new Command("lab")
    .description("Run a cluster that is being bootstrapped on this machine (root only)")
    .enablePositionalOptions()
    .addCommand(upCommand(output))
    .addCommand(downCommand(output))
    .addCommand(finishCommand(output))
    .addCommand(enterCommand(output));
}

function upCommand(output: Output): Command {
  return new Command("up")
    .description("Create a lab, after removing what is left of another one with its name")
    .option(...nameOption)
    .addOption(new Option("--nodes <number>", "number of nodes").choices(["1", "2", "3"]).default("1"))
    .addOption(new Option("--ip-family <family>", "IP family of the networks").choices(ipFamilies).default("IPv4"))
    .option("--ipi", "create and remove the bootstrap machine as openshift-install create cluster does")
    .requiredOption("--payload <file>", "payload of the bootstrap machine")
    .action(async ({ name, ipFamily, nodes, ipi = false, payload: file }: UpOptions) => {
      mustBeRoot();
      const payload = readUserFile(file, "deploy the stack local-bootstrap, which creates it");
      output.doing(`Starting the lab ${name}`);
      const begin = Date.now();
      const say = (line: string) => {
        output.text(`${((Date.now() - begin) / 1000).toFixed(1).padStart(5)} s  ${oneLine(line)}\n`);
      };
      const [{ Lab, labIsUp }, { ensureImages }] = await Promise.all([
        import("../../lab/lab.ts"),
        import("../../lab/images.js"),
      ]);
      const folder = labFolder(name);
      const props = { name, folder, payload, nodes: Number(nodes), ipFamily, ipi, dieWithParent: false, say };
      const images = [ensureImages()];
      const dismissGuard = startGuard(name);
      output.exitCode = await interruptible(
        async (signal) => {
          await labIsUp(await Lab.up({ ...props, images, signal }), say, { signal });
        },
        () => Lab.down(name, folder),
      ).finally(dismissGuard);
    });
}

function downCommand(output: Output): Command {
  return new Command("down")
    .description("Remove a lab, also one that was created only in part")
    .option(...nameOption)
    .action(async ({ name }: { name: string }) => {
      mustBeRoot();
      output.doing(`Removing the lab ${name}`);
      const { Lab } = await import("../../lab/lab.ts");
      await Lab.down(name, labFolder(name));
      output.text(`The lab ${name} is gone.\n`);
    });
}

function finishCommand(output: Output): Command {
  return new Command("finish")
    .description("End the bootstrap, as when the permanent control plane is ready")
    .option(...nameOption)
    .action(async ({ name }: { name: string }) => {
      mustBeRoot();
      const lab = await runningLab(name);
      output.doing("Ending the bootstrap");
      await lab.completeBootstrap();
      const removed = lab.bootstrap.isRemoved ? " The installer has removed the bootstrap machine." : "";
      output.text(`The bootstrap has ended.${removed}\n`);
    });
}

function enterCommand(output: Output): Command {
  return (
    new Command("enter")
      .description("Run a command or a shell on a machine of the lab")
      .option(...nameOption)
      .addArgument(new Argument("<machine>", "machine of the lab").choices(["bootstrap", "node-0", "node-1", "node-2"]))
      .argument("[command...]", "command to run (default: a shell)")
      // Options after the machine belong to the command that runs there.
      .passThroughOptions()
      .action(async (machine: string, given: string[], { name }: { name: string }) => {
        const words = given[0] === "--" ? given.slice(1) : given;
        mustBeRoot();
        const { LabMachine } = await import("../../lab/machine.ts");
        const folder = join(labFolder(name), machine);
        const running = LabMachine.ifRunning({ lab: name, name: machine, folder });
        if (running === undefined) {
          const { bootstrap, nodes } = await runningLab(name);
          if (bootstrap.name === machine) throw new UserError(problem("machine-removed", { name }));
          throw new UserError(problem("machine-not-there", { name, machine, nodes: nodes.length }));
        }
        const [first = "", ...args] = running.enter(words.length === 0 ? ["bash", "-l"] : words);
        output.exitCode = spawnSync(first, args, { stdio: "inherit" }).status ?? 1;
      })
  );
}

/** Throws a UserError if no lab of this name runs. */
export async function runningLab(name: string): Promise<Lab> {
  const { Lab } = await import("../../lab/lab.ts");
  const lab = Lab.ifRunning(name, labFolder(name));
  if (lab === undefined) throw new UserError(problem("lab-not-running", { name, platform: "local" }));
  return lab;
}

/**
 * Starts a process that takes the lab down if this one is killed, as Terraform does when `cdktf deploy` is interrupted.
 * @returns a function that ends the process without taking the lab down
 */
function startGuard(name: string): () => void {
  const down = [process.execPath, program, "lab", "down", "--name", name];
  const guard = spawn("bash", ["-c", 'read -r || exec "$@"', "guard", ...down], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.unref();
  // The guard may have been killed itself.
  guard.stdin.on("error", () => undefined);
  return () => guard.stdin.end("settled\n");
}

export function mustBeRoot(): void {
  if (process.getuid?.() !== 0) throw new UserError(problem("root-needed"));
}

export function labName(text: string): string {
  if (!labNamePattern.test(text)) throw new InvalidArgumentError("Lower case letters, digits and -, at most 20.");
  return text;
}
