import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // These run in namespaces of their own, and not always: `npm run test:clouds`.
    exclude: ["test/clouds/**"],
    // One shared worker: every isolated file would load cdktf and the providers again.
    pool: "threads",
    isolate: false,
    testTimeout: 60_000,
  },
});
