import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectFile, readProjectText } from "../../src/runtime/project-files.js";
import { linesOf } from "../support/cli.ts";
import { metadata, Project, type StackJson } from "../support/stacks.ts";

const page = readProjectText("docs/adding-a-platform.md");
const tree = mkdtempSync(join(tmpdir(), "adding-a-platform-"));
const list = "stacks/platforms.ts";
/** The page's blocks of TypeScript, each with the file that the sentence before it names. */
const blocks = [...page.matchAll(/`([\w./-]+\.ts)`[^`]*:\n\n```ts\n(.*?)```/gs)].map(([, file = "", code = ""]) => ({
  file,
  code,
}));

let project: Project;
beforeAll(() => {
  for (const name of [
    "main.ts",
    "package.json",
    "tsconfig.json",
    "cli",
    "constructs",
    "lab",
    "scripts",
    "src",
    "stacks",
  ])
    cpSync(projectFile(name), join(tree, name), { recursive: true });
  symlinkSync(projectFile("node_modules"), join(tree, "node_modules"));
  for (const { file, code } of blocks.filter(({ file }) => file !== list)) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), code);
  }
  const [importLine = "", listLine = ""] = blocks.filter(({ file }) => file === list).map(({ code }) => code);
  const text = readFileSync(join(tree, list), "utf8");
  writeFileSync(join(tree, list), importLine + text.replace("\n] as const", `\n${listLine}] as const`));
  project = new Project({ metal: { rack: "r1" } }, { folder: join(tree, "project") });
});
afterAll(() => {
  rmSync(tree, { recursive: true });
});

const node = (...args: string[]) =>
  spawnSync(process.execPath, args, {
    cwd: tree,
    encoding: "utf8",
    env: { ...process.env, KONNECTIVITY_CONFIG: project.configFile, CDKTF_OUTDIR: project.outdir },
  });

describe("a platform that is added by docs/adding-a-platform.md", () => {
  it("is one folder, one stack file and one line in the list", () => {
    expect(blocks.map(({ file }) => file)).toEqual([
      "constructs/metal/config.ts",
      "constructs/metal/machine.ts",
      "stacks/metal.ts",
      list,
      list,
    ]);
  });

  it("type-checks", () => {
    // Without the list: the types of every cloud's provider take long to read.
    const config = { extends: "./tsconfig.json", files: ["stacks/metal.ts"], include: [] };
    writeFileSync(join(tree, "tsconfig.metal.json"), JSON.stringify(config));
    expect(node("node_modules/typescript/bin/tsc", "--noEmit", "--project", "tsconfig.metal.json").stdout).toBe("");
  });

  const createdState = /^Created for the state, outside the output folder: \S+\n$/;

  it("is synthesized, with the teardown stack and the payload", () => {
    expect(node("scripts/app.js")).toMatchObject({
      status: 0,
      stdout: "",
      stderr: expect.stringMatching(createdState) as string,
    });
    const read = (name: string) => readFileSync(join(project.outdir, "stacks", name), "utf8");
    const { resource } = JSON.parse(read("metal-bootstrap/cdk.tf.json")) as StackJson;
    expect(Object.keys(resource)).toEqual(["terraform_data"]);
    expect(Object.values(resource.terraform_data ?? {})).toContainEqual(
      expect.objectContaining({
        input: {
          rack: "r1",
          slot: metadata.infraID,
          payloadSha512: expect.stringMatching(/^[0-9a-f]{128}$/) as string,
        },
      }),
    );
    expect(read("metal-bootstrap/payload.ign")).toContain("konnectivity");
    expect(read("metal-teardown/cdk.tf.json")).toContain('"metal"');
  });

  it("has its options in the command line", () => {
    const file = join(tree, "new.yaml");
    expect(node("cli/konnectivity-bootstrap.js", "config", "init", "metal", "--config", file).status).toBe(0);
    expect(readFileSync(file, "utf8")).toMatch(/^metal:\n {2}# Where the machine is\.\n {2}rack:$/m);
    const { status, stderr } = node("cli/konnectivity-bootstrap.js", "config", "check", "--config", file);
    expect(status).toBe(1);
    expect(linesOf(stderr)).toContainEqual(
      expect.stringMatching(/^error: \S+new\.yaml:\d+:3: metal\.rack is missing; expected the name of a rack\.$/),
    );
  });

  it("has an example that is right, and cannot be deployed", () => {
    const folder = join(tree, "demo");
    const program = "cli/konnectivity-bootstrap.js";
    expect(node(program, "example", folder, "--platform", "metal")).toMatchObject({ status: 0, stderr: "" });
    expect(node(program, "config", "check", "--config", join(folder, "konnectivity.yaml"))).toMatchObject({
      status: 0,
      stderr: "warning: This bootstrap.ign is an example for a cluster that does not exist: it cannot be deployed.\n",
    });
  });

  it("is refused with the position of a bad value", () => {
    project.write("konnectivity.yaml", "installDir: ocp\nmetal:\n  rack: r1\n  slot: r1\n");
    expect(node("scripts/app.js")).toMatchObject({
      status: 1,
      stderr: `error: ${project.configFile}:4:3: metal.slot is r1; expected another name than the rack's.\n`,
    });
  });
});
