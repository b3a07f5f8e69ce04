import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // These run in namespaces of their own, and not always: `npm run test:clouds`.
    exclude: ["test/e2e/clouds/**"],
    // Workers keep what they loaded: every isolated file would load cdktf and the providers again.
    pool: "threads",
    isolate: false,
    // One more than there are cores: those with a lab mostly wait.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
