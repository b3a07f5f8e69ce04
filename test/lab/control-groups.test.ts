import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";

const own = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-groups-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

it.each([
  ["1", "cgroup.procs", ""],
  ["2", "cgroup.controllers", "/init"],
])("a machine's processes join the right group in version %s", (version, file, below) => {
  const group = join(folder, version);
  mkdirSync(group);
  writeFileSync(join(group, file), "");
  const line = execFileSync("bash", ["-euc", '. "$1"; process_group "$2"', "bash", own("../../lab/groups.sh"), group], {
    encoding: "utf8",
  });
  expect(line).toBe(`${group}${below}\n`);
});
