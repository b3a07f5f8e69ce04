import { execFile } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { projectFile } from "../../src/runtime/project-files.js";
import type { Run } from "./cli.ts";
import type { StackJson } from "./stacks.ts";

const sources = [
  ...["cli", "constructs", "lab", "scripts", "src", "stacks", "main.ts", "cdktf.json"],
  ...["package.json", "package-lock.json", "tsconfig.json", ".npmrc"],
];
const record = "node_modules/.package-lock.json";

/** A copy of this project with a node_modules folder that a test may damage: its packages are links to the real ones. */
export class Clone {
  readonly folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-clone-"));

  constructor() {
    for (const source of sources) cpSync(projectFile(source), this.path(source), { recursive: true });
    for (const name of packages(projectFile("node_modules"))) {
      mkdirSync(dirname(this.package(name)), { recursive: true });
      symlinkSync(projectFile("node_modules", name), this.package(name));
    }
    copyFileSync(projectFile(record), this.path(record));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  package(name: string): string {
    return this.path(join("node_modules", name));
  }

  /** Every file that is installed; of the packages also which link they are, so that one that is replaced shows. */
  installed(): string[] {
    const links = packages(this.path("node_modules")).map((name) => `${name} ${lstatSync(this.package(name)).ino}`);
    return [...links, ...readdirSync(this.path("node_modules"), { recursive: true, encoding: "utf8" })];
  }

  /** Pretends that npm installed other versions than package-lock.json has: of all packages, as after `git pull`. */
  recordOtherVersions(): void {
    const content = JSON.parse(readFileSync(this.path(record), "utf8")) as { packages: Record<string, object> };
    for (const entry of Object.values(content.packages)) Object.assign(entry, { version: "0.0.1" });
    writeFileSync(this.path(record), JSON.stringify(content));
  }

  /** Puts another package in place of an installed one. */
  replacePackage(name: string, source: string): void {
    rmSync(this.package(name));
    mkdirSync(this.package(name));
    writeFileSync(
      join(this.package(name), "package.json"),
      JSON.stringify({ name, version: "0.0.1", type: "module", main: "index.js" }),
    );
    writeFileSync(join(this.package(name), "index.js"), source);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** Names of the packages in a node_modules folder, also those with a scope. */
function packages(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) => (name.startsWith("@") ? readdirSync(join(folder, name)).map((one) => `${name}/${one}`) : name));
}

/** A command that Terraform runs when a stack is destroyed. */
export interface DestroyTimeStep {
  /** Like aws-teardown.gate. */
  readonly name: string;
  readonly words: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

interface LocalExec {
  readonly when?: string;
  readonly interpreter: readonly string[];
  readonly command: string;
  readonly working_dir?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** The destroy-time provisioners of all stacks in an output folder. */
export function destroyTimeSteps(outdir: string): DestroyTimeStep[] {
  return readdirSync(join(outdir, "stacks")).flatMap((stack) => {
    const folder = join(outdir, "stacks", stack);
    const { resource } = JSON.parse(readFileSync(join(folder, "cdk.tf.json"), "utf8")) as StackJson;
    return Object.entries(resource.terraform_data ?? {}).flatMap(([id, block]) => {
      const { input, provisioner = [] } = block as {
        input?: Record<string, string>;
        provisioner?: { "local-exec": LocalExec }[];
      };
      const word = (text: string) =>
        text.replace(/\$\{self\.input\.(\w+)\}/g, (_, name: string) => input?.[name] ?? "");
      return provisioner
        .map((one) => one["local-exec"])
        .filter(({ when }) => when === "destroy")
        .map(({ interpreter, command, working_dir = ".", environment = {} }) => ({
          name: `${stack}.${id}`,
          words: [...interpreter, command].map(word),
          cwd: resolve(folder, working_dir),
          env: environment,
        }));
    });
  });
}

/** Runs a command in a folder, in a process of its own. */
export function runIn(cwd: string, words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Run> {
  const [program = "", ...args] = words;
  return new Promise((done) => {
    execFile(program, args, { cwd, encoding: "utf8", env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
