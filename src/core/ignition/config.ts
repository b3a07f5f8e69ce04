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

/** Parses an Ignition config and checks the shape that every later step relies on. */
export function parseIgnition(text: string): IgnitionConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // Not V8's message, which quotes a part of the text: the config contains every secret of the cluster.
    throw new UserError(problem("ignition-not-json", { detail: jsonErrorPlace(error, text) }));
  }
  if (!isObject(value) || !isObject(value.ignition) || typeof value.ignition.version !== "string") {
    const version = isObject(value) && isObject(value.ignition) ? value.ignition.version : undefined;
    throw new UserError(problem("ignition-version-missing", { found: describe(version) }));
  }
  const { version } = value.ignition;
  if (!(specVersions as readonly string[]).includes(version)) {
    throw new UserError(
      problem("ignition-spec-unknown", {
        version: JSON.stringify(version.slice(0, 20)),
        known: specVersions.join(", "),
      }),
    );
  }
  const problems = [...malformations(value), ...notRoundTripped(value)];
  if (problems.length > 0) throw new UserError(...problems);
  return value as IgnitionConfig;
}

function* malformations(config: Record<string, unknown>): Generator<Problem, void> {
  const { storage } = config;
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

/** Far deeper than any real config; not much deeper, JSON.stringify overflows the stack. */
const maxDepth = 500;

/** Values that JSON.parse and JSON.stringify would change, or that JSON.stringify cannot write. */
function* notRoundTripped(config: object): Generator<Problem, void> {
  const open: { value: object; where: string; depth: number }[] = [{ value: config, where: "", depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, where, depth } = next;
    if (depth > maxDepth) {
      yield malformed(`${where.slice(0, 40)}…`, `at most ${maxDepth} levels`, value);
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
  return problem("ignition-malformed", { where, expected, found: describe(found) });
}

function jsonErrorPlace(error: unknown, text: string): string {
  if (text.trim() === "") return "the file is empty";
  if (!/^\s*\{/.test(text) || text.startsWith("\uFEFF")) return "it does not start with {";
  const position = /position (\d+)/.exec(String(error))?.[1];
  if (position !== undefined) return `syntax error at character ${position} of ${text.length}`;
  return `it is truncated after ${text.length} characters`;
}

/** The type of a value, without its content. */
export function describe(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
