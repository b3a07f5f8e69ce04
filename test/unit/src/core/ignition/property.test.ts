import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampleConfig } from "../../../../../src/core/sample/sample.ts";
import {
  anyChangedScript,
  anyPlace,
  anyShape,
  buildOrRefuse,
  runs,
  texts,
} from "../../../../support/damaged-config.ts";

describe("a damaged bootstrap.ign gives a named error or a complete payload", () => {
  it("when it is cut off anywhere", () => {
    fc.assert(
      fc.property(anyShape, anyPlace, (shape, place) => {
        const text = texts[shape];
        expect(buildOrRefuse(text.slice(0, Math.floor(place * text.length)))).toBeUndefined();
      }),
      runs(1, 200),
    );
  });

  it("when characters are flipped, deleted or inserted", () => {
    const character = fc.oneof(
      fc.constantFrom(...Array.from('"{}[]:,\\=/0aA+ \n\u0000\u00e9')),
      fc.string({ minLength: 1, maxLength: 1 }),
    );
    const mutation = fc.record({ place: anyPlace, remove: fc.constantFrom(0, 1, 1, 7), insert: fc.option(character) });
    fc.assert(
      fc.property(anyShape, fc.array(mutation, { minLength: 1, maxLength: 4 }), (shape, mutations) => {
        let text = texts[shape];
        for (const { place, remove, insert } of mutations) {
          const at = Math.floor(place * text.length);
          text = text.slice(0, at) + (insert ?? "") + text.slice(at + remove);
        }
        buildOrRefuse(text);
      }),
      runs(2, 300),
    );
  });

  it("when parts of it are dropped, doubled or replaced", () => {
    const steps = (maxLength: number) => fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength });
    const topLevel = Object.keys(sampleConfig("4.18"));
    const inFiles = (more: number[]) => [topLevel.indexOf("storage"), 0, ...more];
    const mutation = fc.record({
      // Most of them in the files, where most is read.
      steps: fc.oneof({ weight: 1, arbitrary: steps(6) }, { weight: 4, arbitrary: steps(4).map(inFiles) }),
      change: fc.oneof(
        fc.constant({ kind: "drop" as const }),
        fc.constant({ kind: "double" as const }),
        fc.record({
          kind: fc.constant("replace" as const),
          value: fc.oneof(
            fc.constantFrom<unknown>(null, "", 0, true, [], {}, "data:,x"),
            fc.jsonValue({ maxDepth: 2 }),
          ),
        }),
      ),
    });
    fc.assert(
      fc.property(anyShape, fc.array(mutation, { minLength: 1, maxLength: 3 }), (shape, mutations) => {
        const config = JSON.parse(texts[shape]) as unknown;
        for (const { steps, change } of mutations) mutate(config, steps, change);
        buildOrRefuse(JSON.stringify(config));
      }),
      runs(3, 300),
    );
  });
});

type Change = { kind: "drop" } | { kind: "double" } | { kind: "replace"; value: unknown };

/** Goes down by `steps` (each a child's number, counted round) and changes the node where they end. */
function mutate(root: unknown, steps: readonly number[], change: Change): void {
  let parent: unknown = root;
  for (const [index, step] of steps.entries()) {
    if (typeof parent !== "object" || parent === null) return;
    const keys = Object.keys(parent);
    const key = keys[step % Math.max(1, keys.length)];
    if (key === undefined) return;
    const children = parent as Record<string, unknown>;
    const child = children[key];
    if (index < steps.length - 1 && typeof child === "object" && child !== null) {
      parent = child;
      continue;
    }
    if (change.kind === "replace") children[key] = change.value;
    else if (Array.isArray(parent)) parent.splice(Number(key), 1, ...(change.kind === "double" ? [child, child] : []));
    else if (change.kind === "double") children[`${key}2`] = child;
    else Reflect.deleteProperty(children, key);
    return;
  }
}

describe("a bootkube.sh of another form gives a named refusal or a whole payload", () => {
  it("when lines are deleted, doubled, swapped or indented", () => {
    let built = 0;
    fc.assert(
      fc.property(anyChangedScript, ({ text }) => {
        if (buildOrRefuse(text) !== undefined) built++;
      }),
      runs(4, 100),
    );
    // So that the mutations are neither all harmless nor all fatal.
    expect(built).toBeGreaterThan(12);
    expect(built).toBeLessThan(88);
  });
});
