import { describe, expect, it } from "vitest";
import { failedPods, PodLog } from "../../../lab/pod-log.ts";

/** The log of a kubelet that does this. */
function logOf(act: (log: PodLog) => void): string[] {
  const lines: string[] = [];
  act(new PodLog((line) => lines.push(line)));
  return lines;
}
const id = (digit: string) => digit.repeat(64);

describe("a kubelet's log", () => {
  it("has each error of a pod once, although every try has other ids", () => {
    const lines = logOf((log) => {
      log.failed("etcd", new Error(`starting container ${id("a")}: no device`));
      log.failed("etcd", new Error(`starting container ${id("b")}: no device`));
      log.failed("etcd", new Error("the name is in use\n  and more\n"));
      log.failed("webhook", new Error(`starting container ${id("c")}: no device`));
    });
    expect(lines).toEqual([
      `etcd: cannot be started: starting container ${id("a")}: no device`,
      "etcd: cannot be started: the name is in use | and more",
      `webhook: cannot be started: starting container ${id("c")}: no device`,
    ]);
  });

  it("has an error again that comes back after a start", () => {
    const lines = logOf((log) => {
      log.failed("etcd", new Error("no device"));
      log.started("etcd");
      log.stopped("etcd");
      log.failed("etcd", new Error("no device"));
    });
    expect(lines).toEqual([
      "etcd: cannot be started: no device",
      "etcd: started",
      "etcd: stopped",
      "etcd: cannot be started: no device",
    ]);
  });

  it("tells the first error of each pod that does not run", () => {
    const lines = logOf((log) => {
      log.failed("etcd", new Error("the reason: no device"));
      log.failed("etcd", new Error("the name is in use"));
      log.failed("webhook", new Error("no image"));
      log.started("webhook");
    });
    const log = ["Unexpected: a line of something else", ...lines, ""].join("\n");
    expect([...failedPods(log)]).toEqual([["etcd", "the reason: no device"]]);
  });
});
