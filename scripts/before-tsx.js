// Import this before tsx. By itself tsx uses the first tsconfig.json in the working directory or above, whoever wrote it, and
// that file's `paths` can replace any package by any program.
import { fileURLToPath } from "node:url";

// Also in place of a value from the environment. Child processes inherit it.
process.env.TSX_TSCONFIG_PATH = fileURLToPath(new URL("../tsconfig.json", import.meta.url));
