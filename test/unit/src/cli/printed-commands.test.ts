import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { asStarted, cdktfCommand, ownCommand } from "../../../../src/cli/printed-commands.ts";
import { originalName } from "../../../../src/core/ipi/install-folder.ts";
import { version } from "../../../../src/core/package.ts";
import { program, projectFile, projectRoot } from "../../../../src/runtime/project-files.js";

const root = realpathSync(mkdtempSync(join(tmpdir(), "printed-commands-")));
afterAll(() => {
  rmSync(root, { recursive: true });
});

describe("a printed command", () => {
  it("names npx where it finds this program", () => {
    const installed = join(root, "installed");
    mkdirSync(join(installed, "node_modules/.bin"), { recursive: true });
    writeFileSync(join(installed, "node_modules/.bin/konnectivity-bootstrap"), "");
    for (const folder of [projectRoot, projectFile("docs"), installed])
      expect(ownCommand(["status"], folder)).toBe("npx konnectivity-bootstrap status");
  });

  it("names the program's file anywhere else, where npx would run a package of somebody else", () => {
    const other = join(root, "other");
    mkdirSync(other);
    writeFileSync(join(other, "package.json"), '{ "name": "other" }');
    for (const folder of [root, other]) expect(ownCommand(["status"], folder)).toBe(`node ${program} status`);
    expect(ownCommand(["status"], dirname(projectRoot))).toMatch(/^node [^/].*cli\/konnectivity-bootstrap\.js status$/);
    const line = ownCommand(["--version"], other);
    expect(spawnSync("sh", ["-c", line], { cwd: other, encoding: "utf8" }).stdout).toBe(`${version}\n`);
  });

  it("quotes words for the shell", () => {
    expect(ownCommand(["example", "my folder"], projectRoot)).toBe("npx konnectivity-bootstrap example 'my folder'");
  });

  it("of cdktf runs in the project's folder, with the config file", () => {
    expect(cdktfCommand(["synth"], undefined, projectRoot)).toBe("npx cdktf synth");
    expect(cdktfCommand(["synth"], "konnectivity.yaml", projectRoot)).toBe("npx cdktf synth");
    expect(cdktfCommand(["deploy", "aws-*"], "demo/konnectivity.yaml", projectRoot)).toBe(
      "KONNECTIVITY_CONFIG=demo/konnectivity.yaml npx cdktf deploy 'aws-*'",
    );
    expect(cdktfCommand(["synth"], join(projectRoot, "demo/konnectivity.yaml"), root)).toBe(
      `cd ${projectRoot} && KONNECTIVITY_CONFIG=demo/konnectivity.yaml npx cdktf synth`,
    );
  });
});

describe("commands in a text", () => {
  const message = "run `npx konnectivity-bootstrap status`, or `KONNECTIVITY_CONFIG=x.yaml npx cdktf destroy 'aws-*'`";

  it("are printed as they are in the project's folder", () => {
    expect(asStarted(message, projectRoot)).toBe(message);
  });

  it("are printed as the program was started elsewhere", () => {
    expect(asStarted(message, root)).toBe(
      `run \`node ${program} status\`, or \`cd ${projectRoot} && KONNECTIVITY_CONFIG=x.yaml npx cdktf destroy 'aws-*'\``,
    );
  });

  it("are not changed twice", () => {
    const composed = cdktfCommand(["synth"], join(projectRoot, "demo/konnectivity.yaml"), root);
    expect(asStarted(`next: ${composed}`, root)).toBe(`next: ${composed}`);
  });

  it("are found in errors and in JSON", () => {
    const folder = mkdtempSync(join(root, "ocp-"));
    writeFileSync(join(folder, originalName), "{}");
    const line = ["ipi", "prepare", folder, "--no-config", "--json"];
    const { stderr, stdout } = spawnSync(process.execPath, [program, ...line], { cwd: root, encoding: "utf8" });
    const { errors } = JSON.parse(stdout) as { errors: { message: string }[] };
    expect(stderr).toContain(`node ${program} `);
    expect(errors.map(({ message }) => message).join("\n")).toContain(`node ${program} `);
  });
});
