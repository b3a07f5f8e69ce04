import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { command } from "../../../support/cli.ts";

const folder = mkdtempSync(join(tmpdir(), "completion-"));
mkdirSync(join(folder, "a folder"));
writeFileSync(join(folder, "a-file"), "");
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Whether this machine has a shell. */
const has = (shell: string) => spawnSync(shell, ["--version"]).status === 0;
const scriptOf = async (shell: string) => (await command("completion", shell)).stdout;

/** Command lines, the last word of which is to be completed, and what every shell must offer for it. */
const cases: readonly (readonly [string[], string[]])[] = [
  [["pay"], ["payload"]],
  [
    ["payload", ""],
    ["build", "inspect", "firewall"],
  ],
  [
    ["config", "init", ""],
    ["aws", "azure", "google"],
  ],
  [
    ["config", "init", "a"],
    ["aws", "azure"],
  ],
  [
    ["payload", "firewall", "ocp", "--format", "a"],
    ["aws", "azure"],
  ],
  // The value of an option is no argument.
  [["lab", "enter", "--name", "mine", "b"], ["bootstrap"]],
  [["payload", "build", "--u"], ["--url"]],
  [["--v"], ["--version"]],
  [
    ["payload", "build", "a"],
    ["a folder", "a-file"],
  ],
  [["payload", "build", "ocp", "--ca-bundle", "a-"], ["a-file"]],
  [["payload", "build", "ocp", "--url", ""], []],
  [
    ["completion", ""],
    ["bash", "zsh", "fish"],
  ],
];

describe.runIf(has("bash"))("in bash", () => {
  let script: string;
  beforeAll(async () => {
    script = await scriptOf("bash");
  });

  it.each(cases)("%j is completed to %j", (words, expected) => {
    const call = 'COMP_WORDS=(konnectivity-bootstrap "$@") COMP_CWORD=$#; _konnectivity_bootstrap';
    const print = `for one in "\${COMPREPLY[@]}"; do printf '%s\\n' "$one"; done`;
    const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", [script, call, print].join("\n"), "bash", ...words], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(stdout.split("\n").filter((line) => line !== "")).toEqual(expected);
  });

  it("completes the program", () => {
    const { stdout } = spawnSync("bash", ["--norc", "-c", `${script}\ncomplete -p konnectivity-bootstrap`], {
      encoding: "utf8",
    });
    expect(stdout).toBe("complete -F _konnectivity_bootstrap konnectivity-bootstrap\n");
  });
});

describe.runIf(has("zsh"))("in zsh", () => {
  it.each(cases)("%j is completed to %j", async (words, expected) => {
    // Outside of a completion there are neither of these two programs.
    const fakes = 'compdef() { :; }; compadd() { shift; print -l -- "$@"; }; _files() { print -l -- "$word"*; }';
    const call = 'words=(konnectivity-bootstrap "$@") CURRENT=$(($# + 1)); _konnectivity_bootstrap';
    const { stdout, stderr } = spawnSync(
      "zsh",
      ["-f", "-c", [fakes, await scriptOf("zsh"), call].join("\n"), "zsh", ...words],
      { cwd: folder, encoding: "utf8" },
    );
    expect(stderr).toBe("");
    // zsh itself leaves out those that do not begin with the word.
    const offered = stdout.split("\n").filter((line) => line !== "" && line.startsWith(words.at(-1) ?? ""));
    expect(offered).toEqual(expected);
  });
});

describe.runIf(has("fish"))("in fish", () => {
  it.each(cases)("%j is completed to %j", async (words, expected) => {
    const line = ["konnectivity-bootstrap", ...words].join(" ");
    const { stdout, stderr } = spawnSync(
      "fish",
      ["--no-config", "-c", `${await scriptOf("fish")}\ncomplete -C $argv[1]`, line],
      { cwd: folder, encoding: "utf8", env: { ...process.env, HOME: folder } },
    );
    expect(stderr).toBe("");
    const offered = stdout.split("\n").flatMap((text) => (text === "" ? [] : [text.split("\t")[0] ?? ""]));
    const plain = offered.map((text) => text.replaceAll("\\", "").replace(/\/$/, ""));
    expect(plain.sort()).toEqual([...expected].sort());
  });
});

it("refuses a shell that it does not know", async () => {
  expect(await command("completion", "zhs")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("(Did you mean zsh?)") as string,
  });
});
