/** `npm run cdk-terrain`: the same stacks on cdktf, and on CDK Terrain by package.json alone. See docs/cdk-terrain.md. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
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
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import { projectFile } from "../src/runtime/project-files.js";
import { type ExampleProject, writeExampleProject } from "./example-project.ts";
import { markdownTable } from "./markdown-table.ts";

const sources = [
  "main.ts",
  "stacks",
  "constructs",
  "lab",
  "src",
  "cli",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  ".npmrc",
];
/** For the type check only: what the app does not need. */
const typePackages = ["typescript", "@types/node", "kubernetes-types"];

/** One place of an output file in which the two differ. */
interface Difference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

const keep = process.argv.includes("--keep");
const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-cdk-terrain-"));
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"])
  process.on(signal, () => {
    stop.abort();
  });
try {
  process.exitCode = (await compare()) ? 0 : 1;
} catch (error) {
  process.exitCode = stop.signal.aborted ? 130 : 1;
  console.error(stop.signal.aborted ? "Stopped." : error instanceof Error ? error.message : error);
} finally {
  if (keep) console.error(`Kept: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}

/** Prints the differences. @returns whether all of them are expected */
async function compare(): Promise<boolean> {
  const project = writeExampleProject(join(folder, "project"));
  const cdktf = copyOfSources("cdktf");
  symlinkSync(projectFile("node_modules"), join(cdktf, "node_modules"));
  const terrain = copyOfSources("cdk-terrain");
  changePackageJson(terrain);

  console.error("Installing CDK Terrain in a temporary folder (1.1 GB; half a minute if npm has it in its cache) …");
  // Bindings that require a newer Node.js run on 20 too.
  await run(["npm", "install", "--omit=dev", "--engine-strict=false"], terrain);
  console.error(`Synthesizing ${project.platforms.join(", ")} with both …`);
  const before = await synthesize(cdktf, project);
  const after = await synthesize(terrain, project);
  const rows = [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((file) => {
    const found = differences(before.get(file), after.get(file));
    if (found.length === 0) return [{ file, path: "nothing", before: "", after: "", why: "identical" }];
    return found.map((one) => ({ file, ...one, why: whyAllowed(one) }));
  });
  const types = await checkTypes(terrain);

  const packages = readdirSync(join(terrain, "node_modules/@cdktf")).map((name) => `@cdktf/${name}`);
  const shown = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value ?? null)).slice(0, 60);
  console.log(
    [
      markdownTable(
        ["imported as", "with cdktf", "with CDK Terrain"],
        ["cdktf", ...packages].map((name) => [name, installed(cdktf, name), installed(terrain, name)]),
      ),
      markdownTable(
        ["file", "differs in", "with cdktf", "with CDK Terrain", "verdict"],
        rows.map((row) => [row.file, row.path, shown(row.before), shown(row.after), row.why ?? "DIFFERENT"]),
      ),
      `Types with CDK Terrain: ${types}`,
    ].join("\n\n"),
  );
  const same = rows.every(({ why }) => why !== undefined) && !types.startsWith("wrong");
  console.log(`\n${same ? "The same stacks." : "NOT the same stacks."}`);
  return same;
}

/** Both copies lie beside each other, so that relative paths in the output are the same. */
function copyOfSources(name: string): string {
  mkdirSync(join(folder, name));
  for (const source of sources) cpSync(projectFile(source), join(folder, name, source), { recursive: true });
  return join(folder, name);
}

/** Adds the lines in docs/cdk-terrain.md to package.json. */
function changePackageJson(copy: string): void {
  const shown = /^```json\n(.+?)^```$/ms.exec(readFileSync(projectFile("docs/cdk-terrain.md"), "utf8"))?.[1];
  if (shown === undefined) throw new Error("docs/cdk-terrain.md has no JSON block for package.json");
  const file = join(copy, "package.json");
  const content = JSON.parse(readFileSync(file, "utf8")) as Record<string, object>;
  for (const [part, lines] of Object.entries(JSON.parse(shown) as Record<string, object>))
    content[part] = { ...content[part], ...lines };
  writeFileSync(file, JSON.stringify(content, null, 2));
}

/** Every file of the output by name; JSON as its value, because the two write empty lists differently. */
async function synthesize(copy: string, project: ExampleProject): Promise<Map<string, unknown>> {
  const outdir = join(copy, "cdktf.out");
  const env = { KONNECTIVITY_CONFIG: project.configFile, CDKTF_OUTDIR: outdir };
  await run([process.execPath, "--import", "tsx", "main.ts"], copy, env);
  const names = readdirSync(outdir, { recursive: true, encoding: "utf8" });
  return new Map(
    names
      .filter((name) => statSync(join(outdir, name)).isFile())
      .map((name) => {
        const content = readFileSync(join(outdir, name), "utf8");
        return [name, name.endsWith(".json") ? JSON.parse(content) : content];
      }),
  );
}

function differences(before: unknown, after: unknown, path: readonly string[] = []): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isTree(before) || !isTree(after)) return [{ path: path.join("."), before, after }];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
    differences(before[key], after[key], [...path, key]),
  );
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** @returns undefined if this difference is not expected */
function whyAllowed({ path }: Difference): string | undefined {
  if (/^(\/\/\.metadata\.)?version$/.test(path)) return "metadata";
  if (/^terraform\.required_providers\.[^.]+\.version$/.test(path)) return "provider version";
  return undefined;
}

async function checkTypes(copy: string): Promise<string> {
  if (!typePackages.every((name) => existsSync(projectFile("node_modules", name))))
    return "not checked (needs the development packages: npm ci)";
  for (const name of typePackages) {
    const link = join(copy, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    // A dependency may have installed another version.
    rmSync(link, { recursive: true, force: true });
    symlinkSync(projectFile("node_modules", name), link);
  }
  try {
    await run([process.execPath, "node_modules/typescript/bin/tsc", "--noEmit"], copy);
    return "right";
  } catch (error) {
    return `wrong: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The package that is installed under a name. */
function installed(copy: string, name: string): string {
  const file = join(copy, "node_modules", name, "package.json");
  const found = JSON.parse(readFileSync(file, "utf8")) as { name: string; version: string };
  return `${found.name} ${found.version}`;
}

/** Runs a command and waits for its end, also when this script is stopped: otherwise it would write files after the clean-up. */
async function run(command: readonly [string, ...string[]], cwd: string, env: object = {}): Promise<void> {
  stop.signal.throwIfAborted();
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  stop.signal.addEventListener("abort", () => child.kill(), { once: true });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  stop.signal.throwIfAborted();
  if (child.exitCode !== 0) throw new Error(`"${command.join(" ")}" failed in ${cwd}:\n${output}${errors}`.trimEnd());
}
