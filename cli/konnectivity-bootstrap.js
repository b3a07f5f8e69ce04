#!/usr/bin/env node
// Starts the command line. It never installs npm packages: steps of `cdktf destroy` run it, and npm would delete the cdktf
// command that waits for them.
import { constants } from "node:os";
import { checkNode, packageProblem } from "../src/runtime/packages.js";
import "../src/runtime/before-tsx.js";

// Whatever the user's umask is: nobody else may change what a command or its child processes create. A lab's files run as root.
process.umask(process.umask() | 0o022);

// cdktf's own packages call what newer Node.js deprecates; whoever runs a command cannot do anything about it.
process.noDeprecation = true;

// A command does its work in one go: a signal in the middle of it waits for the end, so that nothing is left half-written.
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]))
  process.on(signal, () => process.exit(128 + constants.signals[signal]));
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (/** @type {NodeJS.ErrnoException} */ error) => {
    // The reader has ended, like `head`. Not by SIGPIPE, which also comes when ssh ends before it has read its input.
    if (error.code === "EPIPE") process.exit(128 + constants.signals.SIGPIPE);
    if (stream === process.stdout) console.error(`error: What was to be said cannot be written: ${error.message}.`);
    process.exit(1);
  });

/** @param {string} sentence */
function stop(sentence) {
  console.error(`konnectivity-bootstrap: ${sentence}`);
  // As src/cli/output.ts prints it, which could not be loaded.
  if (process.argv.includes("--json")) {
    const errors = [{ code: "installation-unusable", message: sentence }];
    console.log(JSON.stringify({ formatVersion: 1, ok: false, errors, warnings: [] }, undefined, 2));
  }
  process.exit(1);
}

try {
  checkNode();
} catch (error) {
  stop(error instanceof Error ? error.message : String(error));
}
try {
  // Kubernetes' client is a thousand files, and each takes twice as long to load once tsx looks at it too.
  const words = process.argv.slice(2);
  const asksCluster =
    words.some((word) => word.startsWith("--kubeconfig")) ||
    (["teardown", "acceptance"].includes(words[0] ?? "") && !words.includes("local"));
  if (asksCluster) await import("@kubernetes/client-node");
  await import("tsx");
  const { main } = await import("../src/cli/main.ts");
  process.exitCode = await main(process.argv);
} catch (error) {
  const sentence = packageProblem(error);
  if (sentence === undefined) throw error;
  stop(sentence);
}
