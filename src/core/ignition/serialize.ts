import { createHash } from "node:crypto";
import type { IgnitionConfig } from "./config.ts";

/** An Ignition config as it is stored: the same input gives the same bytes on every machine. */
export interface SerializedConfig {
  readonly text: string;
  readonly bytes: number;
  /** Hex digits, as they follow "sha512-" in a pointer's `verification.hash`. */
  readonly sha512: string;
}

export function serializeIgnition(config: IgnitionConfig): SerializedConfig {
  return withDigest(JSON.stringify(config));
}

export function withDigest(text: string): SerializedConfig {
  return { text, bytes: Buffer.byteLength(text), sha512: createHash("sha512").update(text).digest("hex") };
}
