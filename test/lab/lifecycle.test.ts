import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { labFolder } from "../../lab/folder.ts";
import { program } from "../support/cli.ts";
import { labPayload, removeLab } from "../support/lab.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const name = `life${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-lifecycle-"));
const payload = join(folder, "payload.ign");
writeFileSync(payload, labPayload("4.23", {}));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await removeLab(name);
});

/** Processes in control groups of a lab, its groups, its folder. */
function leftOf(lab: string): string[] {
  const hierarchies = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, , kind]) => kind === "cgroup" || kind === "cgroup2")
    .map(([, place = ""]) => place);
  return [
    ...hierarchies.flatMap((place) =>
      readdirSync(place).filter((group) => group.startsWith(`konnectivity-bootstrap.${lab}.`)),
    ),
    ...(existsSync(labFolder(lab)) ? [labFolder(lab)] : []),
  ];
}

/** Sends a signal when the program has said these words, and waits for its end. */
async function interruptedAt(child: ChildProcess, words: string, signal: NodeJS.Signals) {
  let said = "";
  let sent = false;
  const read = (part: Buffer) => {
    said += String(part);
    if (sent || !said.includes(words)) return;
    sent = true;
    child.kill(signal);
  };
  child.stdout?.on("data", read);
  child.stderr?.on("data", read);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, said };
}

describe("lab up, interrupted", () => {
  it.each([
    ["the machines start", "SIGTERM", 143],
    ["the tunnel's server is up", "SIGINT", 130],
  ] as const)(
    'at "%s" by %s, leaves nothing',
    async (words, signal, expected) => {
      const args = [program, "lab", "up", "--name", name, "--payload", payload];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
      const { code, said } = await interruptedAt(child, words, signal);
      expect(said).toContain(words);
      expect(said).not.toMatch(/error|^ +at /im);
      expect(leftOf(name)).toEqual([]);
      expect(code).toBe(expected);
    },
    120_000,
  );
});

describe("the demonstration, interrupted", () => {
  it("while cdktf brings the lab up, leaves nothing", async () => {
    const child = spawn(process.execPath, ["--import", "tsx", "scripts/demo.ts", name], {
      cwd: root,
      env: { ...process.env, TMPDIR: folder },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { code, said } = await interruptedAt(child, "the machines start", "SIGTERM");
    expect(said).toContain("Interrupted: the lab goes.");
    expect(leftOf(name)).toEqual([]);
    const processes = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && environmentOf(pid).includes(folder));
    expect(processes).toEqual([]);
    expect(readdirSync(folder).filter((one) => one.startsWith("konnectivity-bootstrap-"))).toEqual([]);
    expect(code).toBe(143);
  }, 180_000);
});

describe("without root", () => {
  it.each(["lab up --payload=none", "lab down", "lab enter bootstrap", "verify"])(
    "%s is one sentence and 1",
    (line) => {
      // Nobody, who may read this tree wherever it is.
      const nobody = "--reuid=65534 --regid=65534 --clear-groups --inh-caps=+dac_override --ambient-caps=+dac_override";
      const args = [...nobody.split(" "), process.execPath, program, ...line.split(" ")];
      const { status, stdout, stderr } = spawnSync("setpriv", args, { encoding: "utf8" });
      expect(stderr).toBe("error: The lab makes namespaces, mounts and control groups of its own: run this as root.\n");
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
