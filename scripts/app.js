// What cdktf.json's `app` runs: main.ts, as CommonJS and without source maps. That takes half the memory and half the time
// of `node --import tsx main.ts`: no second thread for tsx, and the maps inside the provider bindings stay undecoded.
import Module, { createRequire } from "node:module";
import { packageProblem } from "../src/runtime/packages.js";
import { projectFile } from "../src/runtime/project-files.js";
import "../src/runtime/before-tsx.js";

// cdktf's own packages use functions that newer Node.js deprecates, and users cannot change that.
process.noDeprecation = true;
try {
  await import("tsx/cjs");
  process.setSourceMapsEnabled(false);
  loadLazilyAsCommonJs();
  const require = createRequire(projectFile("scripts/app.js"));
  require("../main.ts");
} catch (error) {
  const sentence = packageProblem(error);
  if (sentence === undefined) throw error;
  console.error(`error: ${sentence}`);
  process.exitCode = 1;
}

/**
 * tsx leaves `import()` to the loader for ES modules, which does not know TypeScript, or loads the files a second time. In
 * CommonJS `require` does the same, still on demand.
 */
function loadLazilyAsCommonJs() {
  const compiler = /** @type {{ _compile(code: string, file: string, ...rest: unknown[]): unknown }} */ (
    /** @type {unknown} */ (Module.prototype)
  );
  const { _compile: compile } = compiler;
  compiler._compile = function (code, file, ...rest) {
    const lazy = code.replaceAll(/\bimport\(("\.[^"]+\.ts")\)/g, "Promise.resolve().then(()=>require($1))");
    return compile.call(this, file.endsWith(".ts") ? lazy : code, file, ...rest);
  };
}
