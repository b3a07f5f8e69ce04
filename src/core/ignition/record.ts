import { createHash } from "node:crypto";
import type { Release } from "../releases.ts";
import type { Insertions } from "./bootkube.ts";
import { decodeContents } from "./contents.ts";
import { type FileEntry, type IgnitionConfig, isObject } from "./config.ts";
import { type NodeFile, nodeFolder } from "../node-file.ts";

/**
 * A file in every payload that records how it was built. `payload inspect` shows it, and `payload build` recognizes a
 * payload by it. It contains no secret.
 */
export const recordPath = `${nodeFolder}/record.json`;

/**
 * The version of konnectivity-bootstrap that last changed what a payload contains. Change it with the payload, and only
 * then: a new version that builds the same payload must build the same bytes, or deploying with it stores the payload
 * again and, with `replaceMachine: true`, replaces a running machine.
 */
export const payloadVersion = "0.3.0";

export interface PayloadRecord {
  /** The payload's version. */
  readonly version: string;
  readonly release: Release;
  readonly options: unknown;
  readonly added: readonly string[];
  /** sha256 over paths, modes and contents of those files. */
  readonly addedSha256: string;
  /** sha256 of bootkube.sh as openshift-install wrote it. */
  readonly bootkubeSha256: string;
  readonly insertions: Insertions;
}

/** One hash over all files, in their order. */
export function digestOf(files: readonly NodeFile[]): string {
  return createHash("sha256")
    .update(JSON.stringify(files.map(({ path, mode, text }) => [path, mode, text])))
    .digest("hex");
}

/** Whether a config has a record, whole or damaged: then it is a payload. */
export const isPayload = ({ storage }: IgnitionConfig) =>
  storage?.files?.some(({ path }) => path === recordPath) === true;

export function findRecord(files: readonly FileEntry[]): PayloadRecord | undefined {
  const file = files.find(({ path }) => path === recordPath);
  if (file === undefined) return undefined;
  try {
    const record: unknown = JSON.parse(decodeContents(file.contents).toString("utf8"));
    if (isObject(record) && /^[\w.+-]+$/.test(String(record.version)) && isObject(record.insertions))
      return record as unknown as PayloadRecord;
  } catch {
    // Damaged. Its path alone still shows that the config is a payload.
  }
  return undefined;
}
