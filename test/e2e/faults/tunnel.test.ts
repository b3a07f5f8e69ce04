import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Lab } from "../../../lab/lab.ts";
import { waitFor } from "../../../lab/wait.ts";
import { LoadedLab } from "../load/loaded-lab.ts";
import { labWith, removeLab } from "../../support/lab.ts";
import { type Loss, lostOf, record, rowsFile, strike } from "./fault.ts";
import { prepareRogueAgents, refused, rogueAgents } from "./rogue-agent.ts";
import { tunnelFaults } from "./tunnel-faults.ts";

const name = `faults${process.pid}`;
let lab: Lab;
let loaded: LoadedLab;

beforeAll(async () => {
  lab = await labWith({ name, nodes: 2 });
  loaded = new LoadedLab(lab);
  loaded.installHookWithoutMemory();
  await loaded.agentsAre(2);
  await prepareRogueAgents(loaded);
}, 180_000);
afterAll(() => removeLab(name));

/** What more than its coming back must be true. */
const expected: Readonly<Record<string, (loss: Loss) => void>> = {
  // Those that were under way in it, at most; all others go on.
  "one of two agents dies": ({ bad, calls }) => {
    expect(bad).toBeLessThan(calls / 4);
  },
  "8091 blocked": ({ words }) => {
    expect(words).toContain("No agent available");
  },
  "rogue agent dials": ({ bad }) => {
    expect(bad).toBe(0);
  },
};

describe("calls flow through the tunnel, come back and lose nothing more, when", () => {
  it.each(tunnelFaults.filter(({ slow = false }) => rowsFile !== undefined || !slow))(
    "$done",
    async (fault) => {
      const loss = await strike(loaded, fault);
      record({ done: fault.done, lost: lostOf(loss), recovered: fault.recovered });
      expected[fault.name]?.(loss);
    },
    300_000,
  );
});

describe("an agent, the real program, is refused with", () => {
  it(`${refused.join(", ")}; the same with a good certificate is taken`, async () => {
    const dialling = rogueAgents(lab, [...refused, "a good certificate"]);
    try {
      const good = dialling.pop();
      await waitFor("the agent with a good certificate", 30, () => good?.isTaken() ?? false);
      for (const [index, agent] of dialling.entries()) {
        const words = await agent.isRefused();
        record({
          done: `an agent with ${refused[index] ?? ""} tries to connect`,
          lost: "nothing",
          recovered: `the server refuses it (\`${words}\`), and the tunnel's own agents are not affected`,
        });
      }
      // The tunnel's own and the good one.
      await loaded.agentsAre(3);
      good?.end();
    } finally {
      for (const agent of dialling) agent.end();
    }
    await loaded.agentsAre(2);
  }, 240_000);
});
