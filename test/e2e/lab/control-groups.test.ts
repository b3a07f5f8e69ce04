import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { projectFile, projectRoot } from "../../../src/runtime/project-files.js";
import { leftOf, removeLab } from "../../support/lab.ts";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-groups-"));
const lab = `groups${process.pid}`;
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await removeLab(lab);
});

it.each([
  ["1", "cgroup.procs", ""],
  ["2", "cgroup.controllers", "/init"],
])("a machine's processes join the right group in version %s", (version, file, below) => {
  const group = join(folder, version);
  mkdirSync(group);
  writeFileSync(join(group, file), "");
  const line = execFileSync(
    "bash",
    ["-euc", '. "$1"; process_group "$2"', "bash", projectFile("lab/groups.sh"), group],
    {
      encoding: "utf8",
    },
  );
  expect(line).toBe(`${group}${below}\n`);
});

/** Starts a lab, and reports the control groups of its first node's processes when etcd's pod runs. */
const driver = `
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from ${JSON.stringify(projectFile("lab/wait.ts"))};
import { removeLab, startLab } from ${JSON.stringify(projectFile("test/support/lab.ts"))};
const [name] = process.argv.slice(1);
const { node } = await startLab({ name });
const linesOf = (command) => node.must(command).split("\\n").filter(Boolean);
try {
  await waitFor("etcd", 60, () => node.run("pgrep -x etcd").status === 0);
  const places = linesOf("awk '$3 ~ /^cgroup/ { print $2 }' /proc/self/mounts");
  console.log(JSON.stringify({
    kinds: [...new Set(linesOf("awk '$3 ~ /^cgroup/ { print $3 }' /proc/self/mounts"))],
    rootsWithProcesses: places.filter((place) => linesOf("cat " + place + "/cgroup.procs").length > 0).length,
    etcd: linesOf("cat /proc/$(pgrep -xo etcd)/cgroup").filter((line) => /^0:|:memory:/.test(line)),
  }));
} catch (error) {
  console.error(error.message, readFileSync(join(node.folder, "kubelet.log"), "utf8"));
  process.exitCode = 1;
} finally {
  await removeLab(name);
}
`;

/** On a machine with both versions each can be had alone. */
describe.skipIf(existsSync("/sys/fs/cgroup/cgroup.controllers"))("pods run, and nothing is left of them,", () => {
  const inContainer = /^\/libpod_parent\/[0-9a-f]{64}\/libpod-[0-9a-f]{64}$/;
  const run = (version: "1" | "2") => {
    const command = [process.execPath, "--import", "tsx", "--input-type=module", "--eval", driver, lab];
    const script = ["bash", projectFile("test/support/groups-of-version.sh"), version, ...command];
    const { status, stdout, stderr } = spawnSync("unshare", ["--mount", "--propagation", "private", ...script], {
      encoding: "utf8",
      cwd: projectRoot,
    });
    expect(status, stderr).toBe(0);
    expect(leftOf(lab)).toEqual([]);
    const { etcd, ...seen } = JSON.parse(stdout) as { etcd: string[] };
    return { ...seen, etcd: etcd.map((line) => line.replace(/^.*?:.*?:/, "")) };
  };

  it("where control groups are of version 1 only", () => {
    const { etcd, ...seen } = run("1");
    expect(seen).toEqual({ kinds: ["cgroup"], rootsWithProcesses: expect.any(Number) as number });
    expect(etcd).toContainEqual(expect.stringMatching(inContainer));
  });

  it("where control groups are of version 2 only", () => {
    const { etcd, ...seen } = run("2");
    expect(seen).toEqual({ kinds: ["cgroup2"], rootsWithProcesses: 0 });
    expect(etcd).toContainEqual(expect.stringMatching(inContainer));
  });
});
