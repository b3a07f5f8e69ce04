// Plain JavaScript without dependencies, as lab/go-programs.js: set-up uses it to create the images, and the lab to find them.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { projectFile } from "../src/runtime/project-files.js";
import { cached, currentProxy, ensureGoProgram } from "./go-programs.js";

const script = projectFile("lab/images.sh");

/** @typedef {Record<string, Record<string, string>>} Images Each image's name, and by its name in /usr/bin each program's path. */

/**
 * Creates the images that every lab runs, unless images with the same programs exist: localhost/lab/kube-apiserver, etcd,
 * apiserver-network-proxy and webhook, and podman's pause image. Builds the programs first where needed. Throws one
 * sentence if that fails.
 * @returns {string} the image store, for `additionalimagestores` of any number of labs
 */
export function ensureImages() {
  const { "kube-apiserver": kubeApiserver, etcd } = ensureGoProgram("kubernetes");
  return ensureStore("images", {
    "kube-apiserver": { "kube-apiserver": kubeApiserver },
    etcd: { etcd },
    "apiserver-network-proxy": ensureGoProgram(currentProxy),
    webhook: ensureGoProgram("webhook"),
  });
}

/**
 * Creates the image of an older proxy, to be used with or instead of the current one:
 * localhost/lab/apiserver-network-proxy:0.29.0 of proxy-0.29.0.
 * @param {import("./go-programs.js").OldProxyName} name
 * @returns {string} its image store, for `additionalimagestores`
 */
export function ensureOldProxyImage(name) {
  const tag = name.replace("proxy-", "");
  return ensureStore(`images-${name}`, { [`apiserver-network-proxy:${tag}`]: ensureGoProgram(name) });
}

/**
 * @param {string} name
 * @param {Images} images
 */
function ensureStore(name, images) {
  // The pause image depends on the version of podman.
  const podman = run("podman", ["version", "--format", "{{.Client.Version}} {{.Client.Built}}"]);
  return cached(`${name}-${digestOf(images, podman)}`, (store) => {
    console.error("Creating the lab's container images (once, a few seconds) …");
    const source = join(store, "source");
    for (const [image, programs] of Object.entries(images)) {
      mkdirSync(join(source, image), { recursive: true });
      // Copied, because the image would contain a symbolic link as a link.
      for (const [program, path] of Object.entries(programs)) copyFileSync(path, join(source, image, program));
    }
    run("unshare", ["--mount", "--propagation", "private", "bash", script, source, store]);
    rmSync(source, { recursive: true });
  });
}

/**
 * @param {Images} images
 * @param {string} podman
 */
function digestOf(images, podman) {
  const hash = createHash("sha256").update(podman).update(readFileSync(script));
  for (const [image, programs] of Object.entries(images))
    for (const [program, path] of Object.entries(programs))
      hash.update(`${image}\0${program}\0`).update(readFileSync(path));
  return hash.digest("hex").slice(0, 16);
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 */
function run(program, args) {
  const { error, status, signal, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (error !== undefined) throw new Error(`${program} cannot be started (${error.message}): install it.`);
  if (status !== 0) {
    const reason = stderr.trim().split("\n").at(-1) || `signal ${signal}`;
    throw new Error(`The lab's container images could not be created (${reason.trim()}).`);
  }
  return stdout.trim();
}
