// Gets this machine ready for `npm run demo`, and with --for-tests for `npm test` and `npm run bench`.
import { spawnSync } from "node:child_process";
import { ensureDependencies } from "./dependencies.js";
import { ensureGoProgram } from "./go-programs.js";

const forTests = process.argv.includes("--for-tests");

/** What the tests run for real, and the Debian package that has it. */
const programs = {
  "ignition-validate": "ignition",
  shellcheck: "shellcheck",
  openssl: "openssl",
  jq: "jq",
  ip: "iproute2",
  unshare: "util-linux",
  mount: "mount",
  useradd: "passwd",
  patch: "patch",
  faketime: "faketime",
  time: "time",
};

/** @param {string} program */
const isMissing = (program) => spawnSync("sh", ["-c", `command -v ${program}`]).status !== 0;

/** @param {string} sentence */
function stop(sentence) {
  console.error(sentence);
  process.exit(1);
}

/**
 * Runs a step; if it throws, that sentence is all that the user sees.
 * @param {() => unknown} step
 */
function orStop(step) {
  try {
    step();
  } catch (error) {
    stop(error instanceof Error ? error.message : String(error));
  }
}

orStop(() => {
  ensureDependencies({ forTests });
});

if (forTests) {
  const missing = Object.entries(programs).filter(([program]) => isMissing(program));
  const packages = [...new Set(missing.map(([, name]) => name))];
  if (packages.length > 0) {
    const command = `apt-get install --yes --no-install-recommends ${packages.join(" ")}`;
    if (process.getuid?.() !== 0 || isMissing("apt-get"))
      stop(`The tests need ${missing.map(([program]) => program).join(", ")}: run as root: ${command}`);
    console.error(`Installing Debian packages: ${packages.join(", ")} …`);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    for (const step of ["apt-get update", command]) {
      const apt = spawnSync("sh", ["-c", step], { env, encoding: "utf8" });
      if (apt.status !== 0) stop(`"${step}" failed: ${apt.stderr.trim().split("\n").at(-1) ?? ""}`);
    }
  }
  if (process.getuid?.() !== 0) stop("The tests enter namespaces of their own, as a machine's root: run them as root.");
  if (isMissing("go"))
    stop("The tests check rendered objects with the real Kubernetes API types: install Go 1.26 or newer.");
  if (isMissing(process.env.TERRAFORM_BINARY_NAME ?? "terraform"))
    stop(
      "The tests run the real Terraform: install Terraform 1.10 or newer, or OpenTofu and set TERRAFORM_BINARY_NAME=tofu.",
    );
  orStop(() => ensureGoProgram("kubernetes-schema"));
}

if (Number(process.versions.node.split(".")[0]) >= 24)
  console.error(
    "Note: `npx cdktf` does not start on Node.js 24 or newer (its terminal module has no build for it); use Node.js 20 or 22 for it.",
  );
