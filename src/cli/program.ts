import { fileURLToPath } from "node:url";

/** The command line's program, for commands that start it again. */
export const program = fileURLToPath(new URL("../../cli/konnectivity-bootstrap.js", import.meta.url));
