import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What ignition-validate says; it ends with 0 for an unknown key, so any word of it counts. */
export function validateIgnition(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-validate-"));
  try {
    const file = join(folder, "payload.ign");
    writeFileSync(file, text);
    const { status, stdout, stderr } = spawnSync("ignition-validate", [file], { encoding: "utf8" });
    return `${status === 0 ? "" : `exit ${String(status)} `}${stdout}${stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
