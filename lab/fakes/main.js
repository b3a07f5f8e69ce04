// main.js NAME ARGUMENT...: runs one of the fakes in this folder, from inside a simulated machine or beside it. As CommonJS, like
// scripts/app.js: a lab starts dozens of them, and CommonJS takes two thirds of the time to start.
import { createRequire } from "node:module";
import { projectFile } from "../../src/runtime/project-files.js";
import "../../src/runtime/before-tsx.js";
import "tsx/cjs";

const require = createRequire(projectFile("lab/fakes/main.js"));

/** Each file by name, so that the check of import directions sees them. @type {Record<string, (() => { main: (args: string[]) => Promise<number> }) | undefined>} */
const programs = {
  apply: () => require("./apply.ts"),
  "cluster-bootstrap": () => require("./cluster-bootstrap.ts"),
  installer: () => require("./installer.ts"),
  kubelet: () => require("./kubelet.ts"),
  oc: () => require("./oc.ts"),
  render: () => require("./render.ts"),
};

process.setSourceMapsEnabled(false);
const [, , name = "", ...args] = process.argv;
try {
  const load = programs[name];
  if (load === undefined) throw new Error(`the lab has no fake of ${name || "a program without a name"}`);
  process.exitCode = await load().main(args);
} catch (error) {
  // The lab shows the last line of a program's output.
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
