import { describe, expect, it } from "vitest";
import {
  type Check,
  checkIds,
  notLookedAt,
  passed,
  passedIf,
  runChecks,
  toChecks,
} from "../../../../src/cluster/verify.ts";

const checksWith = (run: (id: string) => ReturnType<Check["run"]>) =>
  toChecks(Object.fromEntries(checkIds.map((id) => [id, () => run(id)])) as Parameters<typeof toChecks>[0]);

describe("the checks of verify", () => {
  it("run those that may end the bootstrap after all others, and are reported in their own order", async () => {
    const order: string[] = [];
    const verified = await runChecks(
      checksWith((id) => {
        order.push(id);
        return passed("seen");
      }),
    );
    expect(order.slice(-2)).toEqual(["step-6", "step-7"]);
    expect([...order].sort()).toEqual([...checkIds].sort());
    expect(verified.map(({ id }) => id)).toEqual(checkIds);
  });

  it("fail if they throw, and the others run all the same", async () => {
    const verified = await runChecks(
      checksWith((id) => {
        if (id === "step-2") throw new Error("no route to host");
        if (id === "step-3") return Promise.reject(new Error("timed out"));
        return id === "step-4" ? notLookedAt("no ssh") : passedIf(id !== "step-5", "seen");
      }),
    );
    const results = Object.fromEntries(verified.map(({ id, result, seen }) => [id, `${result}: ${seen}`]));
    expect(results).toMatchObject({
      "step-1": "passed: seen",
      "step-2": "failed: no route to host",
      "step-3": "failed: timed out",
      "step-4": "not looked at: no ssh",
      "step-5": "failed: seen",
      "security-9": "passed: seen",
    });
  });

  it("run one after the other", async () => {
    let running = 0;
    const most: number[] = [];
    await runChecks(
      checksWith(async () => {
        most.push(++running);
        await Promise.resolve();
        running--;
        return passed("");
      }),
    );
    expect(Math.max(...most)).toBe(1);
  });

  it("report one line of at most 300 characters", async () => {
    const [first] = await runChecks(checksWith(() => passed(` two\n  lines\t${"x".repeat(400)}`)));
    expect(first?.seen).toMatch(/^two lines x+…$/);
    expect(first?.seen).toHaveLength(300);
  });
});
