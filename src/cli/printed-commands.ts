import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { configPrefix } from "../../stacks/config-prefix.ts";
import { shellWord } from "../core/shell-word.ts";
import { program, projectRoot } from "../runtime/project-files.js";

const name = "konnectivity-bootstrap";

/**
 * A command line of this program, as it runs in the working directory. npx is named only where it finds this program:
 * anywhere else it would offer to install a package of the same name, whoever published it.
 */
export function ownCommand(words: readonly string[], workingDirectory = process.cwd()): string {
  return [startOfOwn(workingDirectory), ...words.map(shellWord)].join(" ");
}

/**
 * A text that recommends commands, with each as it runs in the working directory. Texts below the command line do not
 * know how the program was started, so they name `npx konnectivity-bootstrap` and `npx cdktf`.
 */
export function asStarted(text: string, workingDirectory = process.cwd()): string {
  const inProject = resolve(workingDirectory) === projectRoot ? "" : `cd ${shellWord(projectRoot)} && `;
  return text
    .replaceAll(`npx ${name}`, () => startOfOwn(workingDirectory))
    .replaceAll(
      /(cd (?:'[^']*'|\S+) && )?((?:[A-Z_]+=\S+ )*npx cdktf\b)/g,
      (_, there: string | undefined, command: string) => `${there ?? inProject}${command}`,
    );
}

function startOfOwn(workingDirectory: string): string {
  const inside = relative(workingDirectory, program);
  return npxFindsUs(workingDirectory) ? `npx ${name}` : `node ${shellWord(inside.startsWith("..") ? program : inside)}`;
}

/** A cdktf command for this config file. cdktf.json is in the project's folder, so it runs there and nowhere else. */
export function cdktfCommand(
  words: readonly string[],
  configFile: string | undefined,
  workingDirectory = process.cwd(),
): string {
  const there = resolve(workingDirectory) === projectRoot;
  const prefix = configPrefix({
    configFile: configFile === undefined ? undefined : resolve(workingDirectory, configFile),
    workingDirectory: projectRoot,
  });
  return `${there ? "" : `cd ${shellWord(projectRoot)} && `}${prefix}npx cdktf ${words.map(shellWord).join(" ")}`;
}

/** npx looks in the nearest folder above that has a package.json or packages: for a package's program, or its own. */
function npxFindsUs(folder: string): boolean {
  for (let path = resolve(folder); ; path = dirname(path)) {
    if (existsSync(join(path, "node_modules/.bin", name))) return true;
    if (existsSync(join(path, "package.json"))) return packageName(join(path, "package.json")) === name;
    if (existsSync(join(path, "node_modules")) || dirname(path) === path) return false;
  }
}

function packageName(file: string): unknown {
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as { name?: unknown }).name;
  } catch {
    return undefined;
  }
}
