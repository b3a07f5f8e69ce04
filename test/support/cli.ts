import { execFile } from "node:child_process";
import { main } from "../../src/cli/main.ts";
import { outputTo } from "../../src/cli/output.ts";
import { program } from "../../src/runtime/project-files.js";

export { program };

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in this process: starting the program takes longer than most commands. */
export async function command(...args: readonly string[]): Promise<Run> {
  const written = { stdout: "", stderr: "" };
  const into = (stream: keyof typeof written) => ({
    write: (text: string | Uint8Array) => {
      written[stream] += String(text);
      return true;
    },
  });
  const code = await main([process.execPath, program, ...args], outputTo(into("stdout"), into("stderr")));
  return { code, ...written };
}

/** Runs the program in a process of its own. */
export function run(...args: readonly string[]): Promise<Run> {
  return runWith(process.env, ...args);
}

export function runWith(env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Run> {
  return runIn(process.cwd(), env, ...args);
}

/** Runs it in a folder. */
export function runIn(cwd: string, env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { encoding: "utf8", env, cwd }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

export const linesOf = (text: string) => text.split("\n").filter((line) => line !== "");
