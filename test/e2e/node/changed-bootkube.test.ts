import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { anyChangedScript, buildOrRefuse, runs, scriptIn, whole } from "../../support/damaged-config.ts";

it("a changed bootkube.sh is refused, or bash takes it and finds our calls at its top level", () => {
  const built: { script: string; payload: string }[] = [];
  fc.assert(
    fc.property(anyChangedScript, ({ script, text }) => {
      const payload = buildOrRefuse(text);
      if (payload !== undefined) built.push({ script, payload: scriptIn(payload) });
    }),
    runs(4, 400),
  );
  // So that the mutations are neither all harmless nor all fatal.
  expect(built.length).toBeGreaterThan(50);
  expect(built.length).toBeLessThan(350);
  expect(brokenToBash(built)).toEqual([]);
});

/** The scripts that bash takes before the build and not after, and calls of ours that are not at bash's top level. */
function brokenToBash(built: readonly { script: string; payload: string }[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "property-"));
  const broken: string[] = [];
  try {
    for (const [index, { script, payload }] of built.entries()) {
      writeFileSync(join(folder, `${index}.original`), script);
      writeFileSync(join(folder, `${index}.payload`), payload);
      for (const name of ["setup", "manifests", "cleanup"] as const) {
        // What runs before a call at the top level is a whole script by itself, and its last line has an end.
        const before = payload.slice(0, payload.indexOf(whole.insertions[name]));
        writeFileSync(join(folder, `${index}.before-${name}`), before);
        if (before.endsWith("\\\n")) broken.push(`${index}.before-${name} ends with a backslash`);
      }
    }
    const check = 'cd "$1" && for file in *; do [ -z "$(bash -n "$file" 2>&1)" ] || echo "$file"; done';
    const { stdout } = spawnSync("bash", ["-c", check, "check", folder], { encoding: "utf8" });
    const refused = new Set(stdout.split("\n").filter((name) => name !== ""));
    return [...broken, ...[...refused].filter((name) => !refused.has(`${name.split(".")[0] ?? ""}.original`))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
