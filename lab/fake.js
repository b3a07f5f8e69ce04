// fake.js NAME ARGUMENT...: runs one of the programs in fakes/, from inside a simulated machine. As CommonJS, like
// scripts/app.js: a lab starts dozens of them, and each is there in two thirds of the time.
import { createRequire } from "node:module";
import "../src/runtime/before-tsx.js";
import "tsx/cjs";

process.setSourceMapsEnabled(false);
const [, , name, ...args] = process.argv;
const { main } = createRequire(import.meta.url)(`./fakes/${name}.ts`);
try {
  process.exitCode = await main(args);
} catch (error) {
  // The lab shows the last line of what its programs say.
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
