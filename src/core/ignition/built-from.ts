import { isDeepStrictEqual } from "node:util";
import { bootkubePath } from "./bootkube.ts";
import { decodeContents, UndecodableError } from "./contents.ts";
import type { FileEntry, IgnitionConfig } from "./config.ts";
import { isAsBuilt, withoutInsertions } from "./inspect.ts";
import { findRecord, isPayload, recordPath } from "./record.ts";

/** Whether a config is another one with a tunnel added, and nothing else changed in either since. */
export function isBuiltFrom(payload: IgnitionConfig, original: IgnitionConfig): boolean {
  const files = payload.storage?.files ?? [];
  const record = findRecord(files);
  const recorded: unknown = record?.added;
  if (record === undefined || !Array.isArray(recorded) || isPayload(original) || !isAsBuilt(files, record))
    return false;
  const ours = new Set([...record.added, recordPath]);
  const rest = files.filter(({ path }) => !ours.has(path));
  const before = original.storage?.files ?? [];
  return (
    isDeepStrictEqual(withoutFiles(payload), withoutFiles(original)) &&
    rest.length === before.length &&
    rest.every((file, index) => {
      const was = before[index];
      if (was === undefined || file.path !== bootkubePath) return isDeepStrictEqual(file, was);
      const script = textOf(file);
      return (
        script !== undefined &&
        withoutInsertions(script, record) === textOf(was) &&
        isDeepStrictEqual({ ...file, contents: undefined }, { ...was, contents: undefined })
      );
    })
  );
}

const withoutFiles = (config: IgnitionConfig) => ({ ...config, storage: { ...config.storage, files: undefined } });

function textOf({ contents }: FileEntry): string | undefined {
  try {
    return decodeContents(contents).toString("utf8");
  } catch (error) {
    if (error instanceof UndecodableError) return undefined;
    throw error;
  }
}
