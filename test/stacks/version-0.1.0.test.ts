import { describe, expect, it } from "vitest";
import { fixturesOf010, projectOf, stacksOf } from "../support/fixtures-of-0.1.0.ts";
import type { StackJson } from "../support/stacks.ts";

/** What today's stacks say otherwise than those of 0.1.0, and why. */
interface Difference {
  readonly reason: string;
  readonly stacks: RegExp;
  /** Makes of 0.1.0's stack what today's must be. */
  readonly apply: (stack: StackJson) => void;
}

const differences: readonly Difference[] = [];

const fixtures = fixturesOf010();

it("has fixtures of every platform and every config", () => {
  const names = (platform: string) => fixtures.filter((one) => one.platform === platform).map(({ name }) => name);
  const configs = ["defaults", "firewall-external", "fixed-address", "replace-machine", "tunnel-off"];
  for (const platform of ["google", "local"]) expect(names(platform), platform).toEqual(configs);
});

describe.each(fixtures)("a config that $platform was deployed with by 0.1.0: $name", (fixture) => {
  it("gives the same stacks, but for the differences that are named here", () => {
    const project = projectOf(fixture);
    try {
      const today = project.synth();
      for (const name of stacksOf(fixture)) {
        const expected = fixture.stack(name);
        for (const { stacks, apply } of differences) if (stacks.test(name)) apply(expected);
        expect(today[name]).toEqual(expected);
      }
    } finally {
      project.remove();
    }
  });
});
