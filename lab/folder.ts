import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { UserError, problem } from "../src/core/errors.ts";
import { labNamePattern } from "../src/core/lab-layout.ts";

/**
 * Where a lab is, by its name. Not below a temporary folder, where a cleaner could delete files of a running lab. The folder
 * is deleted with everything in it, so a name that leads elsewhere is refused.
 */
export function labFolder(name: string): string {
  if (!labNamePattern.test(name)) throw new UserError(problem("lab-name-invalid", { name: JSON.stringify(name) }));
  return join("/var/lib/konnectivity-bootstrap/labs", name);
}

/** What statfs(2) calls it. */
const overlayfs = 0x794c7630;

/**
 * Creates a lab's folder. The machines' roots are overlays, and the kernel does not put one on another, which a container's
 * root is: there the folder is in memory.
 */
export function makeLabFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  if (statfsSync(folder).type === overlayfs) mustRun("mount", "-t", "tmpfs", "-o", "mode=711", "tmpfs", folder);
}

/** Removes it, if it exists. */
export function removeLabFolder(folder: string): void {
  const places = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1]);
  // The kernel may not be done yet with the namespaces that had it too.
  if (places.includes(folder)) mustRun("umount", "--lazy", folder);
  rmSync(folder, { recursive: true, force: true });
}

function mustRun(program: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.at(-1) ?? ""} failed: ${stderr.trim()}`);
}
