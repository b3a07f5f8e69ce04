// `npm run check`: types, lint and format at the same time. What each of them finds comes in one piece.
import { spawn } from "node:child_process";

/** @param {string} script */
function passes(script) {
  const child = spawn("npm", ["run", "--silent", script], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (part) => (said += part));
  return new Promise((resolve) => {
    child.on("error", (error) => {
      console.error(`npm cannot be started: ${error.message}`);
      resolve(false);
    });
    child.on("close", (code) => {
      process.stderr.write(said);
      resolve(code === 0);
    });
  });
}

const results = await Promise.all(["types", "lint", "format:check"].map(passes));
process.exitCode = results.every(Boolean) ? 0 : 1;
