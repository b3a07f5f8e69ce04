import { spawn, spawnSync } from "node:child_process";
import { closeSync, constants, openSync, writeSync } from "node:fs";

export interface ProgramProps {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Everything that the program prints is appended to this file, which only its owner can read. */
  readonly logFile: string;
  /** Called with the lines that the program prints, without colours and without those that only show progress. */
  readonly show: (text: string) => void;
  /** Interrupts the program, which then ends in its own time. */
  readonly signal: AbortSignal;
  /**
   * Whether the programs that it runs are interrupted instead of itself. The cdktf command (0.21) does not wait for
   * Terraform when it is interrupted: its end hangs up Terraform's terminal, which kills Terraform before it has saved
   * its state.
   * @default false
   */
  readonly interruptChildren?: boolean;
}

export interface Ended {
  /** null: it was ended by a signal. */
  readonly code: number | null;
  /** What it printed, without colours. */
  readonly output: string;
}

/** Runs a program to its end. Ctrl-C reaches this process alone, which interrupts the program exactly once. */
export async function runProgram(props: ProgramProps): Promise<Ended> {
  const { command, cwd, env, logFile, show, signal, interruptChildren = false } = props;
  const [program, ...args] = command;
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  const log = openSync(logFile, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    return await new Promise((resolve, reject) => {
      let output = "";
      const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
      let stopInterrupting: () => void = () => undefined;
      const interrupt = () => {
        if (child.pid === undefined) return;
        if (interruptChildren) stopInterrupting = interruptChildrenOf(child.pid);
        else sendInterrupt(child.pid);
      };
      signal.addEventListener("abort", interrupt);
      const write = (text: string) => {
        output += text;
        writeSync(log, text);
        show(text);
      };
      for (const stream of [child.stdout, child.stderr]) {
        let rest = "";
        stream.setEncoding("utf8").on("data", (chunk: string) => {
          const lines = (rest + withoutEscapes(chunk)).split("\n");
          rest = lines.pop() ?? "";
          write(
            lines
              .filter((line) => !isProgress(line))
              .map((line) => `${line}\n`)
              .join(""),
          );
        });
        stream.on("end", () => {
          if (!isProgress(rest)) write(`${rest}\n`);
        });
      }
      child.once("error", reject);
      child.once("close", (code) => {
        signal.removeEventListener("abort", interrupt);
        stopInterrupting();
        resolve({ code, output });
      });
      if (signal.aborted) interrupt();
    });
  } finally {
    closeSync(log);
  }
}

/**
 * Interrupts every child once, also those that the program starts afterwards, and the program itself when it has none.
 * @returns a function that ends this
 */
function interruptChildrenOf(pid: number): () => void {
  const interrupted = new Set<number>();
  const interrupt = () => {
    const children = childrenOf(pid);
    // A second interrupt would end Terraform at once.
    for (const one of children.length === 0 ? [pid] : children) {
      if (interrupted.has(one)) continue;
      interrupted.add(one);
      sendInterrupt(one);
    }
  };
  interrupt();
  const timer = setInterval(interrupt, 500);
  return () => {
    clearInterval(timer);
  };
}

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  return stdout.split("\n").flatMap((line) => {
    const [child, parent] = line.trim().split(/\s+/).map(Number);
    return child !== undefined && parent === pid ? [child] : [];
  });
}

function sendInterrupt(pid: number): void {
  try {
    process.kill(pid, "SIGINT");
  } catch (error) {
    // It has ended meanwhile.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

// eslint-disable-next-line no-control-regex
const withoutEscapes = (text: string) => text.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, "").replaceAll("\r", "");

/** Lines that the cdktf command prints again and again: a spinner, and how many stacks it is at. */
const isProgress = (line: string) => /^\s*$|^[\u2800-\u28ff]|^\d+ Stacks? (deploying|destroying) /.test(line);

/** The sums that Terraform prints at the end of an apply, over all stacks. */
export function resourcesIn(output: string): { readonly added: number; readonly destroyed: number } {
  const sum = (pattern: RegExp) => [...output.matchAll(pattern)].reduce((all, [, number]) => all + Number(number), 0);
  return {
    added: sum(/Apply complete! Resources: (\d+) added/g),
    destroyed: sum(/Destroy complete! Resources: (\d+) destroyed/g),
  };
}
