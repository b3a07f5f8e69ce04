/** `npm run demo`: the main job, on this machine. A lab comes up by cdktf, a webhook answers through the tunnel, all goes. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { labFolder } from "../lab/folder.ts";
import { Lab } from "../lab/lab.ts";
import { addresses } from "../lab/addresses.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const name = "demo";
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
  process.once(signal, () => {
    interrupted = true;
    console.error("\nInterrupted: the lab goes.");
    void Lab.down(name, labFolder(name)).then(() => process.exit(130));
  });
process.once("exit", () => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the cdktf command, and shows what its steps say. */
async function cdktf(verb: "deploy" | "destroy"): Promise<void> {
  const args = ["cdktf", verb, "local-*", "--auto-approve", "--output", join(folder, "cdktf.out")];
  console.log(`$ npx cdktf ${verb} 'local-*'`);
  const child = spawn("npx", args, {
    cwd: root,
    env: { ...process.env, KONNECTIVITY_CONFIG: config, CHECKPOINT_DISABLE: "1", FORCE_COLOR: "0", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    // Ctrl-C is ours to handle: Terraform would leave half a lab behind.
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
    throw new Error(`cdktf ${verb} ended with ${String(code)}`);
  }
}

/** One line for each thing that is shown. */
function show(what: string, seen: string, right: boolean): void {
  say(`${right ? "✓" : "✗"} ${what}: ${seen}`);
  if (!right) process.exitCode = 1;
}

heading(
  "A cluster is born on this machine: real Ignition, etcd, kube-apiserver and Konnectivity, in namespaces of their own",
);
await cdktf("deploy");
const lab = Lab.ifRunning(name, labFolder(name));
if (lab === undefined) throw new Error("the lab does not run");

heading("A webhook in the pod network, which must answer before a ConfigMap is taken (failurePolicy: Fail)");
await lab.installWorkload();
const route = lab.bootstrap.run(`ip route get ${addresses.webhookPod}`);
show("the bootstrap machine has no route to it", route.stderr.trim(), route.status !== 0);
const created = lab.createConfigMap(lab.bootstrap, "one", { tunnelled: "true" });
show(
  "the bootstrap kube-apiserver reaches it through the tunnel",
  `ConfigMap ${String(created.code)}`,
  created.code === 201,
);
const denied = lab.createConfigMap(lab.bootstrap, "two", { tunnelled: "true", deny: "true" });
show("a denial comes through", denied.body.message ?? "", denied.code === 403);
const byUrl = lab.createConfigMap(lab.bootstrap, "three", { "by-url": "true" });
show("a webhook by URL is not tunnelled", byUrl.body.message ?? "", byUrl.code === 500);
const permanent = lab.createConfigMap(lab.node, "four", { tunnelled: "true" });
show("a kube-apiserver without the tunnel is untouched", `ConfigMap ${String(permanent.code)}`, permanent.code === 201);

heading("And away again");
await cdktf("destroy");
const left = [
  ...(existsSync(labFolder(name)) ? [labFolder(name)] : []),
  ...readdirSync("/sys/fs/cgroup").filter((entry) => entry.includes(`konnectivity-bootstrap.${name}.`)),
];
show("nothing is left", left.join() || "no process, no namespace, no file", left.length === 0);
