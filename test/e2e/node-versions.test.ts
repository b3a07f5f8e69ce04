import { readdirSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ensureNodeVersions, nodeVersions } from "../../scripts/node-versions.js";
import { projectRoot } from "../../src/runtime/project-files.js";
import { runIn } from "../support/clone.ts";
import { changedExample, exampleOf, Project } from "../support/stacks.ts";

const project = new Project(changedExample("aws"), { files: exampleOf("aws").files });
const env = { KONNECTIVITY_CONFIG: project.configFile, CHECKPOINT_DISABLE: "1" };
// Beside each other, because the stacks contain relative paths.
const outputOf = (name: string) => join(project.folder, name);
beforeAll(async () => {
  const app = [process.execPath, "scripts/app.js"];
  expect(await runIn(projectRoot, app, { ...env, CDKTF_OUTDIR: outputOf("here") })).toMatchObject({ code: 0 });
});
afterAll(() => {
  project.remove();
});

/** Every synthesized file. */
const synthesized = (name: string) =>
  ["aws-bootstrap", "aws-teardown"].flatMap((stack) => {
    const folder = join(outputOf(name), "stacks", stack);
    return readdirSync(folder).map((file) => [stack, file, readFileSync(join(folder, file), "utf8")]);
  });

/** Uses what cdktf needs a terminal module for: a program runs in a terminal and ends. */
const terminal = `const { spawn } = require("@cdktf/node-pty-prebuilt-multiarch");
  const terminal = spawn("sh", ["-c", "test -t 1 && echo a terminal; exit 3"], {});
  terminal.onData((text) => process.stdout.write(text));
  terminal.onExit(({ exitCode }) => process.exit(exitCode));`;

it.each(nodeVersions)("Node.js %s runs cdktf, the app and the command line", async (version) => {
  // What cdktf starts takes whichever node comes first.
  const path = [dirname(ensureNodeVersions()[version]), process.env.PATH].join(delimiter);
  const run = (...words: string[]) => runIn(projectRoot, ["node", ...words], { ...env, PATH: path });
  const [node, listed, inTerminal, firewall] = await Promise.all([
    run("--version"),
    run("node_modules/.bin/cdktf", "list", "--output", outputOf(version)),
    run("-e", terminal),
    run("cli/konnectivity-bootstrap.js", "payload", "firewall", join(project.folder, "ocp")),
  ]);
  expect(node.stdout).toMatch(new RegExp(`^v${version}\\.`));
  expect(listed).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^aws-bootstrap .*^aws-teardown /ms) as string,
  });
  expect(synthesized(version)).toEqual(synthesized("here"));
  expect(inTerminal).toEqual({ code: 3, stdout: "a terminal\r\n", stderr: "" });
  expect(firewall).toMatchObject({ code: 0, stdout: expect.stringContaining("8091") as string, stderr: "" });
});
