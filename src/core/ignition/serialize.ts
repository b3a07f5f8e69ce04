import { createHash } from "node:crypto";
import type { IgnitionConfig } from "./config.ts";

/** A document ready to be stored: the same input gives the same bytes, on every machine. */
export interface SerializedConfig {
  readonly text: string;
  readonly bytes: number;
  /** Hex digits, as `verification.hash` of a pointer wants them behind "sha512-". */
  readonly sha512: string;
}

export function serializeIgnition(document: IgnitionConfig): SerializedConfig {
  return withDigest(JSON.stringify(document));
}

export function withDigest(text: string): SerializedConfig {
  return { text, bytes: Buffer.byteLength(text), sha512: createHash("sha512").update(text).digest("hex") };
}
