import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** `npm test`: unit and synth tests. They need Node.js, Terraform and git, and neither root nor Linux. */
export default defineConfig({
  test: {
    include: ["test/unit/**/*.test.ts", "test/stacks/**/*.test.ts"],
    // Workers keep what they loaded: every isolated file would load cdktf and the providers again.
    pool: "threads",
    isolate: false,
    maxWorkers: availableParallelism(),
    // A terminal shows progress by itself; a CI log needs failures and figures only.
    reporters:
      process.env.CI === undefined ? "default" : ["minimal", ...(process.env.GITHUB_ACTIONS ? ["github-actions"] : [])],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
