import { createRequire } from "node:module";
import { projectFile } from "../../src/runtime/project-files.js";

/** What is used here of node-pty. The types of its alias are declared for its own name. */
interface Pty {
  onData(act: (text: string) => void): void;
  write(text: string): void;
  onExit(act: (end: { readonly exitCode: number }) => void): void;
}

interface PtyOptions {
  /** What to type after the terminal has shown a text. @default - nothing */
  readonly type?: { readonly after: string; readonly keys: string };
  readonly cwd: string;
  readonly cols: number;
  readonly env: NodeJS.ProcessEnv;
}

const { spawn } = createRequire(projectFile("package.json"))("@cdktf/node-pty-prebuilt-multiarch") as {
  readonly spawn: (file: string, args: readonly string[], options: PtyOptions) => Pty;
};

/** Runs a program on a terminal of its own. @returns its exit code and everything that the terminal got */
export function runOnTerminal(
  file: string,
  args: readonly string[],
  options: PtyOptions,
): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    let text = "";
    const pty = spawn(file, args, options);
    let typed = false;
    pty.onData((part) => {
      text += part;
      if (typed || options.type === undefined || !text.includes(options.type.after)) return;
      typed = true;
      pty.write(options.type.keys);
    });
    pty.onExit(({ exitCode }) => {
      resolve({ code: exitCode, text });
    });
  });
}
