import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makePayload } from "../../../../../src/core/bootstrap.ts";
import { readTunnel } from "../../../../../src/core/konnectivity/options.ts";
import { type Anchor, anchorNames, anchors } from "../../../../../src/core/ignition/bootkube.ts";
import { decodeContents } from "../../../../../src/core/ignition/contents.ts";
import type { IgnitionConfig } from "../../../../../src/core/ignition/config.ts";
import { type PayloadRecord, recordPath } from "../../../../../src/core/ignition/record.ts";
import { linePlaces } from "../../../../../src/core/ignition/shell-structure.ts";
import { UserError, type ProblemCode, problemCodes } from "../../../../../src/core/errors.ts";
import {
  bootkubeScript,
  fileEntry,
  sampleConfig,
  sampleText,
  type Shape,
  shapes,
} from "../../../../../src/core/sample/sample.ts";

const now = new Date("2026-11-16T12:00:00Z");
const tunnel = readTunnel(undefined);
const bootkubePath = "/usr/local/bin/bootkube.sh";
const texts = Object.fromEntries(shapes.map((shape) => [shape, sampleText(shape)])) as Record<Shape, string>;
const filesOf = (text: string) => (JSON.parse(text) as IgnitionConfig).storage?.files ?? [];
const scriptIn = (text: string) =>
  decodeContents(filesOf(text).find(({ path }) => path === bootkubePath)?.contents).toString();
const recordIn = (text: string) =>
  JSON.parse(
    decodeContents(filesOf(text).find(({ path }) => path === recordPath)?.contents).toString(),
  ) as PayloadRecord;

/** What a whole payload adds; it is the same for every release. */
const whole = recordIn(makePayload(texts["4.18"], tunnel, now).text);

/** What can be wrong with a document; a mistake in a config or a pointer is none of it. */
const documentCodes = new Set<ProblemCode>(
  problemCodes.filter((code) =>
    /^(document|bootkube|anchor|bootstrap-in-place|installer-tunnel|already|path)/.test(code),
  ),
);

/** Builds, and holds the build to its promise: a named refusal or a whole payload. Returns the payload, if there is one. */
function buildOrRefuse(text: string): string | undefined {
  let payload: string;
  try {
    payload = makePayload(text, tunnel, now).text;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    expect(error.problems.length).toBeGreaterThan(0);
    for (const { code, message } of error.problems) {
      expect(documentCodes).toContain(code);
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
const runs = (seed: number, numRuns: number) => ({ seed, numRuns });
const anyShape = fc.constantFrom(...shapes);
/** A place in a text, as a share of its length. */
const anyPlace = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("a damaged document gives a named refusal or a whole payload", () => {
  it("when it is cut off anywhere", () => {
    fc.assert(
      fc.property(anyShape, anyPlace, (shape, place) => {
        const text = texts[shape];
        expect(buildOrRefuse(text.slice(0, Math.floor(place * text.length)))).toBeUndefined();
      }),
      runs(1, 500),
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
      runs(2, 800),
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
        const document = JSON.parse(texts[shape]) as unknown;
        for (const { steps, change } of mutations) mutate(document, steps, change);
        buildOrRefuse(JSON.stringify(document));
      }),
      runs(3, 1000),
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
  // Half of the mutations happen where they hurt: at an anchor or right beside it.
  const line = fc.oneof(
    anyPlace.map((place) => ({ place })),
    fc.record({ anchor: fc.constantFrom(...anchorNames), beside: fc.integer({ min: -2, max: 2 }) }),
  );
  const mutation = fc.record({ kind: fc.constantFrom("delete", "double", "swap", "indent"), line, other: line });

  it("when lines are deleted, doubled, swapped or indented; to bash our calls stand at its top level", () => {
    const built: { script: string; payload: string }[] = [];
    fc.assert(
      fc.property(anyShape, fc.array(mutation, { minLength: 1, maxLength: 3 }), (shape, mutations) => {
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
        const document = sampleConfig(shape);
        const files = (document.storage?.files ?? []).map((file) =>
          file.path === bootkubePath ? fileEntry(bootkubePath, script, 0o555) : file,
        );
        const payload = buildOrRefuse(JSON.stringify({ ...document, storage: { files } }));
        if (payload !== undefined) built.push({ script, payload: scriptIn(payload) });
      }),
      runs(4, 400),
    );
    // So that the mutations are neither all harmless nor all fatal.
    expect(built.length).toBeGreaterThan(50);
    expect(built.length).toBeLessThan(350);
    expect(brokenToBash(built)).toEqual([]);
  });
});

/** The scripts that bash takes before the build and not after, and calls of ours that are not at bash's top level. */
function brokenToBash(built: readonly { script: string; payload: string }[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "property-"));
  const broken: string[] = [];
  try {
    for (const [index, { script, payload }] of built.entries()) {
      writeFileSync(join(folder, `${index}.original`), script);
      writeFileSync(join(folder, `${index}.payload`), payload);
      for (const name of ["setup", "manifests", "cleanup"] as const) {
        // What runs before a call at the top level is a whole script by itself, and its last line has an end.
        const before = payload.slice(0, payload.indexOf(whole.insertions[name]));
        writeFileSync(join(folder, `${index}.before-${name}`), before);
        if (before.endsWith("\\\n")) broken.push(`${index}.before-${name} ends with a backslash`);
      }
    }
    const judge = 'cd "$1" && for file in *; do [ -z "$(bash -n "$file" 2>&1)" ] || echo "$file"; done';
    const { stdout } = spawnSync("bash", ["-c", judge, "judge", folder], { encoding: "utf8" });
    const refused = new Set(stdout.split("\n").filter((name) => name !== ""));
    return [...broken, ...[...refused].filter((name) => !refused.has(`${name.split(".")[0] ?? ""}.original`))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
