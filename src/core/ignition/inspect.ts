import { createHash } from "node:crypto";
import { UserError, problem } from "../errors.ts";
import { anchorNames, anchors, bootkubePath } from "./bootkube.ts";
import { decodeContents, replaceContents, UndecodableError } from "./contents.ts";
import { type IgnitionConfig, isObject, parseIgnition } from "./config.ts";
import { withoutQuery } from "./pointer.ts";
import { digestOf, findRecord, type PayloadRecord, recordPath } from "./record.ts";
import { withDigest } from "./serialize.ts";

export interface InspectedPayload {
  readonly kind: "payload";
  readonly bytes: number;
  readonly sha512: string;
  readonly record: PayloadRecord;
  readonly added: readonly {
    readonly path: string;
    readonly mode: string;
    readonly bytes: number;
    /** Characters of its contents in the document. */
    readonly encoded: number;
    /** Characters of its whole entry in the document. */
    readonly stored: number;
  }[];
  /** What the tunnel adds to the document, in bytes. */
  readonly addedBytes: number;
  /** Unified diff of bootkube.sh. */
  readonly diff: string;
}

export interface InspectedPointer {
  readonly kind: "pointer";
  readonly bytes: number;
  readonly source: string;
  readonly hash: string;
  readonly totalTimeoutSeconds: number | undefined;
  readonly proxy: boolean;
  readonly caBundle: boolean;
}

/** What Ignition gives a file without a mode. */
const defaultMode = 0o644;

/** Reads a payload or a pointer back. The only file contents in the result are our own lines of bootkube.sh: no secret. */
export function inspectIgnition(text: string, file: string): InspectedPayload | InspectedPointer {
  const document = parse(text, file);
  return inspectPointer(document, text) ?? inspectPayload(document, text, file);
}

/** What is wrong with a bootstrap.ign is of no interest here: this is another file. */
function parse(text: string, file: string): IgnitionConfig {
  try {
    return parseIgnition(text);
  } catch (error) {
    if (error instanceof UserError) throw new UserError(problem("not-a-payload", { file }));
    throw error;
  }
}

function inspectPointer({ ignition }: IgnitionConfig, text: string): InspectedPointer | undefined {
  const { config, timeouts, proxy, security } = ignition;
  if (!isObject(config) || !isObject(config.replace)) return undefined;
  const { source, verification } = config.replace;
  const total = isObject(timeouts) ? timeouts.httpTotal : undefined;
  return {
    kind: "pointer",
    bytes: Buffer.byteLength(text),
    source: typeof source === "string" ? withoutQuery(source) : "missing",
    hash: isObject(verification) && typeof verification.hash === "string" ? verification.hash : "missing",
    totalTimeoutSeconds: typeof total === "number" ? total : undefined,
    proxy: proxy !== undefined,
    caBundle: security !== undefined,
  };
}

function inspectPayload(document: IgnitionConfig, text: string, file: string): InspectedPayload {
  const files = document.storage?.files ?? [];
  const record = findRecord(files);
  if (record === undefined) throw new UserError(problem("not-a-payload", { file }));
  const damaged = (detail: string) => new UserError(problem("payload-damaged", { file, detail }));
  const entryOf = (path: string) => {
    const entry = files.find((candidate) => candidate.path === path);
    if (entry === undefined) throw damaged(`${path} is missing`);
    try {
      return { entry, content: decodeContents(entry.contents) };
    } catch (error) {
      if (error instanceof UndecodableError) throw damaged(`${path} cannot be decoded (${error.message})`);
      throw error;
    }
  };
  const recorded: unknown = record.added;
  if (!Array.isArray(recorded) || anchorNames.some((name) => typeof record.insertions[name] !== "string"))
    throw damaged("its record is not whole");
  const found = [...record.added, recordPath].map((path) => ({ path, ...entryOf(path) }));
  const asBuilt = found
    .filter(({ path }) => path !== recordPath)
    .map(({ path, entry, content }) => ({ path, mode: entry.mode ?? defaultMode, text: content.toString("utf8") }));
  if (digestOf(asBuilt) !== record.addedSha256) throw damaged("a file that the tunnel added is not as it was built");
  const bootkube = entryOf(bootkubePath);
  const patched = bootkube.content.toString("utf8");
  const undone = insertionDiff(patched, record);
  if (undone === undefined || createHash("sha256").update(undone.original).digest("hex") !== record.bootkubeSha256)
    throw damaged("bootkube.sh is not the installer's with our insertions");
  const { diff, original } = undone;
  const was = replaceContents(bootkube.entry.contents ?? {}, Buffer.from(original));
  const grown = (bootkube.entry.contents?.source?.length ?? 0) - (was.source?.length ?? 0);
  const added = found.map(({ path, entry, content }) => ({
    path,
    mode: (entry.mode ?? defaultMode).toString(8).padStart(4, "0"),
    bytes: content.length,
    encoded: entry.contents?.source?.length ?? 0,
    stored: JSON.stringify(entry).length + 1,
  }));
  const addedBytes = added.reduce((sum, { stored }) => sum + stored, grown);
  const { bytes, sha512 } = withDigest(text);
  return { kind: "payload", bytes, sha512, record, added, addedBytes, diff };
}

/** The diff is known: the insertions are in the record. It is made from there, and undoing it must give the original. */
function insertionDiff(patched: string, record: PayloadRecord): { diff: string; original: string } | undefined {
  const context = 2;
  const hunks: string[] = [];
  let original = patched;
  let shift = 0;
  for (const name of anchorNames) {
    const insertion = record.insertions[name];
    const at = patched.indexOf(
      anchors[name].place === "before" ? `${insertion}${anchors[name].line}\n` : `${anchors[name].line}\n${insertion}`,
    );
    if (at < 0) return undefined;
    const start = anchors[name].place === "before" ? at : at + anchors[name].line.length + 1;
    original = original.replace(insertion, "");
    const before = patched.slice(0, start).split("\n").slice(0, -1);
    const after = patched
      .slice(start + insertion.length)
      .replace(/\n$/, "")
      .split("\n");
    const lines = insertion.split("\n").slice(0, -1);
    const from = Math.max(0, before.length - context);
    const length = before.length - from + Math.min(context, after.length);
    hunks.push(
      `@@ -${from + 1 - shift},${length} +${from + 1},${length + lines.length} @@`,
      ...before.slice(from).map((line) => ` ${line}`),
      ...lines.map((line) => `+${line}`),
      ...after.slice(0, context).map((line) => ` ${line}`),
    );
    shift += lines.length;
  }
  return { diff: [`--- a${bootkubePath}`, `+++ b${bootkubePath}`, ...hunks].join("\n") + "\n", original };
}
