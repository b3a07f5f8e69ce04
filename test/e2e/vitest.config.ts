import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { projectRoot } from "../../src/runtime/project-files.js";

/** `npm run test:e2e`: tests that run real programs. They need Linux, root and what scripts/setup.js installs for them. */
export default defineConfig({
  root: projectRoot,
  test: {
    include: ["test/e2e/**/*.test.ts"],
    // The clouds run in namespaces of their own: `npm run test:clouds`.
    exclude: ["test/e2e/clouds/**"],
    // Workers keep what they loaded: every isolated file would load cdktf and the providers again.
    pool: "threads",
    isolate: false,
    // One more than there are cores: tests with a lab mostly wait.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
