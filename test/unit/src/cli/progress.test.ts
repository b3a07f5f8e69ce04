import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { describeTime } from "../../../../src/cli/progress.ts";
import { projectRoot } from "../../../../src/runtime/project-files.js";
import { program } from "../../../support/cli.ts";
import { fakeTerminal } from "../../../support/fake-terminal.ts";
import { runOnTerminal } from "../../../support/pty.ts";

const erase = "\r\u001b[K";

describe("progress on a terminal", () => {
  it("appears after two seconds, and changes once a second", () => {
    const { output, clock, written } = fakeTerminal();
    output.doing("Asking the cluster");
    clock.pass(1999);
    expect(written()).toBe("");
    clock.pass(1);
    expect(written()).toBe(`${erase}Asking the cluster (2 s)`);
    clock.pass(999);
    expect(written()).toBe("");
    clock.pass(2001);
    expect(written()).toBe(
      `${erase}Asking the cluster (3 s)${erase}Asking the cluster (4 s)${erase}Asking the cluster (5 s)`,
    );
  });

  it("is erased before anything else is printed, and comes back", () => {
    const { output, clock, written } = fakeTerminal();
    output.doing("Starting");
    clock.pass(2000);
    written();
    output.text("line\n");
    expect(written()).toBe(`${erase}line\n`);
    output.warnings([{ code: "x", message: "careful" }]);
    expect(written()).toMatch(/^[^\r]*warning:.* careful\n$/);
    clock.pass(1000);
    expect(written()).toBe(`${erase}Starting (3 s)`);
  });

  it("is erased at the end, and when the command only waits; no timer is left", () => {
    const { output, clock, written } = fakeTerminal();
    const listeners = process.listenerCount("exit");
    output.doing("Looking");
    clock.pass(2000);
    expect(written()).not.toBe("");
    output.doing();
    expect(written()).toBe(erase);
    clock.pass(5000);
    expect({ text: written(), timers: clock.running }).toEqual({ text: "", timers: 0 });
    // The time begins again.
    output.doing("Looking");
    clock.pass(2000);
    expect(written()).toBe(`${erase}Looking (2 s)`);
    output.end({ exitCode: 0, errors: [], json: undefined });
    expect({ text: written(), timers: clock.running }).toEqual({ text: erase, timers: 0 });
    expect(process.listenerCount("exit")).toBe(listeners);
  });

  it("shows the next step at once when the work before it left the timer no chance", () => {
    const { output, clock, written } = fakeTerminal();
    output.doing("Reading");
    clock.block(2600);
    expect(written()).toBe("");
    output.doing("Describing");
    expect(written()).toBe(`${erase}Describing (2 s)`);
  });

  it("fits into one line, and obeys no control character", () => {
    const { output, clock, written } = fakeTerminal({}, { columns: 20 });
    output.doing("Asking\u001b[2J\nmachine-with-a-long-name");
    clock.pass(2000);
    const line = written().slice(erase.length);
    expect(line).toBe("Asking\\u001b[2 (2 s)".slice(0, 13) + " (2 s)");
    expect(line.length).toBeLessThan(20);
  });

  it.each([
    ["stderr is not a terminal", {}, { stderr: false }],
    ["a CI system runs it", { CI: "true" }, {}],
    ["the terminal cannot erase a line", { TERM: "dumb" }, {}],
  ])("does not appear when %s", (_, environment, streams) => {
    const { output, clock, written } = fakeTerminal(environment, streams);
    output.doing("Asking");
    clock.pass(60_000);
    output.end({ exitCode: 0, errors: [], json: undefined });
    expect({ text: written(), timers: clock.running }).toEqual({ text: "", timers: 0 });
  });

  it.each([
    [2000, "2 s"],
    [59_999, "59 s"],
    [60_000, "1 min 0 s"],
    [125_400, "2 min 5 s"],
  ])("describes %d ms as %s", (milliseconds, text) => {
    expect(describeTime(milliseconds)).toBe(text);
  });

  it.skipIf(process.platform === "win32")(
    "of a real command on a real terminal: the line comes, and goes before the result",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "progress-"));
      // It answers when the line has had time to appear.
      writeFileSync(join(folder, "ssh"), "#!/bin/sh\ncat >/dev/null\nsleep 3.5\necho nothing >&2\nexit 255\n");
      chmodSync(join(folder, "ssh"), 0o755);
      const { CI: _, NO_COLOR: __, ...environment } = process.env;
      const { code, text } = await runOnTerminal(process.execPath, [program, "status", "--ssh", "core@10.0.0.5"], {
        cwd: projectRoot,
        cols: 80,
        env: { ...environment, TERM: "xterm", PATH: `${folder}${delimiter}${process.env.PATH ?? ""}` },
      });
      rmSync(folder, { recursive: true });
      expect(code).toBe(1);
      const [before = "", ...after] = text.split("tunnel  ");
      expect(before.startsWith(`${erase}Reading from the machines and the cluster (`)).toBe(true);
      // Nothing of it is left on the line where the result begins.
      expect(before.endsWith(erase)).toBe(true);
      expect(after.join("")).not.toContain("Asking");
      // The verdict is coloured.
      expect(after.join("").startsWith("\u001b[33munknown\u001b[39m: ")).toBe(true);
    },
  );
});
