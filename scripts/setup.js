// Gets this machine ready: npm packages; with --for-lab also what `npm run demo` runs for real, with --for-tests what
// `npm test` and `npm run bench` do, with --for-clouds what `npm run test:clouds` does, with --for-vm what `npm run test:vm`
// does beside the lab.
import { spawnSync } from "node:child_process";
import { cloudPrograms, labPrograms, testPrograms, vmPrograms } from "./debian-packages.js";
import { ensureDependencies } from "../src/runtime/packages.js";
import { ensureGoProgram, labGoPrograms, mustBeBuilt, oldProxies, titleOf } from "../lab/go-programs.js";
import { ensureNodeVersions } from "./node-versions.js";

const forTests = process.argv.includes("--for-tests");
const forLab = forTests || process.argv.includes("--for-lab");
const forClouds = process.argv.includes("--for-clouds");
const forVm = process.argv.includes("--for-vm");

/** Go programs that only the tests need. */
const testGoPrograms = /** @type {const} */ (["kubernetes-schema", "load", ...oldProxies]);

/** @param {string} program */
const isMissing = (program) =>
  spawnSync("sh", ["-c", program.includes("*") ? `ls -d ${program}` : `command -v ${program}`]).status !== 0;

/** @param {string} sentence */
function stop(sentence) {
  console.error(sentence);
  process.exit(1);
}

/**
 * Runs a step; if it throws, that sentence is all that the user sees.
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
  const command = `apt-get install --yes --no-install-recommends ${packages.join(" ")}`;
  if (process.getuid?.() !== 0 || isMissing("apt-get"))
    stop(`This needs ${missing.map(([program]) => program).join(", ")}: run as root: ${command}`);
  console.error(`Installing Debian packages: ${packages.join(", ")} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const step of ["apt-get update", command]) {
    const apt = spawnSync("sh", ["-c", step], { env, encoding: "utf8" });
    if (apt.status !== 0) stop(`"${step}" failed: ${apt.stderr.trim().split("\n").at(-1) ?? ""}`);
  }
}

await orStop(() => {
  // The cdktf command is among the packages for development.
  ensureDependencies({ forTests: forLab || forClouds });
});

const terraform = process.env.TERRAFORM_BINARY_NAME ?? "terraform";
const noTerraform = "Install Terraform 1.10 or newer, or OpenTofu and set TERRAFORM_BINARY_NAME=tofu.";

if (forClouds) {
  if (process.getuid?.() !== 0) stop("The clouds run in namespaces of their own: run this as root.");
  ensurePackages(cloudPrograms);
  if (isMissing(terraform)) stop(noTerraform);
}

if (forLab) {
  if (process.getuid?.() !== 0)
    stop("The lab makes namespaces, mounts and control groups of its own: run this as root.");
  ensurePackages({ ...labPrograms, ...(forTests && testPrograms), ...(forVm && vmPrograms) });
  const unbuilt = [...labGoPrograms, ...(forTests ? testGoPrograms : [])].filter(mustBeBuilt);
  if (unbuilt.length > 0 && isMissing("go"))
    stop(
      `These must be built from source: ${unbuilt.map(titleOf).join("; ")}. Install Go 1.26.2 or newer; KONNECTIVITY_COMPONENTS can name a folder that contains kube-apiserver, etcd, proxy-server and proxy-agent.`,
    );
  if (isMissing(terraform)) stop(noTerraform);
  await orStop(async () => {
    const { ensureImages } = await import("../lab/images.js");
    ensureImages();
  });
}

if (forTests) {
  await orStop(ensureNodeVersions);
  for (const program of testGoPrograms) await orStop(() => ensureGoProgram(program));
}
