import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { linePlaces } from "../../../src/core/ignition/shell-structure.ts";
import { bootkubeScript, shapes } from "../../../src/core/sample/sample.ts";
import { scriptOf, structures } from "../../support/shell-structures.ts";

/**
 * Another oracle: a line stands at the top level exactly when everything before it is a whole script to bash. It warns
 * about a here-document that the end of the file cuts off, so only silence counts as yes.
 */
function topLevelByBash(script: string): boolean[] {
  const lines = script.split("\n").slice(0, -1);
  const folder = mkdtempSync(join(tmpdir(), "shell-structure-"));
  try {
    for (const index of lines.keys()) {
      const before = lines.slice(0, index).map((line) => `${line}\n`);
      writeFileSync(join(folder, String(index)), before.join(""));
    }
    const check =
      'for ((i = 0; i < $2; i++)); do [ -z "$(bash -O extglob -n "$1/$i" 2>&1)" ] && echo 1 || echo 0; done';
    const { stdout } = spawnSync("bash", ["-c", check, "check", folder, String(lines.length)], { encoding: "utf8" });
    return stdout
      .trim()
      .split("\n")
      .map((answer) => answer === "1");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("linePlaces and bash", () => {
  it.each(Object.entries(structures))("agree that it is valid, and on its top level: %s", (_, lines) => {
    const script = scriptOf(lines);
    const bash = spawnSync("bash", ["-O", "extglob", "-n"], { input: script, encoding: "utf8" });
    expect([bash.status, bash.stderr]).toEqual([0, ""]);
    const ours = linePlaces(script).map(({ depth, text, continued }) => depth === 0 && !text && !continued);
    expect(ours).toEqual(topLevelByBash(script));
  });

  it.each(shapes)("agree on the top level of the bootkube.sh of %s", (shape) => {
    const script = bootkubeScript(shape);
    const ours = linePlaces(script).map(({ depth, text }) => depth === 0 && !text);
    expect(ours).toEqual(topLevelByBash(script));
  });

  it.each([
    ["a subscript with a shift", "a[1<<2]=3\n"],
    ["a loop without in", "for x do :; done\n"],
    ["a coprocess", "coproc { :; }\n"],
    ["a negated group", "if ! { :; }; then\n:\nfi\n"],
    ["a redirection in front", "2>/dev/null cat <<<x\n"],
    ["a select", "select x in a b; do break; done\n"],
    ["a timed group", "time { :; }\n"],
    ["a case in an if's condition", "if case a in a) :;; esac; then :; fi\n"],
    ["a process substitution with an if", "cat <(if :; then :; fi)\n"],
    ["a fi right behind a parenthesis", "if :; then (:) fi\n"],
    ["an end word of 80 letters", `cat <<${"E".repeat(80)}\nfi\n${"E".repeat(80)}\n`],
    ["a word of 200 letters", `echo ${"a".repeat(200)} if\n`],
  ])("both accept %s", (_, script) => {
    const bash = spawnSync("bash", ["-O", "extglob", "-n"], { input: script, encoding: "utf8" });
    expect([bash.status, bash.stderr]).toEqual([0, ""]);
    expect(linePlaces(script)).toHaveLength(script.split("\n").length - 1);
  });
});
