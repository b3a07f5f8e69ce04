import { createRequire } from "node:module";
import { projectFile } from "../../src/runtime/project-files.js";

/**
 * cdktf records a stack trace for every token, which takes two fifths of the time of a synthesis and is read by nothing here.
 * Imported by what synthesizes.
 */
const traces = createRequire(projectFile("package.json"))("cdktf/lib/tokens/private/stack-trace.js") as {
  captureStackTrace: () => string[];
};
traces.captureStackTrace = () => [];
