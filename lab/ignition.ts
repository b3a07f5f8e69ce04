import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where Debian keeps the real Ignition. */
export const ignition = "/usr/lib/dracut/modules.d/30ignition/ignition";

/** Runs the stages of Ignition's first boot, fetch and then files, in this root. @returns its log */
export function applyIgnition(payload: string, root: string): string {
  const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-ignition-"));
  try {
    return apply(payload, root, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * What an image has where Ignition writes, as far as Ignition needs it.
 * @returns the search path of the programs that it calls
 */
export function prepareForIgnition(root: string, folder: string): string {
  const stubs = join(folder, "stubs");
  const etc = join(root, "etc");
  // Ignition becomes the user core to write that user's ssh keys.
  chmodSync(folder, 0o711);
  for (const path of [stubs, join(etc, "selinux"), join(root, "home")]) mkdirSync(path, { recursive: true });
  writeFileSync(join(etc, "passwd"), "root:x:0:0:root:/root:/bin/bash\n");
  writeFileSync(join(etc, "shadow"), "root:*:19000:0:99999:7:::\n");
  writeFileSync(join(etc, "group"), "root:x:0:\nwheel:x:10:\n");
  writeFileSync(join(etc, "gshadow"), "root:*::\nwheel:*::\n");
  copyFileSync("/etc/login.defs", join(etc, "login.defs"));
  // Relabelling cannot be switched off, and there is no policy here to relabel with.
  writeFileSync(join(etc, "selinux/config"), "SELINUX=disabled\nSELINUXTYPE=none\n");
  writeFileSync(join(stubs, "setfiles"), "#!/bin/sh\nexec cat >/dev/null\n", { mode: 0o755 });
  return `${stubs}:${process.env.PATH ?? ""}`;
}

function apply(payload: string, root: string, folder: string): string {
  const PATH = prepareForIgnition(root, folder);
  const config = join(folder, "payload.ign");
  writeFileSync(config, payload, { mode: 0o600 });
  let log = "";
  for (const stage of ["fetch", "files"]) {
    const run = spawnSync(
      ignition,
      [
        "--platform=file",
        `--root=${root}`,
        `--config-cache=${join(folder, "ignition.json")}`,
        `--state-file=${join(folder, "state")}`,
        `--neednet=${join(folder, "neednet")}`,
        "--log-to-stdout",
        `--stage=${stage}`,
      ],
      {
        encoding: "utf8",
        env: { ...process.env, IGNITION_CONFIG_FILE: config, PATH },
      },
    );
    log += run.stdout;
    const reasons = run.stdout.split("\n").filter((line) => line.startsWith("CRITICAL"));
    if (run.status !== 0) throw new IgnitionRefused(stage, reasons);
  }
  return log;
}

/** Ignition did not take a payload. */
export class IgnitionRefused extends Error {
  /** The first of its own reasons, in one line. */
  readonly reason: string;

  constructor(stage: string, reasons: readonly string[]) {
    super(`Ignition's ${stage} stage failed: ${reasons.join("\n")}`);
    this.reason = (reasons[0] ?? "it gives no reason").replace(/^CRITICAL *: */, "").replace(/[.:\s]+$/, "");
  }
}
