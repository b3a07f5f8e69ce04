// Prepares this machine for an npm script. Every script needs the npm packages; the flags name what else it needs:
//   --for-test     `npm test`: the packages for development, and Terraform
//   --for-lab      `npm run demo` and what else starts a lab: root, Debian packages, Go programs, images
//   --for-e2e      `npm run test:e2e`: the lab, and the other programs that its tests run
//   --for-clouds   `npm run test:clouds`: root, and Debian packages
//   --for-vm       `npm run test:vm`: Debian packages beside the lab's
//   --for-render   `npm run docs:render`: a browser
import { spawn, spawnSync } from "node:child_process";
import { cloudPrograms, e2ePrograms, labPrograms, renderPrograms, vmPrograms } from "./debian-packages.js";
import { downloadGoPrograms, isDownloadable } from "../lab/downloads.js";
import { ensureDependencies } from "../src/runtime/packages.js";
import { ensureGoProgram, labGoPrograms, mustBeBuilt, oldProxies, titleOf } from "../lab/go-programs.js";
import { ensureNodeVersions } from "./node-versions.js";
import { projectFile } from "../src/runtime/project-files.js";

/** @param {string} name */
const isFor = (name) => process.argv.includes(`--for-${name}`);
const forTest = isFor("test");
const forE2e = isFor("e2e");
const forLab = forE2e || isFor("lab");
const forClouds = isFor("clouds");
const forVm = isFor("vm");
const forRender = isFor("render");

/** Go programs that the tests need beside the lab's; a lab with `ipi: true` builds the installer's itself. */
const testGoPrograms = /** @type {const} */ (["kubernetes-schema", "load", "installer-rewrite", ...oldProxies]);

/** @param {string} program */
const isMissing = (program) =>
  spawnSync("sh", ["-c", program.includes("*") ? `ls -d ${program}` : `command -v ${program}`]).status !== 0;

/** @param {string} sentence */
function stop(sentence) {
  console.error(sentence);
  process.exit(1);
}

/**
 * Runs a step. If it throws, prints only the message.
 * @param {() => unknown} step
 */
async function orStop(step) {
  try {
    await step();
  } catch (error) {
    stop(error instanceof Error ? error.message : String(error));
  }
}

/** @param {Record<string, string>} programs */
function ensurePackages(programs) {
  const missing = Object.entries(programs).filter(([program]) => isMissing(program));
  const packages = [...new Set(missing.map(([, name]) => name))];
  if (packages.length === 0) return;
  // Another program may be installing packages at this moment, as unattended-upgrades does after a machine starts.
  const apt = "apt-get --option DPkg::Lock::Timeout=300";
  const command = `${apt} install --yes --no-install-recommends ${packages.join(" ")}`;
  if (process.getuid?.() !== 0 || isMissing("apt-get"))
    stop(
      `These programs are missing: ${missing.map(([program]) => program).join(", ")}; to install them, run as root: ${command}`,
    );
  console.error(`Installing Debian packages: ${packages.join(", ")} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const step of [`${apt} update`, command]) {
    const { status, stderr } = spawnSync("sh", ["-c", step], { env, encoding: "utf8" });
    if (status !== 0) stop(`"${step}" failed: ${stderr.trim().split("\n").at(-1) ?? ""}`);
  }
}

/** Downloads published programs and builds the others at the same time. What is missing after that is built later. */
async function downloadMissing() {
  const missing = () => [...labGoPrograms, ...(forE2e ? testGoPrograms : [])].filter(mustBeBuilt);
  const unpublished = missing().filter((name) => !isDownloadable(name));
  // Before the downloads, so that a missing Go is reported at once.
  requireGo(unpublished);
  if (unpublished.length < missing().length)
    await Promise.all([downloadGoPrograms(missing()), buildInBackground(unpublished)]);
  requireGo(missing());
}

/** @param {readonly import("../lab/go-programs.js").GoProgramName[]} unbuilt */
function requireGo(unbuilt) {
  if (unbuilt.length > 0 && isMissing("go"))
    stop(
      `These programs must be built from source: ${unbuilt.map(titleOf).join("; ")}. Install Go 1.26.2 or newer, or set KONNECTIVITY_COMPONENTS to a folder with kube-apiserver, etcd, proxy-server and proxy-agent.`,
    );
}

/** @param {readonly string[]} names */
async function buildInBackground(names) {
  if (names.length === 0) return;
  const child = spawn(process.execPath, [projectFile("scripts/build-go-programs.js"), ...names], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  await new Promise((resolve) => child.once("error", resolve).once("close", resolve));
}

/** What this machine or user lacks. @returns undefined if nothing */
function missingRight() {
  if (!forLab && !forClouds) return undefined;
  if (process.platform !== "linux") return "This command runs machines in Linux namespaces: run it on Linux, as root.";
  if (process.getuid?.() === 0) return undefined;
  return forLab
    ? "The lab creates namespaces, mounts and control groups: run this command as root."
    : "The tests run the clouds in network namespaces: run this command as root.";
}

// Before anything is installed.
const right = missingRight();
if (right !== undefined) stop(right);

await orStop(() => {
  // The cdktf command is among the packages for development.
  ensureDependencies({ forTests: forTest || forLab || forClouds });
});

if (forClouds) ensurePackages(cloudPrograms);

if (forRender) ensurePackages(renderPrograms);

if (forLab) ensurePackages({ ...labPrograms, ...(forE2e && e2ePrograms), ...(forVm && vmPrograms) });

if ((forTest || forLab || forClouds) && isMissing(process.env.TERRAFORM_BINARY_NAME ?? "terraform"))
  stop(
    "Terraform is missing: install Terraform 1.10 or newer, or install OpenTofu and set TERRAFORM_BINARY_NAME=tofu.",
  );

if (forLab)
  await orStop(async () => {
    await downloadMissing();
    const { ensureImages } = await import("../lab/images.js");
    ensureImages();
  });

if (forE2e) {
  await orStop(ensureNodeVersions);
  for (const program of testGoPrograms) await orStop(() => ensureGoProgram(program));
}
