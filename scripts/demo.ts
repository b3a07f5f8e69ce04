/** `npm run demo`: makes the payload of a sample cluster and shows it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../cli/main.ts";
import { sampleMetadata, sampleText } from "../test/support/sample.ts";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-demo-"));
process.once("SIGINT", () => process.exit(130));
process.once("exit", () => {
  rmSync(folder, { recursive: true, force: true });
});

const installDir = join(folder, "ocp");
const out = join(folder, "out");
const steps: readonly (readonly [what: string, ...command: string[]])[] = [
  [
    "Make the payload, and the pointer for user data",
    ...["payload", "build", installDir, "--out", out, "--url", "https://files.example.com/payload.ign"],
  ],
  ["Which rule must be open", "payload", "firewall", installDir],
  ["What the pointer says", "payload", "inspect", join(out, "pointer.ign")],
  ["What is in the payload", "payload", "inspect", join(out, "payload.ign")],
];

mkdirSync(installDir);
writeFileSync(join(installDir, "bootstrap.ign"), sampleText("4.18"), { mode: 0o600 });
writeFileSync(join(installDir, "metadata.json"), JSON.stringify(sampleMetadata));
console.log(
  "A sample of what `openshift-install create ignition-configs` leaves (release 4.18, no real secret in it).",
);
for (const [what, ...command] of steps) {
  console.log(`\n${what}:\n$ npx konnectivity-bootstrap ${command.join(" ").replaceAll(`${folder}/`, "")}\n`);
  const exitCode = await main(["node", "konnectivity-bootstrap", ...command]);
  if (exitCode !== 0) process.exit(exitCode);
}
console.log("That is all there is without a platform: put payload.ign where the URL says, pointer.ign into user data.");
