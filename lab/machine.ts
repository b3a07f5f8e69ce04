import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { UserError, problem } from "../src/core/errors.ts";
import { timeLimit, timeoutEnvironment } from "../src/core/time-limits.ts";
import { projectFile } from "../src/runtime/project-files.js";

/** The result of a command in a machine. */
export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Which machine. */
export interface MachineLocation {
  /** Lower case letters, digits and -. */
  readonly lab: string;
  readonly name: string;
  /** The machine's files. Ignition wrote those in root/. */
  readonly folder: string;
}

export interface LabMachineProps extends MachineLocation {
  /** Whether the machine is killed when this process ends. */
  readonly dieWithParent: boolean;
}

/**
 * A simulated machine on this one: namespaces of every kind, control groups of its own, and a root of its own over this
 * machine's programs. Everything in it ends when its first process does.
 */
export class LabMachine {
  readonly name: string;
  readonly folder: string;
  readonly #group: string;
  readonly #init: number;

  private constructor(where: MachineLocation, init: number) {
    this.name = where.name;
    this.folder = where.folder;
    this.#group = groupOf(where.lab, where.name);
    this.#init = init;
  }

  /** Starts a machine; takes a few tenths of a second. */
  static async start(props: LabMachineProps): Promise<LabMachine> {
    const { lab, name, folder, dieWithParent } = props;
    mkdirSync(join(folder, "root"), { recursive: true });
    const log = openSync(join(folder, "machine.log"), "w", 0o600);
    const command = ["bash", projectFile("lab/machine.sh"), groupOf(lab, name), name, folder];
    const [program = "", ...args] = dieWithParent ? ["setpriv", "--pdeathsig", "KILL", ...command] : command;
    const holder = spawn(program, args, { stdio: ["ignore", log, log], detached: true });
    holder.unref();
    closeSync(log);
    if (holder.pid === undefined) throw new Error(`the machine ${name} cannot be started: install bash`);
    writeFileSync(join(folder, "holder"), String(holder.pid));
    const ended = () => holder.exitCode !== null || holder.signalCode !== null;
    while (!existsSync(join(folder, "ready"))) {
      if (ended())
        throw new Error(
          `the machine ${name} did not start: ${readFileSync(join(folder, "machine.log"), "utf8").trim()}`,
        );
      await sleep(20);
    }
    return LabMachine.running(props);
  }

  /** A machine that is running, also if another process started it. */
  static ifRunning(where: MachineLocation): LabMachine | undefined {
    const file = join(where.folder, "holder");
    const init = existsSync(file) ? childrenOf(Number(readFileSync(file, "utf8")))[0] : undefined;
    return init === undefined ? undefined : new LabMachine(where, init);
  }

  static running(where: MachineLocation): LabMachine {
    const machine = LabMachine.ifRunning(where);
    if (machine === undefined) throw new Error(`the machine ${where.name} is not running`);
    return machine;
  }

  /** One that was removed: everything that is run there fails. */
  static removed(where: MachineLocation): LabMachine {
    return new LabMachine(where, 0);
  }

  /** The command line that runs another one in the machine, as root there. */
  enter(command: readonly string[]): string[] {
    return ["bash", projectFile("lab/enter.sh"), this.#group, String(this.#init), ...command];
  }

  /** The command line that runs another one on this machine, in the network of the simulated one, until that ends. */
  enterNetwork(command: readonly string[]): string[] {
    return ["bash", projectFile("lab/enter-network.sh"), this.#group, String(this.#init), ...command];
  }

  /** Whether it was removed, with all of its files. */
  get isRemoved(): boolean {
    return !existsSync(this.folder);
  }

  /** Runs a line of bash in the machine. One that was removed fails. */
  run(line: string, env: Readonly<Record<string, string>> = {}, input = ""): CommandResult {
    if (this.isRemoved) return { status: 1, stdout: "", stderr: `${this.name} was removed\n` };
    const [program = "", ...args] = this.enter(shellFor(line));
    const { status, stdout, stderr } = spawnSync(program, args, {
      encoding: "utf8",
      input,
      env: { PATH: machinePath, HOME: "/root", ...timeoutEnvironment(), ...env },
      maxBuffer: 64 * 1024 * 1024,
    });
    return { status, stdout, stderr };
  }

  /** Like `run`, but a failure is an error that contains the output. */
  must(line: string, env?: Readonly<Record<string, string>>, input?: string): string {
    const { status, stdout, stderr } = this.run(line, env, input);
    if (status !== 0) throw new CommandFailed(this.name, line, status, `${stdout}${stderr}`);
    return stdout;
  }

  /** Connects two machines with a virtual cable: a device in each, without addresses. */
  connect(device: string, other: LabMachine, otherDevice = device): void {
    const link = ["link", "add", device, "netns", String(this.#init), "type", "veth", "peer", "name", otherDevice];
    const { status, stderr } = spawnSync("ip", [...link, "netns", String(other.#init)], { encoding: "utf8" });
    if (status !== 0) throw new Error(`${this.name} and ${other.name} cannot be connected: ${stderr.trim()}`);
  }
}

/** A command that had to succeed in a machine, and did not. */
export class CommandFailed extends Error {
  /** For readers who do not know the command: the machine, and the last line that it printed. */
  readonly brief: string;

  constructor(machine: string, line: string, status: number | null, said: string) {
    super(`"${line}" on ${machine} exited with ${String(status)}: ${said}`);
    this.brief = `a command on ${machine} failed with ${JSON.stringify(said.trim().split("\n").at(-1) ?? "")}`;
  }
}

/** Without the user's .bashrc: bash reads it when its input is a socket, which Node.js' pipes are (it may take 0.15 s). */
export const shellFor = (line: string) => ["bash", "--norc", "-c", line];

/** In a machine the lab's own programs come first. */
const machinePath = "/opt/lab/bin:/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin";

/** A dot ends the lab's name, which has none: the groups of the lab `a` are not those of `a-b`. */
const groupPrefix = (lab: string) => `konnectivity-bootstrap.${lab}.`;
const groupOf = (lab: string, machine: string) => `${groupPrefix(lab)}${machine}`;

/** The control groups of a lab's machines: every process of it is in them. */
export function groupsOf(lab: string): string[] {
  return hierarchies().flatMap((hierarchy) =>
    readdirSync(hierarchy)
      .filter((name) => name.startsWith(groupPrefix(lab)))
      .map((name) => join(hierarchy, name)),
  );
}

/**
 * podman gives a machine's cgroup controllers to its containers, and fails without any. With cgroup v2, the parent groups must
 * delegate them to the machine.
 */
export function checkControllers(groups = "/sys/fs/cgroup"): void {
  const file = join(groups, "cgroup.subtree_control");
  if (existsSync(file) && readFileSync(file, "utf8").trim() === "")
    throw new UserError(problem("controllers-missing", { file }));
}

/** Kills every machine of a lab and removes its control groups, also those of an interrupted run. */
export function removeMachines(lab: string): Promise<void> {
  return removeGroups(groupsOf(lab));
}

/** Removes one machine with all of its processes, control groups and files. */
export async function removeMachine({ lab, name, folder }: MachineLocation): Promise<void> {
  await removeGroups(groupsOf(lab).filter((group) => basename(group) === groupOf(lab, name)));
  rmSync(folder, { recursive: true, force: true });
}

async function removeGroups(groups: readonly string[]): Promise<void> {
  // A group stays busy until the kernel has released its last process, which is no longer listed at that time.
  for (let tries = 0; groups.some((group) => existsSync(group)); tries++) {
    const all = groups.filter((group) => existsSync(group)).flatMap(subgroupsOf);
    const processes = new Set(all.flatMap(processesIn));
    for (const pid of processes) kill(pid);
    if (processes.size === 0) for (const group of all) removeIfNotBusy(group);
    if (tries > timeLimit(500)) throw new Error(`these control groups cannot be removed: ${groups.join(", ")}`);
    await sleep(20);
  }
}

/** If the group is busy, the caller tries again. */
function removeIfNotBusy(group: string): void {
  unless(["EBUSY", "ENOENT"], undefined, () => {
    rmdirSync(group);
  });
}

/** Deepest first. Processes in them can create and remove groups at the same time. */
function subgroupsOf(group: string): string[] {
  const entries = unless(["ENOENT"], [], () => readdirSync(group, { withFileTypes: true }));
  const below = entries.filter((entry) => entry.isDirectory());
  return [...below.flatMap(({ name }) => subgroupsOf(join(group, name))), group];
}

function processesIn(group: string): number[] {
  // ENODEV: the group was removed between opening and reading.
  const text = unless(["ENOENT", "ENODEV"], "", () => readFileSync(join(group, "cgroup.procs"), "utf8"));
  return text.split("\n").filter(Boolean).map(Number);
}

function kill(pid: number): void {
  // It has ended in the meantime.
  unless(["ESRCH"], true, () => process.kill(pid, "SIGKILL"));
}

/** What `run` gives, or something else if it fails with one of these codes. */
function unless<T>(codes: readonly string[], otherwise: T, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof Error && "code" in error && codes.includes(String(error.code))) return otherwise;
    throw error;
  }
}

function hierarchies(): string[] {
  return readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, , kind]) => kind === "cgroup" || kind === "cgroup2")
    .map(([, place = ""]) => place);
}

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" });
  return stdout.split("\n").filter(Boolean).map(Number);
}
