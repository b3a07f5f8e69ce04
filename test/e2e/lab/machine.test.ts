import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LabMachine, removeMachines } from "../../../lab/machine.ts";
import { projectFile } from "../../../src/runtime/project-files.js";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-machines-"));
const lab = `test${process.pid}`;
const start = (name: string, of = lab) =>
  LabMachine.start({ lab: of, name, folder: join(folder, `${of}-${name}`), dieWithParent: true });
const groupsOf = (of: string) =>
  readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, , kind]) => kind === "cgroup" || kind === "cgroup2")
    .flatMap(([, place = ""]) => readdirSync(place).filter((name) => name.startsWith(`konnectivity-bootstrap.${of}.`)));

let bootstrap: LabMachine;
let node: LabMachine;
beforeAll(async () => {
  [bootstrap, node] = await Promise.all([start("bootstrap"), start("node-0")]);
  bootstrap.connect("ens3", node);
  bootstrap.must("ip address add 10.0.0.10/24 dev ens3; ip link set ens3 up");
  node.must("ip address add 10.0.0.20/24 dev ens3; ip link set ens3 up; ip address add 10.128.0.10/32 dev lo");
});
afterAll(async () => {
  await removeMachines(lab);
  rmSync(folder, { recursive: true });
});

describe("a simulated machine", () => {
  it("has a name, processes and devices of its own", () => {
    expect(bootstrap.must("hostname").trim()).toBe("bootstrap");
    expect(Number(bootstrap.must("ps -e | wc -l"))).toBeLessThan(8);
    expect(bootstrap.must("ip -o link").match(/^\d+: \w+/gm)).toEqual(["1: lo", expect.stringMatching(/^\d+: ens3$/)]);
  });

  it("has files of its own over this machine's", () => {
    writeFileSync(join(folder, "not-there"), "");
    bootstrap.must(
      "mkdir -p /etc/kubernetes/manifests /opt/openshift; echo mine >/etc/kubernetes/manifests/x; test -e /etc/passwd",
    );
    expect(node.run("test -e /etc/kubernetes/manifests/x").status).toBe(1);
    expect(existsSync("/etc/kubernetes/manifests/x")).toBe(false);
    expect(readFileSync(join(bootstrap.folder, "root/etc/kubernetes/manifests/x"), "utf8")).toBe("mine\n");
  });

  it("does not read the .bashrc of whoever uses it", () => {
    writeFileSync(join(folder, ".bashrc"), "echo read\n");
    expect(bootstrap.must("echo ours", { HOME: folder })).toBe("ours\n");
  });

  it("reaches the other by its cable, and nothing behind it", () => {
    const dial = (address: string) => bootstrap.run(`timeout 2 bash -c '</dev/tcp/${address}/9'`).stderr;
    expect(dial("10.0.0.20")).toContain("Connection refused");
    expect(dial("10.128.0.10")).toContain("Network is unreachable");
  });

  it("is in control groups that begin with itself", () => {
    expect(groupsOf(lab).length).toBeGreaterThan(0);
    for (const line of bootstrap.must("cat /proc/self/cgroup").trim().split("\n"))
      expect(line).toMatch(line.startsWith("0::") ? /^0::\/init$/ : /:\/$/);
  });

  it("keeps the root of its version 2 control groups free of processes, so that it can pass controllers on", () => {
    const roots = bootstrap.must("awk '$3 == \"cgroup2\" { print $2 }' /proc/self/mounts").trim().split("\n");
    for (const root of roots.filter(Boolean)) {
      expect(bootstrap.must(`cat ${root}/cgroup.procs`)).toBe("");
      expect(bootstrap.must(`cat ${root}/init/cgroup.procs`)).not.toBe("");
    }
  });

  it("says why it could not be started", async () => {
    writeFileSync(join(folder, "in-the-way"), "");
    await expect(
      LabMachine.start({ lab, name: "odd", folder: join(folder, "in-the-way"), dieWithParent: true }),
    ).rejects.toThrow();
  });
});

describe("what is left", () => {
  it("of one lab is removed, and nothing of another", async () => {
    const [one, other] = await Promise.all([start("m", `${lab}x`), start("m", `${lab}x-y`)]);
    one.must("setsid sleep 1000 >/dev/null 2>&1 &");
    await removeMachines(`${lab}x`);
    expect(groupsOf(`${lab}x`)).toEqual([]);
    expect(() => LabMachine.running({ lab: `${lab}x`, name: "m", folder: one.folder })).toThrow("is not running");
    expect(other.must("hostname").trim()).toBe("m");
    await removeMachines(`${lab}x-y`);
    expect(groupsOf(`${lab}x-y`)).toEqual([]);
  });

  it("after the driver was killed: machines that die with it are gone, and the rest can be found and removed", async () => {
    const driver = join(folder, "driver.mts");
    const module = projectFile("lab/machine.ts");
    for (const dieWithParent of [true, false]) {
      const name = `${lab}k${dieWithParent ? 1 : 0}`;
      writeFileSync(
        driver,
        `import { LabMachine } from ${JSON.stringify(module)};
         await LabMachine.start({ lab: "${name}", name: "m", folder: ${JSON.stringify(join(folder, name))}, dieWithParent: ${dieWithParent} });
         console.log("up"); setInterval(() => {}, 1000);`,
      );
      const child = spawn(process.execPath, ["--import", "tsx", driver], { stdio: ["ignore", "pipe", "inherit"] });
      await new Promise((resolve) => child.stdout.once("data", resolve));
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));
      const place = { lab: name, name: "m", folder: join(folder, name) };
      if (!dieWithParent) expect(LabMachine.running(place).must("hostname").trim()).toBe("m");
      await removeMachines(name);
      expect(groupsOf(name)).toEqual([]);
      expect(() => LabMachine.running(place)).toThrow("is not running");
    }
  });

  it("goes while its control groups come and go, as those of a container that is started again and again", async () => {
    const name = `${lab}g`;
    for (let round = 0; round < 3; round++) {
      const machine = await start("m", name);
      machine.must(
        `for place in $(awk '$3 ~ /^cgroup2?$/ { print $2 }' /proc/self/mounts); do
           (while :; do mkdir "$place"/{1..40}; rmdir "$place"/{1..40}; done) >/dev/null 2>&1 &
         done`,
      );
      await removeMachines(name);
      expect(groupsOf(name)).toEqual([]);
      rmSync(machine.folder, { recursive: true });
    }
  });
});
