import { createHash } from "node:crypto";
import { UserError, problem } from "../errors.ts";
import { type Insertions, insertAtAnchors } from "./bootkube.ts";
import { type Bootstrap, checkAnchors } from "./check.ts";
import { encodeContents, replaceContents } from "./contents.ts";
import { type FileEntry, type IgnitionConfig, isObject } from "./config.ts";
import type { NodeFile } from "../node-file.ts";
import { digestOf, type PayloadRecord, recordPath } from "./record.ts";

/** What to add to a bootstrap machine. */
export interface Addition {
  readonly files: readonly NodeFile[];
  readonly insertions: Insertions;
  readonly record: Pick<PayloadRecord, "version" | "release" | "options">;
}

/** The config with the addition in it. Every other entry stays as it is, in its place. */
export function transformIgnition(bootstrap: Bootstrap, addition: Addition): IgnitionConfig {
  const { config, files, bootkube } = bootstrap;
  const offsets = checkAnchors(bootstrap);
  const taken = new Set<unknown>([...files, ...otherNodes(config)].map(({ path }) => path));
  const collisions = [...addition.files.map(({ path }) => path), recordPath].filter((path) => taken.has(path));
  if (collisions.length > 0) throw new UserError(...collisions.map((path) => problem("path-taken", { path })));

  const script = insertAtAnchors(bootkube.script, offsets, addition.insertions);
  const patched: FileEntry = {
    ...bootkube.entry,
    contents: replaceContents(bootkube.entry.contents ?? {}, Buffer.from(script, "utf8")),
  };
  const record: PayloadRecord = {
    ...addition.record,
    added: addition.files.map(({ path }) => path),
    addedSha256: digestOf(addition.files),
    bootkubeSha256: createHash("sha256").update(bootkube.script).digest("hex"),
    insertions: addition.insertions,
  };
  const added = [...addition.files, { path: recordPath, mode: 0o600, text: JSON.stringify(record) }];
  return {
    ...config,
    storage: {
      ...config.storage,
      files: [...files.map((file) => (file === bootkube.entry ? patched : file)), ...added.map(fileEntry)],
    },
  };
}

/** Ignition refuses a config in which a file, a directory and a link share a path. */
function otherNodes({ storage }: IgnitionConfig): { path: unknown }[] {
  const lists = [storage?.directories, storage?.links].filter((list): list is unknown[] => Array.isArray(list));
  return lists.flat().map((node) => ({ path: isObject(node) ? node.path : undefined }));
}

/** The entry of an added file in an Ignition config. */
export function fileEntry({ path, mode, text }: NodeFile): FileEntry {
  return { path, mode, overwrite: true, contents: encodeContents(text) };
}
