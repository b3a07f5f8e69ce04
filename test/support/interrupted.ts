import type { ChildProcess } from "node:child_process";

/** Waits for a program's end; interrupts it when it has said these words. */
export async function interruptedAt(child: ChildProcess, words: string, interrupt: () => void) {
  let said = "";
  let sent = false;
  const read = (part: Buffer) => {
    said += String(part);
    if (sent || !said.includes(words)) return;
    sent = true;
    interrupt();
  };
  child.stdout?.on("data", read);
  child.stderr?.on("data", read);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, said };
}
