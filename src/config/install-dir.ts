import { join } from "node:path";
import { isThere, readUserFile } from "../files/user-file.ts";
import type { ConfigFormat } from "./config-format.ts";
import { type Metadata, readMetadata } from "./metadata.ts";

/** Files that openshift-install wrote to its folder. */
export interface InstallDir {
  /** Text of bootstrap.ign. */
  readonly bootstrapIgn: string;
  /** metadata.json. @default - the folder has none */
  readonly metadata?: Metadata;
}

export function readInstallDir(format: ConfigFormat, folder: string): InstallDir {
  return { bootstrapIgn: readBootstrapIgn(folder), metadata: metadataOf(format, folder) };
}

export function readBootstrapIgn(folder: string): string {
  const advice = 'use the folder in which "openshift-install create ignition-configs" ran';
  return readUserFile(bootstrapIgnOf(folder), advice);
}

export const bootstrapIgnOf = (folder: string) => join(folder, "bootstrap.ign");

/** @returns undefined if the folder has none */
export function metadataOf({ metadataSchema }: ConfigFormat, folder: string): Metadata | undefined {
  const file = join(folder, "metadata.json");
  return isThere(file) ? readMetadata(metadataSchema, file) : undefined;
}
