/** `npm run bench`: figures and goals, always of two things in one run, because machines are noisy. */
import { appRunner } from "./app-runner.ts";
import { nodeSetup } from "./node-setup.ts";
import { payloadBytes, payloadGrowth } from "./payload.ts";

console.log(`# Benchmark (Node.js ${process.versions.node}, ${process.arch})\n`);
for (const part of [payloadGrowth, payloadBytes, nodeSetup, appRunner]) console.log(part());
