import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { projectFile } from "../../../src/runtime/project-files.js";
import { program } from "../../support/cli.ts";
import { destroyTimeSteps, runIn } from "../../support/clone.ts";
import { changedExample, exampleOf, Project } from "../../support/stacks.ts";

const { dependencies } = JSON.parse(readFileSync(projectFile("package.json"), "utf8")) as { dependencies: object };

let folder: string;
let project: Project;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-tsconfig-"));
  const { files } = exampleOf("aws");
  project = new Project(changedExample("aws"), { folder: join(folder, "project"), files });
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** A tsconfig.json that replaces every package that we import by a program, which leaves a file behind when it runs. */
function plant(where: string): string {
  const evil = join(folder, "evil.cjs");
  writeFileSync(evil, `require("node:fs").writeFileSync(${JSON.stringify(join(folder, "marker"))}, "");`);
  const paths = Object.fromEntries(
    Object.keys(dependencies).flatMap((name) => [
      [name, [evil]],
      [`${name}/*`, [evil]],
    ]),
  );
  mkdirSync(where, { recursive: true });
  writeFileSync(join(where, "tsconfig.json"), JSON.stringify({ compilerOptions: { paths } }));
  return join(where, "tsconfig.json");
}

const places: [string, () => NodeJS.ProcessEnv][] = [
  ["the working directory", () => (plant(project.folder), {})],
  ["a folder above it", () => (plant(folder), {})],
  ["TSX_TSCONFIG_PATH", () => ({ TSX_TSCONFIG_PATH: plant(join(folder, "elsewhere")) })],
];

describe.each(places)("a tsconfig.json of others in %s", (_, planted) => {
  it("is read neither by the command line, the app and a destroy-time step, nor by the lab's programs", async () => {
    const env = planted();
    const run = (...words: string[]) => runIn(project.folder, ["node", ...words], env);

    const app = { KONNECTIVITY_CONFIG: project.configFile, CDKTF_OUTDIR: project.outdir };
    expect(await runIn(project.folder, ["node", projectFile("scripts/app.js")], { ...env, ...app })).toMatchObject({
      code: 0,
    });
    const sweep = destroyTimeSteps(project.outdir).find(({ name }) => name === "aws-teardown.sweep");
    expect(resolve(sweep?.cwd ?? "")).toBe(project.folder);
    const ran = await Promise.all([
      run(program, "payload", "firewall", "ocp"),
      runIn(sweep?.cwd ?? "", sweep?.words ?? [], env),
      run(projectFile("lab/fakes/main.js"), "apply", "missing-kubeconfig", "missing-objects"),
    ]);
    expect(ran).toMatchObject([
      { code: 0, stdout: expect.stringContaining("8091") as string, stderr: "" },
      { code: 0, stderr: expect.stringContaining("kubeconfig cannot be read") as string },
      { code: 1, stderr: expect.stringContaining("missing-") as string },
    ]);
    expect(existsSync(join(folder, "marker"))).toBe(false);
  });
});

it("tsx's cache in the temporary folder is used only if nobody else can write to it", async () => {
  const user = process.geteuid?.() ?? 0;
  const cache = join(folder, `tsx-${user}`);
  const marker = join(folder, "marker");
  const version = () => runIn(folder, ["node", program, "--version"], { TMPDIR: folder });
  const first = await version();
  expect(first).toMatchObject({ code: 0, stderr: "" });

  // Code in everything that is cached, which leaves a file behind when it runs.
  const names = readdirSync(cache);
  expect(names.length).toBeGreaterThan(5);
  const evil = `import("node:fs").then((fs) => fs.writeFileSync(${JSON.stringify(marker)}, ""));`;
  for (const name of names) {
    const { code, ...rest } = JSON.parse(readFileSync(join(cache, name), "utf8")) as { code: string };
    writeFileSync(join(cache, name), JSON.stringify({ ...rest, code: `${evil}${code}` }));
  }
  chownSync(cache, 65534, 65534);
  expect(await version()).toEqual(first);
  chownSync(cache, user, 0);
  chmodSync(cache, 0o777);
  expect(await version()).toEqual(first);
  expect(existsSync(marker)).toBe(false);
  chmodSync(cache, 0o755);
  expect(await version()).toEqual(first);
  expect(existsSync(marker)).toBe(true);
});
