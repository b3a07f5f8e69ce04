import { join } from "node:path";
import { type Metadata, readMetadata } from "./metadata.ts";
import { isThere, readUserFile } from "../files/user-file.ts";

/** What openshift-install left in its folder. */
export interface InstallDir {
  /** Text of bootstrap.ign. */
  readonly bootstrapIgn: string;
  /** metadata.json. @default - not known, if that file is not there */
  readonly metadata?: Metadata;
}

export function readInstallDir(folder: string): InstallDir {
  return { bootstrapIgn: readBootstrapIgn(folder), metadata: metadataOf(folder) };
}

export function readBootstrapIgn(folder: string): string {
  const advice = 'give the folder in which "openshift-install create ignition-configs" ran';
  return readUserFile(bootstrapIgnOf(folder), advice);
}

export const bootstrapIgnOf = (folder: string) => join(folder, "bootstrap.ign");

/** @returns undefined if the folder has none */
export function metadataOf(folder: string): Metadata | undefined {
  const file = join(folder, "metadata.json");
  return isThere(file) ? readMetadata(file) : undefined;
}
