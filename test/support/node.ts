import { spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyIgnition } from "../../lab/ignition.ts";
import { projectFile } from "../../src/runtime/project-files.js";

const enterNode = projectFile("test/support/enter-node.sh");

/** One device in the machine network and a default route, as most machines have. */
export const usualNetwork = network(["10.0.3.7/24"], "10.0.3.1");

/** Shell lines for a machine with one device that has these addresses; `gateway` makes it the default route's. */
export function network(addresses: readonly string[], gateway?: string, device = "ens3"): string {
  return [
    "ip link set lo up",
    `ip link add ${device} type veth peer name ${device}-peer`,
    ...addresses.map((address) => `ip address add ${address} dev ${device}${address.includes(":") ? " nodad" : ""}`),
    `ip link set ${device} up`,
    `ip link set ${device}-peer up`,
    ...(gateway === undefined ? [] : [`ip route add default via ${gateway} dev ${device}`]),
  ].join("\n");
}

/** Shell for a command whose end, however it came, is the end of every process that it started. */
export function alone(command: string): string {
  return `unshare --pid --fork bash -c '${command}; exit'`;
}

export interface RunResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A machine's root directory that the real Ignition filled from a payload, and a way to run things in it. */
export class ScratchNode {
  readonly root: string;
  readonly log: string;
  readonly #folder: string;

  constructor(payload: string) {
    this.#folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-node-"));
    // Ignition becomes the user core to write that user's ssh keys.
    chmodSync(this.#folder, 0o711);
    this.root = join(this.#folder, "root");
    this.log = applyIgnition(payload, this.root);
    // Fakes of what a bootstrap machine has and this one does not have; a test can replace them.
    this.program("podman", '[ "$7" = "" ] || echo "registry.example.com/$7@sha256:0123"');
    this.program("oc", "exit 0");
    // Runs it to its end, where systemd would not wait.
    this.program("systemd-run", 'exec "${@: -2}"');
  }

  /** Puts a program of the test's into the machine's PATH, before all others. */
  program(name: string, body: string): void {
    const folder = join(this.root, "opt/programs");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), `#!/usr/bin/env bash\n${body}\n`);
    chmodSync(join(folder, name), 0o755);
  }

  /** Runs a line of bash on the machine, in /opt/openshift. */
  run(command: string, setUp: string = usualNetwork, env: Record<string, string> = {}): RunResult {
    const PATH = "/opt/programs:/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin";
    const { status, stdout, stderr } = spawnSync(
      "unshare",
      ["--mount", "--net", "--pid", "--fork", "--kill-child", enterNode, this.root, setUp, command],
      { encoding: "utf8", env: { PATH, ...env }, maxBuffer: 64 * 1024 * 1024 },
    );
    return { status, stdout, stderr };
  }

  /** Like `run`, but a failure ends the test with what the machine said. */
  must(command: string, setUp?: string, env?: Record<string, string>): string {
    const { status, stdout, stderr } = this.run(command, setUp, env);
    if (status !== 0) throw new Error(`"${command}" ended with ${String(status)}: ${stdout}${stderr}`);
    return stdout;
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.root, path), text);
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), "utf8");
  }

  stat(path: string): { mode: string; owner: string } {
    const { mode, uid, gid } = lstatSync(join(this.root, path));
    return { mode: (mode & 0o7777).toString(8).padStart(4, "0"), owner: `${uid}:${gid}` };
  }

  exists(path: string): boolean {
    return lstatSync(join(this.root, path), { throwIfNoEntry: false }) !== undefined;
  }

  /** Every file below a folder, as paths from the machine's root. */
  files(below: string): string[] {
    if (!this.exists(below)) return [];
    return readdirSync(join(this.root, below), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.root.length))
      .sort();
  }

  /** The stages that bootkube.sh recorded, like "konnectivity-certs success". */
  stages(): string[] {
    const entries = JSON.parse(this.read("/var/log/openshift/bootkube.json")) as {
      phase: string;
      stage?: string;
      result?: string;
    }[];
    return entries
      .filter(({ phase }) => phase === "stage end" || phase === "service end")
      .map(({ stage = "service", result = "" }) => `${stage} ${result}`);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
