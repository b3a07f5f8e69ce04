/** `npm run test:vm`: set-up and the demo from a clean clone, on a machine with systemd and control groups of version 2. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command, InvalidArgumentError } from "commander";
import { ensureImages } from "../../../lab/images.js";
import { timeoutVariable } from "../../../src/core/time-limits.ts";
import { ensureGoProgram, labGoPrograms } from "../../../lab/go-programs.js";
import { projectFile, projectRoot } from "../../../src/runtime/project-files.js";
import { ensureImage, type Image } from "./image.ts";

const begin = Date.now();
const say = (text: string) => {
  console.log(`${((Date.now() - begin) / 1000).toFixed(0).padStart(6)} s  ${text}`);
};

interface Options {
  /** Minutes. */
  readonly limit: number;
  readonly timeoutFactor: number;
}

/** Larger than needed: blocks without content take no space. */
const diskSize = "12G";

/**
 * Without hardware virtualization: KVM is not available everywhere, and hangs on some virtual machines. Without ERMS the
 * kernel clears and copies memory by words instead of bytes, which QEMU emulates one by one; five levels of page tables and
 * nested virtualization only cost time too.
 */
const machine = [
  ...[
    "-M",
    "q35",
    "-accel",
    "tcg,thread=multi,tb-size=1024",
    "-cpu",
    "max,-erms,-la57,-svm",
    "-m",
    "6144",
    "-smp",
    "2",
  ],
  // No devices but those below: an emulated screen alone can keep a processor busy for a minute.
  ...["-nodefaults", "-display", "none", "-no-reboot"],
];

const running = new Set<ChildProcess>();
const signals: NodeJS.Signals[] = [];
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    signals.push(signal);
    for (const child of running) child.kill("SIGKILL");
  });

function throwIfInterrupted(): void {
  if (signals.length > 0) throw new Error("Interrupted: the virtual machine and its disk are deleted.");
}

/** Starts a program that dies with this one. */
function start(program: string, ...args: readonly string[]): { child: ChildProcess; ended: Promise<number | null> } {
  const child = spawn("setpriv", ["--pdeathsig", "KILL", program, ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    // Ctrl-C is handled here only.
    detached: true,
  });
  running.add(child);
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  return { child, ended };
}

const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: projectRoot, encoding: "utf8" }).trim();

const pathOf = (program: string) =>
  execFileSync("sh", ["-c", 'readlink -f "$(command -v "$1")"', "sh", program], { encoding: "utf8" }).trim();

/** npm tells the scripts that it runs where it is. */
const npmFolder = () => dirname(dirname(process.env.npm_execpath ?? pathOf("npm")));

/** The folders of the cache that the lab needs. */
function cacheFolders(): string[] {
  const built = labGoPrograms.map((name) => {
    const [binary = ""] = Object.values<string>(ensureGoProgram(name));
    return dirname(binary);
  });
  return [...built, ensureImages()];
}

/** Makes a disk with everything that the virtual machine would otherwise download: /srv there. */
async function makeDisk(folder: string, disk: string, { timeoutFactor }: Options): Promise<void> {
  mkdirSync(join(folder, "bin"), { recursive: true });
  git("clone", "--quiet", "--bare", projectRoot, join(folder, "project.git"));
  copyFileSync(projectFile("test/e2e/vm/guest.sh"), join(folder, "guest.sh"));
  const terraform = process.env.TERRAFORM_BINARY_NAME ?? "terraform";
  writeFileSync(
    join(folder, "environment"),
    `export ${timeoutVariable}=${timeoutFactor} TERRAFORM_BINARY_NAME=${basename(terraform)}\n`,
  );
  for (const name of ["npm", "npx"]) {
    writeFileSync(join(folder, "bin", name), `#!/bin/sh\nexec node /srv/npm/bin/${name}-cli.js "$@"\n`);
    chmodSync(join(folder, "bin", name), 0o755);
  }
  const sources = new Map([
    ["node_modules", projectFile("node_modules")],
    ["npm", npmFolder()],
    ["bin/node", process.execPath],
    [`bin/${basename(terraform)}`, pathOf(terraform)],
    ...cacheFolders().map((path) => [`cache/${basename(path)}`, path] as const),
  ]);
  writeFileSync(join(folder, "sources"), [...sources].map(([name, source]) => `${source}\t${name}\n`).join(""));
  const script = projectFile("test/e2e/vm/disk.sh");
  const args = ["--mount", "--propagation", "private", "bash", script, folder, disk, diskSize];
  const code = await start("unshare", ...args).ended;
  throwIfInterrupted();
  if (code !== 0) throw new Error("The virtual machine's second disk cannot be made: the reason is above.");
}

/** Prints what is added to a file, line by line. */
class Follower {
  readonly #file: string;
  #position = 0;
  #rest = "";

  constructor(file: string) {
    this.#file = file;
  }

  show(): void {
    if (!existsSync(this.#file)) return;
    const buffer = Buffer.alloc(1 << 20);
    const file = openSync(this.#file, "r");
    const length = readSync(file, buffer, 0, buffer.length, this.#position);
    closeSync(file);
    this.#position += length;
    const lines = (this.#rest + buffer.toString("latin1", 0, length)).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) say(`│ ${Buffer.from(line, "latin1").toString("utf8").trimEnd()}`);
  }
}

/**
 * Boots the virtual machine, and shows what guest.sh prints there.
 * @returns its exit code; nothing if it did not end
 */
async function boot(image: Image, disk: string, folder: string, { limit }: Options): Promise<number | undefined> {
  const [output, result] = [join(folder, "output"), join(folder, "result")];
  // With snapshot=on nothing is written to the file.
  const drive = (file: string) => ["-drive", `file=${file},if=virtio,format=raw,snapshot=on,cache=unsafe`];
  const { child, ended } = start(
    "qemu-system-x86_64",
    ...machine,
    ...["-kernel", image.kernel, "-initrd", image.initrd],
    ...["-append", "console=ttyS0 root=/dev/vda rw panic=-1 mitigations=off nowatchdog"],
    ...[...drive(image.disk), ...drive(disk)],
    ...[consoleOf(folder), output, result].flatMap((file) => ["-serial", `file:${file}`]),
  );
  const follower = new Follower(output);
  while (running.has(child)) {
    await Promise.race([sleep(500), ended]);
    follower.show();
    if (Date.now() - begin < 60_000 * limit) continue;
    say(`the virtual machine is stopped after ${limit} minutes: raise --limit`);
    child.kill("SIGKILL");
    await ended;
  }
  throwIfInterrupted();
  const code = existsSync(result) ? readFileSync(result, "utf8").trim() : "";
  return code === "" ? undefined : Number(code);
}

const consoleOf = (folder: string) => join(folder, "console");

async function main(options: Options): Promise<void> {
  const temporary = tmpdir();
  const folder = mkdtempSync(join(temporary, "konnectivity-bootstrap-vm-"));
  process.once("exit", () => {
    rmSync(folder, { recursive: true, force: true });
  });
  // For QEMU's temporary files.
  process.env.TMPDIR = folder;
  const image = ensureImage();
  throwIfInterrupted();
  say(`HEAD is ${git("log", "-1", "--format=%h %s")}`);
  if (git("status", "--porcelain") !== "") say("uncommitted changes are not tested");
  say("making the disk with the project, its npm packages and the lab's programs");
  const disk = join(folder, "disk.img");
  await makeDisk(join(folder, "disk"), disk, options);
  say("booting the virtual machine; it is emulated, so everything takes 10 to 20 times as long as usual");
  const code = await boot(image, disk, folder, options);
  say(code === undefined ? "FAILED: the virtual machine ended before its commands" : `the exit code is ${code}`);
  process.exitCode = code ?? 1;
  if (code === 0) return;
  const kept = join(temporary, `konnectivity-bootstrap-vm-console-${process.pid}.log`);
  copyFileSync(consoleOf(folder), kept);
  console.error(`The console of the virtual machine is kept in ${kept} and ends with:`);
  console.error(readFileSync(kept, "utf8").trim().split("\n").slice(-20).join("\n"));
}

const integer = (most: number) => (text: string) => {
  if (!/^\d+$/.test(text) || Number(text) < 1 || Number(text) > most)
    throw new InvalidArgumentError(`Give a whole number from 1 to ${most}.`);
  return Number(text);
};

await new Command("npm run test:vm --")
  .description(
    "Runs set-up and the demo from a clean clone of HEAD in a virtual machine with systemd and control groups of version 2: docs/lab.md.",
  )
  .option("--limit <minutes>", "stop the virtual machine after this time", integer(1000), 120)
  .option("--timeout-factor <factor>", `${timeoutVariable} in the virtual machine`, integer(100), 30)
  .action(main)
  .parseAsync()
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    const [signal] = signals;
    process.exitCode = signal === undefined ? 1 : 128 + constants.signals[signal];
  });
