import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // One shared worker: every isolated file would load cdktf and the providers again.
    pool: "threads",
    isolate: false,
    testTimeout: 60_000,
  },
});
