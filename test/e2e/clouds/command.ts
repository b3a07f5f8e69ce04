import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export interface Ended {
  readonly code: number | null;
  /** Without colours and boxes. */
  readonly output: string;
}

/** A program that runs while the fakes in this process answer it. */
export class Command {
  readonly #child: ChildProcess;
  readonly #awaited: { words: string; then: () => void }[] = [];
  readonly ended: Promise<Ended>;

  constructor(program: string, args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
    this.#child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        output += String(chunk);
        const now = this.#awaited.findIndex(({ words }) => output.includes(words));
        if (now >= 0) this.#awaited.splice(now, 1)[0]?.then();
      });
    this.ended = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("close", (code) => {
        // Terraform's boxes break sentences into lines.
        // eslint-disable-next-line no-control-regex
        resolve({ code, output: output.replace(/\u001b\[[0-9;]*[A-Za-z]/g, "").replace(/\n[│ ]*/g, "\n") });
      });
    });
  }

  /** When it has said these words, once. */
  when(words: string, then: () => void): this {
    this.#awaited.push({ words, then });
    return this;
  }

  /** As Ctrl-C does. */
  interrupt(): void {
    this.#child.kill("SIGINT");
  }

  /**
   * Ends it and everything that it started, at once, as when a machine loses its power.
   * @param fits whether this is the moment for it; asked again and again, while everything stands still
   */
  kill(fits: () => boolean): void {
    const pid = this.#child.pid;
    if (pid === undefined) return;
    const victims = [pid, ...descendantsOf(pid)];
    signal(victims, "SIGSTOP");
    if (fits()) {
      signal(victims, "SIGKILL");
      return;
    }
    signal(victims, "SIGCONT");
    setTimeout(() => {
      this.kill(fits);
    }, 10);
  }
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, name);
    } catch {
      // It was gone already.
    }
}

function descendantsOf(pid: number): number[] {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => parentOf(candidate) === pid);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

function parentOf(pid: number): number | undefined {
  try {
    // The name in parentheses may have anything in it.
    return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1]);
  } catch {
    return undefined;
  }
}
