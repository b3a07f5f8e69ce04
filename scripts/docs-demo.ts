/** `npm run docs:demo`: runs the demo and puts what it printed into docs, as a picture and as text. Needs root. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { projectFile, projectRoot, readProjectText } from "../src/runtime/project-files.js";
import { withGenerated } from "./mermaid.ts";
import { terminalPicture, wrap } from "./terminal-picture.ts";

const page = "docs/lab.md";
// Set-up prints to stderr, so the transcript begins with the demo itself.
const { status, stdout } = spawnSync("npm", ["run", "--silent", "demo"], {
  cwd: projectRoot,
  encoding: "utf8",
  stdio: ["ignore", "pipe", "inherit"],
});
if (status !== 0) {
  console.error(`${stdout}\nThe demo failed, so docs were not changed.`);
  process.exit(1);
}
const transcript = `$ npm run demo\n\n${stdout.trim()}`;
writeFileSync(projectFile("docs/demo.svg"), terminalPicture(transcript, "The output of npm run demo"));
const text = transcript
  .split("\n")
  .flatMap((line) => wrap(line))
  .join("\n");
writeFileSync(projectFile(page), withGenerated(readProjectText(page), "demo", `\`\`\`console\n${text}\n\`\`\``));
console.log(`docs/demo.svg and ${page} show this run.`);
