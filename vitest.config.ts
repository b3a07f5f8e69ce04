import { defineConfig } from "vitest/config";

/** `npm test`: unit and synth tests. They need Node.js, Terraform and git, and neither root nor Linux. */
export default defineConfig({
  test: {
    include: ["test/unit/**/*.test.ts", "test/stacks/**/*.test.ts"],
    // Workers keep what they loaded: every isolated file would load cdktf and the providers again.
    pool: "threads",
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
