// Plain JavaScript without dependencies: set-up builds with it in another process, while it downloads.
//   node scripts/build-go-programs.js NAME...
import { ensureGoProgram } from "../lab/go-programs.js";

try {
  for (const name of process.argv.slice(2)) ensureGoProgram(name);
} catch {
  // Set-up builds what is still missing, and reports why that fails.
  process.exitCode = 1;
}
