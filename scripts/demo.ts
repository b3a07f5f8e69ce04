/** `npm run demo`: deploys a lab with cdktf, calls a webhook through the tunnel, and removes everything. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { labFolder } from "../lab/folder.ts";
import { Lab } from "../lab/lab.ts";
import { KubeApiServerWithoutTunnel } from "../lab/without-tunnel.ts";
import { timeoutFactor } from "../src/core/time-limits.ts";
import { projectRoot } from "../src/runtime/project-files.js";

/** `npm run demo -- NAME`: two demos at the same time need two names. */
const name = process.argv[2] ?? "demo";
try {
  timeoutFactor();
  labFolder(name);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-demo-"));
const config = join(folder, "konnectivity.yaml");
writeFileSync(config, `local:\n  name: ${name}\n`);

const begin = Date.now();
const say = (text: string) => {
  console.log(`${((Date.now() - begin) / 1000).toFixed(1).padStart(6)} s  ${text}`);
};
const heading = (text: string) => {
  console.log(`\n${text}`);
};

let interrupted = false;
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    if (interrupted) return;
    interrupted = true;
    console.error("\nInterrupted: removing the lab.");
    void endSteps()
      .then(() => Lab.down(name, labFolder(name)))
      .then(() => process.exit(128 + constants.signals[signal]));
  });
process.once("exit", () => {
  rmSync(folder, { recursive: true, force: true });
});

/** Kills cdktf and its child processes in all sessions: only these have this run's config file in their environment. */
async function endSteps(): Promise<void> {
  const mark = `KONNECTIVITY_CONFIG=${config}`;
  for (;;) {
    const steps = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && environmentOf(pid).includes(mark));
    if (steps.length === 0) return;
    for (const pid of steps) killIfThere(Number(pid));
    await sleep(50);
  }
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    // It has ended in the meantime.
    return [];
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Runs the cdktf command, and shows the output of its steps. */
async function cdktf(verb: "deploy" | "destroy"): Promise<void> {
  const args = ["cdktf", verb, "local-*", "--auto-approve", "--output", join(folder, "cdktf.out")];
  console.log(`$ npx cdktf ${verb} 'local-*'`);
  const child = spawn("npx", args, {
    cwd: projectRoot,
    env: { ...process.env, KONNECTIVITY_CONFIG: config, CHECKPOINT_DISABLE: "1", FORCE_COLOR: "0", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    // Ctrl-C is handled here, because Terraform would leave half a lab behind.
    detached: true,
  });
  let output = "";
  const read = (chunk: Buffer) => {
    output += String(chunk);
    // Escape sequences of its display, and everything but the lines of our own steps.
    // eslint-disable-next-line no-control-regex
    const text = String(chunk).replace(/\u001b\[[0-9;]*[A-Za-z]/g, "");
    for (const [, line = ""] of text.matchAll(/\(local-exec\): +(?:[\d.]+ s +)?(\S.*)/g))
      if (!line.startsWith("Executing")) say(line);
  };
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (interrupted) await new Promise(() => undefined);
  if (code !== 0) {
    console.error(output);
    throw new Error(`\`cdktf ${verb}\` failed: see its output above.`);
  }
}

const firstLineOf = (text: string) => text.split("\n")[0] ?? "";

/** One line for each thing that is shown. */
function show(what: string, seen: string, right: boolean): void {
  say(`${right ? "✓" : "✗"} ${what}: ${seen}`);
  if (!right) process.exitCode = 1;
}

/** All of it, step by step. */
async function demonstrate(): Promise<void> {
  heading("A cluster is bootstrapped on this machine, with real Ignition, etcd, kube-apiserver and Konnectivity");
  await cdktf("deploy");
  const lab = Lab.ifRunning(name, labFolder(name));
  if (lab === undefined) throw new Error("the lab is not running");

  heading("A webhook in the pod network must allow every new ConfigMap (failurePolicy: Fail)");
  // It starts at the same time as the webhook.
  const before = KubeApiServerWithoutTunnel.start(lab);
  await lab.installWorkload();
  const route = lab.bootstrap.run(`ip route get ${lab.addresses.webhookPod}`);
  show("the bootstrap machine has no route to it", route.stderr.trim(), route.status !== 0);
  await before.isReady();
  const failed = before.createConfigMap("one", { tunnelled: "true" });
  before.stop();
  show(
    "before: without the tunnel, a kube-apiserver on that machine cannot create a ConfigMap",
    failed.body.message ?? "",
    failed.code === 500,
  );
  const created = lab.createConfigMap(lab.bootstrap, "one", { tunnelled: "true" });
  show(
    "after: with the tunnel, the bootstrap kube-apiserver creates it",
    `ConfigMap ${String(created.code)}`,
    created.code === 201,
  );
  const denied = lab.createConfigMap(lab.bootstrap, "two", { tunnelled: "true", deny: "true" });
  show("the webhook can deny a ConfigMap", denied.body.message ?? "", denied.code === 403);
  const byUrl = lab.createConfigMap(lab.bootstrap, "three", { "by-url": "true" });
  show("a webhook with a URL is not tunnelled", byUrl.body.message ?? "", byUrl.code === 500);
  const permanent = lab.createConfigMap(lab.node, "four", { tunnelled: "true" });
  show("the permanent kube-apiserver needs no tunnel", `ConfigMap ${String(permanent.code)}`, permanent.code === 201);

  heading("The bootstrap ends: the gate opens, and everything is removed");
  const gate = () =>
    spawnSync("node", ["cli/konnectivity-bootstrap.js", "teardown", "gate", "--config", config, "local"], {
      cwd: projectRoot,
      encoding: "utf8",
    });
  const closed = gate();
  show(
    "the gate is closed while the cluster needs its bootstrap machine",
    firstLineOf(closed.stdout),
    // It also fails if the API does not respond.
    closed.status === 1 && closed.stdout.startsWith("not yet"),
  );
  await lab.completeBootstrap();
  await cdktf("destroy");
  const left = Lab.remains(name, labFolder(name));
  show("nothing is left", left.join() || "no process, no namespace, no file", left.length === 0);
}

try {
  await demonstrate();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  console.error("Removing the lab.");
  await Lab.down(name, labFolder(name));
  process.exitCode = 1;
}
