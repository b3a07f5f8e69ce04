import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { type ExampleProject, writeExampleProject } from "../../scripts/example-project.ts";
import { markdownTable } from "../../scripts/markdown-table.ts";
import { description, version } from "../../src/core/package.ts";
import { projectFile, projectRoot } from "../../src/runtime/project-files.js";
import { goal, median } from "./goal.ts";

/** After the first, in which tsx fills its cache. */
const rounds = 5;
const template = projectFile("node_modules/cdktf-cli/bundle/templates/typescript");

interface Runner {
  readonly app: string;
  readonly cwd: string;
  readonly outdir: string;
}

interface Run {
  readonly seconds: number;
  /** Of the largest process that the command started. */
  readonly megabytes: number;
}

/** Running the app for every platform, against the runner of cdktf's own template on the same stacks. */
export function appRunner(): string {
  const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-bench-"));
  try {
    const project = writeExampleProject(join(folder, "project"));
    const ours: Runner = { app: appOf(projectRoot), cwd: projectRoot, outdir: join(folder, "ours.out") };
    const theirs: Runner = {
      app: appOf(template),
      cwd: templateProject(join(folder, "template")),
      outdir: join(folder, "theirs.out"),
    };
    // Turn by turn, so that a noisy moment hits both.
    const times = Array.from({ length: rounds + 1 }, () => ({
      ours: run(ours, project, folder),
      theirs: run(theirs, project, folder),
    }));
    expectSame(synthesized(ours, project), synthesized(theirs, project));

    const row = (name: string, runs: readonly Run[]) => ({
      name,
      first: runs[0]?.seconds ?? Number.NaN,
      seconds: median(runs.slice(1).map(({ seconds }) => seconds)),
      megabytes: Math.max(...runs.map(({ megabytes }) => megabytes)),
    });
    const our = row(
      `this project: ${ours.app}`,
      times.map((time) => time.ours),
    );
    const their = row(
      `template of cdktf: ${theirs.app}`,
      times.map((time) => time.theirs),
    );
    const ratio = our.seconds / their.seconds;
    return [
      `## Running the app (${project.platforms.join(", ")})\n`,
      markdownTable(
        ["runner", "first run", `median of ${rounds}`, "peak memory"],
        [
          ...[our, their].map(({ name, first, seconds, megabytes }) => [
            name,
            `${first.toFixed(2)} s`,
            `${seconds.toFixed(2)} s`,
            `${megabytes.toFixed(0)} MB`,
          ]),
          [
            "ratio",
            (our.first / their.first).toFixed(2),
            ratio.toFixed(2),
            (our.megabytes / their.megabytes).toFixed(2),
          ],
        ],
      ),
      goal("at most 0.3 times the time of the template", ratio <= 0.3),
      goal("peak memory below 150 MB", our.megabytes < 150),
    ].join("\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The command that cdktf runs in a project. The template's cdktf.json is not JSON yet: it has places to fill in. */
function appOf(folder: string): string {
  const app = /"app": "(.+)"/.exec(readFileSync(join(folder, "cdktf.json"), "utf8"))?.[1];
  if (app === undefined) throw new Error(`cdktf.json in ${folder} has no app`);
  return app;
}

/** The same stacks as a project that `cdktf init` makes: CommonJS, so no import.meta and no extensions in imports. */
function templateProject(folder: string): string {
  mkdirSync(folder);
  for (const name of ["main.ts", "stacks", "constructs", "src"])
    cpSync(projectFile(name), join(folder, name), { recursive: true });
  for (const file of filesIn(folder).filter((name) => /\.[jt]s$/.test(name))) {
    const text = readFileSync(join(folder, file), "utf8");
    writeFileSync(
      join(folder, file),
      text
        .replaceAll(/((?:from |import\()"\.[^"]*)\.ts"/g, '$1"')
        .replaceAll("import.meta.url", '("file://" + __filename)'),
    );
  }
  const tsconfig = JSON.parse(readFileSync(join(template, "tsconfig.json"), "utf8")) as { compilerOptions: object };
  // What it takes to compile: functions newer than ES2018, types that TypeScript 6 wants named, and src/runtime.
  const compilerOptions = { ...tsconfig.compilerOptions, lib: ["es2023"], types: ["node"], allowJs: true };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ ...tsconfig, compilerOptions }));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ version, description }));
  symlinkSync(projectFile("node_modules"), join(folder, "node_modules"));
  return folder;
}

function run({ app, cwd, outdir }: Runner, project: ExampleProject, folder: string): Run {
  const peak = join(folder, "peak");
  // A temporary folder of its own, because tsx keeps its cache there.
  const env = { ...process.env, KONNECTIVITY_CONFIG: project.configFile, CDKTF_OUTDIR: outdir, TMPDIR: folder };
  const start = performance.now();
  const { status, stderr, error } = spawnSync("time", ["-f", "%M", "-o", peak, "sh", "-c", app], {
    cwd,
    env,
    encoding: "utf8",
  });
  const seconds = (performance.now() - start) / 1000;
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`"${app}" failed: ${stderr}`);
  return { seconds, megabytes: Number(readFileSync(peak, "utf8")) / 1024 };
}

/** Every file of the stacks. Only how folders are reached depends on where the app runs. */
function synthesized({ cwd, outdir }: Runner, project: ExampleProject): Map<string, string> {
  const stacks = join(outdir, "stacks");
  const neutral = (text: string, file: string) =>
    [
      [relative(cwd, join(project.folder, "ocp")), "ocp"],
      [relative(cwd, project.configFile), "konnectivity.yaml"],
      [`"${relative(cwd, projectFile("cli/konnectivity-bootstrap.js"))}"`, '"the command line"'],
      [`"${relative(cwd, join(cwd, "cli/konnectivity-bootstrap.js"))}"`, '"the command line"'],
      [`"${relative(join(stacks, dirname(file)), cwd)}"`, '"the working directory"'],
    ].reduce((all, [path = "", name = ""]) => all.replaceAll(path, name), text);
  return new Map(filesIn(stacks).map((file) => [file, neutral(readFileSync(join(stacks, file), "utf8"), file)]));
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
}

function expectSame(ours: Map<string, string>, theirs: Map<string, string>): void {
  const files = [...new Set([...ours.keys(), ...theirs.keys()])];
  const different = files.filter((file) => ours.get(file) !== theirs.get(file));
  if (different.length > 0) throw new Error(`the two runners do not make the same: ${different.join(", ")}`);
}
