import { defineConfig } from "vitest/config";

/** For main.ts, which calls it once for each file. One test goes on where the one before it ended. */
export default defineConfig({
  test: {
    include: ["test/e2e/clouds/*.test.ts"],
    bail: 1,
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
});
