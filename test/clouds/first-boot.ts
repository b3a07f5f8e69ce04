import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Command } from "./command.ts";

/** Where Debian keeps the real Ignition. */
const ignition = "/usr/lib/dracut/modules.d/30ignition/ignition";

export interface FirstBoot {
  readonly code: number | null;
  readonly log: string;
  /** What it fetched and verified; none if it gave up. */
  readonly config?: string;
}

/** What a machine does first: real Ignition asks the metadata service for its user data, and follows it to the payload. */
export async function firstBoot(platform: string, certificateFile: string, near: string): Promise<FirstBoot> {
  const folder = mkdtempSync(join(near, "boot-"));
  chmodSync(folder, 0o711);
  const root = join(folder, "root");
  mkdirSync(root);
  const cache = join(folder, "ignition.json");
  // No more than it needs: a setting of the user's own would count.
  const env = { PATH: process.env.PATH, SSL_CERT_FILE: certificateFile };
  const args = [
    ...[ignition, `--platform=${platform}`, `--root=${root}`, `--config-cache=${cache}`, "--stage=fetch"],
    ...[`--state-file=${join(folder, "state")}`, `--neednet=${join(folder, "neednet")}`, "--log-to-stdout"],
  ];
  // It would ask some things for ever.
  const { code, output } = await new Command("timeout", ["60", ...args], { cwd: folder, env }).ended;
  try {
    return { code, log: output, config: code === 0 ? readFileSync(cache, "utf8") : undefined };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
