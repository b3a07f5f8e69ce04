import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import { UserError, problem } from "../errors.ts";
import { anchorNames, anchors, bootkubePath } from "./bootkube.ts";
import { decodeContents, replaceContents, UndecodableError } from "./contents.ts";
import { type FileEntry, type IgnitionConfig, isObject, parseIgnition } from "./config.ts";
import { withoutQuery } from "./pointer.ts";
import { digestOf, findRecord, isPayload, type PayloadRecord, recordPath } from "./record.ts";
import { withDigest } from "./serialize.ts";
import { fileEntry } from "./transform.ts";

export interface InspectedPayload {
  readonly kind: "payload";
  readonly bytes: number;
  readonly sha512: string;
  readonly record: PayloadRecord;
  readonly added: readonly {
    readonly path: string;
    readonly mode: string;
    readonly bytes: number;
    /** Characters of its `contents.source`. */
    readonly encoded: number;
    /** Characters of its whole entry in the payload. */
    readonly stored: number;
  }[];
  /** How many bytes the tunnel adds. */
  readonly addedBytes: number;
  /** Unified diff of bootkube.sh. */
  readonly diff: string;
  /** What happened to it after it was built. The tunnel's own files and lines are as they were, or it is refused. */
  readonly sinceBuild: {
    /** Whether another program wrote it again, as "openshift-install create cluster" does: in the spelling of its own types. */
    readonly rewritten: boolean;
    /** Files that were appended. */
    readonly filesAdded: readonly string[];
  };
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

/** Ignition's mode for a file that has none. */
const defaultMode = 0o644;

/** Reads a payload or a pointer back. The only file contents in the result are our own lines of bootkube.sh: no secret. */
export function inspectIgnition(text: string, file: string): InspectedPayload | InspectedPointer {
  const config = parse(text, file);
  // Go's own marshalling writes an empty `replace` into every config: a payload that such a program wrote looks like a pointer.
  if (isPayload(config)) return inspectPayload(config, text, file);
  return inspectPointer(config, text) ?? inspectPayload(config, text, file);
}

/** Replaces errors about bootstrap.ign: this is another file. */
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

function inspectPayload(config: IgnitionConfig, text: string, file: string): InspectedPayload {
  const files = config.storage?.files ?? [];
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
    throw damaged("its record is incomplete");
  const found = [...record.added, recordPath].map((path) => ({ path, ...entryOf(path) }));
  if (!isAsBuilt(files, record)) throw damaged("a file of the tunnel differs from what was built");
  const bootkube = entryOf(bootkubePath);
  const patched = bootkube.content.toString("utf8");
  const original = withoutInsertions(patched, record);
  if (original === undefined) throw damaged("bootkube.sh is not the installer's script with the tunnel's lines");
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
  const diff = unifiedDiff(original, patched);
  return { kind: "payload", bytes, sha512, record, added, addedBytes, diff, sinceBuild: sinceBuild(files) };
}

/** The record is the last file of a payload, with its keys in the order of `fileEntry`. */
function sinceBuild(files: readonly FileEntry[]): InspectedPayload["sinceBuild"] {
  const last = files.findIndex(({ path }) => path === recordPath);
  const keys = Object.keys(fileEntry({ path: recordPath, mode: 0, text: "" }));
  return {
    rewritten: !isDeepStrictEqual(Object.keys(files[last] ?? {}), keys),
    filesAdded: files.slice(last + 1).map(({ path }) => path),
  };
}

/** Whether the files that the tunnel added are what the record says. */
export function isAsBuilt(files: readonly FileEntry[], { added, addedSha256 }: PayloadRecord): boolean {
  const found = added.map((path) => files.find((file) => file.path === path));
  try {
    const asBuilt = found.map((file) => ({
      path: file?.path ?? "",
      mode: file?.mode ?? defaultMode,
      text: decodeContents(file?.contents).toString("utf8"),
    }));
    return digestOf(asBuilt) === addedSha256;
  } catch (error) {
    if (error instanceof UndecodableError) return false;
    throw error;
  }
}

/** The installer's bootkube.sh, if this is it with the insertions of the record at their anchors. */
export function withoutInsertions(patched: string, { insertions, bootkubeSha256 }: PayloadRecord): string | undefined {
  let original = patched;
  for (const name of anchorNames) {
    const { line, place } = anchors[name];
    const inserted = place === "before" ? `${insertions[name]}${line}\n` : `${line}\n${insertions[name]}`;
    if (!original.includes(inserted)) return undefined;
    original = original.replace(inserted, () => `${line}\n`);
  }
  return createHash("sha256").update(original).digest("hex") === bootkubeSha256 ? original : undefined;
}

const unifiedDiff = (original: string, patched: string) =>
  createTwoFilesPatch(`a${bootkubePath}`, `b${bootkubePath}`, original, patched, undefined, undefined, {
    context: 2,
    headerOptions: FILE_HEADERS_ONLY,
  });
