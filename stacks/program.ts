import { projectFile } from "../src/runtime/project-files.js";

/** The command-line program, which the stacks' destroy steps run. Absolute. */
export const program = projectFile("cli", "konnectivity-bootstrap.js");
