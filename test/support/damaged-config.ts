import fc from "fast-check";
import { expect } from "vitest";
import { makePayload } from "../../src/core/bootstrap.ts";
import { readTunnel } from "../../src/core/konnectivity/options.ts";
import { type Anchor, anchorNames, anchors } from "../../src/core/ignition/bootkube.ts";
import { decodeContents } from "../../src/core/ignition/contents.ts";
import type { IgnitionConfig } from "../../src/core/ignition/config.ts";
import { type PayloadRecord, recordPath } from "../../src/core/ignition/record.ts";
import { linePlaces } from "../../src/core/ignition/shell-structure.ts";
import { UserError, type ProblemCode, problemCodes } from "../../src/core/errors.ts";
import {
  bootkubeScript,
  fileEntry,
  sampleConfig,
  sampleText,
  type Shape,
  shapes,
} from "../../src/core/sample/sample.ts";

const now = new Date("2026-11-16T12:00:00Z");
const tunnel = readTunnel(undefined);
const bootkubePath = "/usr/local/bin/bootkube.sh";
export const texts = Object.fromEntries(shapes.map((shape) => [shape, sampleText(shape)])) as Record<Shape, string>;
const filesOf = (text: string) => (JSON.parse(text) as IgnitionConfig).storage?.files ?? [];
export const scriptIn = (text: string) =>
  decodeContents(filesOf(text).find(({ path }) => path === bootkubePath)?.contents).toString();
const recordIn = (text: string) =>
  JSON.parse(
    decodeContents(filesOf(text).find(({ path }) => path === recordPath)?.contents).toString(),
  ) as PayloadRecord;

/** What a complete payload adds; it is the same for every release. */
export const whole = recordIn(makePayload(texts["4.18"], tunnel, now).text);

/** Everything that can be wrong with a bootstrap.ign; not with a config file or a pointer. */
const ignitionCodes = new Set<ProblemCode>(
  problemCodes.filter((code) =>
    /^(ignition-(?!refuses)|bootkube|anchor|bootstrap-in-place|installer-tunnel|already|path)/.test(code),
  ),
);

/** Builds the payload, and checks that the result is a named error or a complete payload. Returns the payload, if there is one. */
export function buildOrRefuse(text: string): string | undefined {
  let payload: string;
  try {
    payload = makePayload(text, tunnel, now).text;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    expect(error.problems.length).toBeGreaterThan(0);
    for (const { code, message } of error.problems) {
      expect(ignitionCodes).toContain(code);
      expect(message).toMatch(/^[^\n\r]+\.$/);
    }
    return undefined;
  }
  expectWhole(payload, text);
  return payload;
}

function expectWhole(payload: string, original: string): void {
  const files = filesOf(payload);
  expect(files.slice(filesOf(original).length).map(({ path }) => path)).toEqual([...whole.added, recordPath]);
  for (const path of [...whole.added, recordPath]) {
    const entries = files.filter((file) => file.path === path);
    expect(entries).toHaveLength(1);
    expect(decodeContents(entries[0]?.contents).length).toBeGreaterThan(0);
  }
  const script = scriptIn(payload);
  const places = linePlaces(script);
  let undone = script;
  for (const name of anchorNames) {
    const insertion = whole.insertions[name];
    const { line, place, depth } = anchors[name];
    expect(script.split(insertion)).toHaveLength(2);
    expect(`\n${script}`).toContain(place === "before" ? `\n${insertion}${line}\n` : `\n${line}\n${insertion}`);
    expect(places[linesBefore(script, name)]).toMatchObject({ depth, text: false });
    undone = undone.replace(insertion, () => "");
  }
  expect(undone).toBe(scriptIn(original));
}

/** How many lines stand before an insertion. */
const linesBefore = (script: string, name: Anchor) =>
  script.slice(0, script.indexOf(whole.insertions[name])).split("\n").length - 1;

/** Fixed seeds: a failure here is one tomorrow as well. */
export const runs = (seed: number, numRuns: number) => ({ seed, numRuns });
export const anyShape = fc.constantFrom(...shapes);
/** A place in a text, as a share of its length. */
export const anyPlace = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

// Half of the mutations are at an anchor or next to one.
const line = fc.oneof(
  anyPlace.map((place) => ({ place })),
  fc.record({ anchor: fc.constantFrom(...anchorNames), beside: fc.integer({ min: -2, max: 2 }) }),
);
const mutation = fc.record({ kind: fc.constantFrom("delete", "double", "swap", "indent"), line, other: line });

/** A bootkube.sh with lines deleted, doubled, swapped or indented, and the Ignition config that contains it. */
export const anyChangedScript = fc
  .tuple(anyShape, fc.array(mutation, { minLength: 1, maxLength: 3 }))
  .map(([shape, mutations]) => {
    const lines = bootkubeScript(shape).split("\n").slice(0, -1);
    const indexOf = (at: (typeof mutations)[number]["line"]) => {
      const index =
        "place" in at ? Math.floor(at.place * lines.length) : lines.indexOf(anchors[at.anchor].line) + at.beside;
      return Math.min(Math.max(index, 0), lines.length - 1);
    };
    for (const { kind, line: at, other } of mutations) {
      const [index, second] = [indexOf(at), indexOf(other)];
      const [a = "", b = ""] = [lines[index], lines[second]];
      if (kind === "delete") lines.splice(index, 1);
      else if (kind === "double") lines.splice(index, 0, a);
      else if (kind === "indent") lines[index] = `\t${a}`;
      else [lines[index], lines[second]] = [b, a];
    }
    const script = lines.map((text) => `${text}\n`).join("");
    const config = sampleConfig(shape);
    const files = (config.storage?.files ?? []).map((file) =>
      file.path === bootkubePath ? fileEntry(bootkubePath, script, 0o555) : file,
    );
    return { script, text: JSON.stringify({ ...config, storage: { files } }) };
  });
