// What cdktf.json's `app` runs: main.ts, as CommonJS and without source maps. That takes half the memory and half the time
// of `node --import tsx main.ts`: no second thread for tsx, and the maps inside the provider bindings stay undecoded.
import { createRequire } from "node:module";
import { packageProblem } from "../src/runtime/packages.js";
import { projectFile } from "../src/runtime/project-files.js";
import "../src/runtime/before-tsx.js";

// cdktf's own packages call what newer Node.js deprecates; whoever runs the app cannot do anything about it.
process.noDeprecation = true;
try {
  await import("tsx/cjs");
  process.setSourceMapsEnabled(false);
  const require = createRequire(projectFile("scripts/app.js"));
  require("../main.ts");
} catch (error) {
  const sentence = packageProblem(error);
  if (sentence === undefined) throw error;
  console.error(`error: ${sentence}`);
  process.exitCode = 1;
}
