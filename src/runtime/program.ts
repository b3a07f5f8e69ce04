import { projectFile } from "./project-files.js";

/** The command line's program: commands and the stacks' steps start it again. */
export const program = projectFile("cli/konnectivity-bootstrap.js");
