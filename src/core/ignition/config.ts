import { UserError, type Problem, problem } from "../errors.ts";

/** The parts of an Ignition 3.x config that are read here. Unknown keys are kept as they are. */
export interface IgnitionConfig {
  ignition: { version: string; [key: string]: unknown };
  storage?: { files?: FileEntry[]; [key: string]: unknown };
  [key: string]: unknown;
}

export interface FileEntry {
  path: string;
  mode?: number;
  overwrite?: boolean;
  user?: { name?: string };
  contents?: Resource;
  [key: string]: unknown;
}

export interface Resource {
  source?: string | null;
  compression?: string | null;
  verification?: { hash?: string | null };
  [key: string]: unknown;
}

/** Stable spec versions; openshift-install writes 3.2.0 in every release from 4.12 on. */
export const specVersions = ["3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0"] as const;

/** Parses a document and checks the shape that everything after relies on. */
export function parseIgnition(text: string): IgnitionConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // Never the text itself: V8 quotes some of it, and the document holds every secret of the cluster.
    throw new UserError(problem("document-not-json", { detail: jsonErrorPlace(error, text) }));
  }
  if (!isObject(value) || !isObject(value.ignition) || typeof value.ignition.version !== "string") {
    const version = isObject(value) && isObject(value.ignition) ? value.ignition.version : undefined;
    throw new UserError(problem("document-not-ignition", { found: describe(version) }));
  }
  const { version } = value.ignition;
  if (!(specVersions as readonly string[]).includes(version)) {
    throw new UserError(
      problem("document-spec-unknown", {
        version: JSON.stringify(version.slice(0, 20)),
        known: specVersions.join(", "),
      }),
    );
  }
  const problems = [...malformations(value), ...notKept(value)];
  if (problems.length > 0) throw new UserError(...problems);
  return value as IgnitionConfig;
}

function* malformations(document: Record<string, unknown>): Generator<Problem, void> {
  const { storage } = document;
  if (storage === undefined) return;
  if (!isObject(storage)) {
    yield malformed("storage", "an object", storage);
    return;
  }
  if (storage.files === undefined) return;
  if (!Array.isArray(storage.files)) {
    yield malformed("storage.files", "a list", storage.files);
    return;
  }
  for (const [index, entry] of (storage.files as unknown[]).entries()) {
    const where = `storage.files[${index}]`;
    if (!isObject(entry)) yield malformed(where, "an object", entry);
    else if (typeof entry.path !== "string") yield malformed(`${where}.path`, "a path", entry.path);
    else if (entry.contents !== undefined && !isObject(entry.contents))
      yield malformed(`${where}.contents`, "an object", entry.contents);
  }
}

/** No config comes near this; JSON.stringify ends with a stack overflow not far above it. */
const deepest = 500;

/** What would come out another than it went in, or could not be written at all. */
function* notKept(document: object): Generator<Problem, void> {
  const open: { value: object; where: string; depth: number }[] = [{ value: document, where: "", depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, where, depth } = next;
    if (depth > deepest) {
      yield malformed(`${where.slice(0, 40)}…`, `at most ${deepest} levels`, value);
      return;
    }
    for (const [key, child] of Object.entries(value) as [string, unknown][]) {
      const here = where === "" ? key : `${where}.${key}`;
      if (Number.isInteger(child) && !Number.isSafeInteger(child)) yield malformed(here, "a number below 2^53", child);
      else if (typeof child === "object" && child !== null) open.push({ value: child, where: here, depth: depth + 1 });
    }
  }
}

function malformed(where: string, expected: string, found: unknown) {
  return problem("document-malformed", { where, expected, found: describe(found) });
}

function jsonErrorPlace(error: unknown, text: string): string {
  if (text.trim() === "") return "the file is empty";
  if (!/^\s*\{/.test(text) || text.startsWith("\uFEFF")) return "it does not begin with {";
  const position = /position (\d+)/.exec(String(error))?.[1];
  if (position !== undefined) return `syntax error at character ${position} of ${text.length}`;
  return `it ends too early, after ${text.length} characters`;
}

/** A value's kind, without its content. */
export function describe(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
