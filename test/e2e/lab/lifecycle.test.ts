import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { projectRoot } from "../../../src/runtime/project-files.js";
import { labFolder } from "../../../lab/folder.ts";
import { program } from "../../support/cli.ts";
import { interruptedAt } from "../../support/interrupted.ts";
import { waitFor } from "../../../lab/wait.ts";
import { labPayload, leftOf, removeLab } from "../../support/lab.ts";

const name = `life${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-lifecycle-"));
const payload = join(folder, "payload.ign");
writeFileSync(payload, labPayload("4.23", {}));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await removeLab(name);
});

describe("lab up, interrupted", () => {
  it.each([
    ["the machines are starting", "SIGTERM", 143],
    ["the tunnel's server is running", "SIGINT", 130],
    ["the machines are starting", "SIGHUP", 129],
  ] as const)(
    'at "%s" by %s, leaves nothing',
    async (words, signal, expected) => {
      const args = [program, "lab", "up", "--name", name, "--payload", payload];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
      const { code, said } = await interruptedAt(child, words, () => child.kill(signal));
      expect(said).toContain(words);
      expect(said).not.toMatch(/error|^ +at /im);
      expect(leftOf(name)).toEqual([]);
      expect(code).toBe(expected);
    },
    120_000,
  );
});

it("lab up, killed as Terraform does it when a deploy is interrupted, leaves nothing", async () => {
  const args = [program, "lab", "up", "--name", name, "--payload", payload];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  await interruptedAt(child, "the tunnel's server is running", () => child.kill("SIGKILL"));
  await waitFor("the lab's end", 30, () => leftOf(name).length === 0);
}, 120_000);

it("lab up under umask 000 creates nothing that others can write to", () => {
  const args = ["-c", 'umask 000; exec "$@"', "sh", process.execPath, program, "lab", "up", "--name", name];
  const { status, stderr } = spawnSync("sh", [...args, "--payload", payload], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  // Containers have writable folders of their own, which only root can reach; a sticky folder protects its files. The
  // tunnel's server opens its socket to the group, which is root's.
  const exceptions = ["!", "-type", "l", "!", "(", "-type", "s", "-perm", "0770", ")"];
  const find = [labFolder(name), "-path", "*/containers", "-prune", "-o", "-perm", "/022", ...exceptions];
  const { stdout } = spawnSync("find", [...find, "!", "-perm", "-1000", "-print"], { encoding: "utf8" });
  const down = spawnSync(process.execPath, [program, "lab", "down", "--name", name], { encoding: "utf8" });
  expect(stdout).toBe("");
  expect(down.status).toBe(0);
}, 120_000);

it("the demonstration refuses a name that leads out of the labs' folder", () => {
  const canary = join(folder, "canary");
  mkdirSync(canary);
  const outside = relative("/var/lib/konnectivity-bootstrap/labs", canary);
  const { status, stderr } = spawnSync(process.execPath, ["--import", "tsx", "scripts/demo.ts", outside], {
    cwd: projectRoot,
    encoding: "utf8",
  });
  expect(stderr).toBe(
    `${JSON.stringify(outside)} is not a valid lab name: use at most 20 lower case letters, digits and -, starting with a letter.\n`,
  );
  expect(status).toBe(1);
  expect(existsSync(canary)).toBe(true);
});

describe("the demonstration, interrupted", () => {
  it("while cdktf brings the lab up, leaves nothing", async () => {
    const child = spawn(process.execPath, ["--import", "tsx", "scripts/demo.ts", name], {
      cwd: projectRoot,
      env: { ...process.env, TMPDIR: folder },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { code, said } = await interruptedAt(child, "the machines are starting", () => child.kill("SIGTERM"));
    expect(said).toContain("Interrupted: removing the lab.");
    expect(leftOf(name)).toEqual([]);
    const processes = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && environmentOf(pid).includes(folder));
    expect(processes).toEqual([]);
    expect(readdirSync(folder).filter((one) => one.startsWith("konnectivity-bootstrap-"))).toEqual([]);
    expect(code).toBe(143);
  }, 180_000);
});

describe("without root", () => {
  it.each(["lab up --payload=none", "lab down", "lab enter bootstrap", "verify --name=local"])(
    "%s is one sentence and exit code 1",
    (line) => {
      // Nobody, who may read this tree wherever it is.
      const nobody = "--reuid=65534 --regid=65534 --clear-groups --inh-caps=+dac_override --ambient-caps=+dac_override";
      const args = [...nobody.split(" "), process.execPath, program, ...line.split(" ")];
      const { status, stdout, stderr } = spawnSync("setpriv", args, { encoding: "utf8" });
      expect(stderr).toBe("error: The lab creates namespaces, mounts and control groups: run this command as root.\n");
      expect(stdout).toBe("");
      expect(status).toBe(1);
    },
  );
});

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}
