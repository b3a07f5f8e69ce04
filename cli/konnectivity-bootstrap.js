#!/usr/bin/env node
// Starts the command line from a clean clone: installs what it runs with if that is missing, then hands over.
import { ensureDependencies } from "../scripts/dependencies.js";

try {
  ensureDependencies({ forTests: false });
} catch (error) {
  console.error(`konnectivity-bootstrap: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
await import("tsx");
const { main } = await import("./main.ts");
process.exitCode = await main(process.argv);
