import { existsSync } from "node:fs";
import { join } from "node:path";
import { hasResources, stateFileOf } from "../files/terraform-state.ts";
import { writeUserFiles } from "../files/user-file.ts";
import type { ConfigFormat } from "./config-format.ts";
import { type Metadata, readMetadata } from "./metadata.ts";

/**
 * The name of the file in the state folder. It contains what is read of metadata.json (names, region and project, no
 * secret), so that a destroy works after the install folder was deleted.
 */
export const savedMetadataFile = "cluster.json";

const fileIn = (stateFolder: string) => join(stateFolder, savedMetadataFile);

export function saveMetadata(stateFolder: string, metadata: Metadata): void {
  writeUserFiles([{ file: fileIn(stateFolder), text: `${JSON.stringify(metadata, undefined, 2)}\n` }]);
}

/** @returns undefined if nothing was saved there */
export function readSavedMetadata({ metadataSchema }: ConfigFormat, stateFolder: string): Metadata | undefined {
  const file = fileIn(stateFolder);
  return existsSync(file) ? readMetadata(metadataSchema, file) : undefined;
}

/** Names of the clouds whose stacks in this folder still have resources. */
export function deployedIn({ clouds }: ConfigFormat, stateFolder: string): string[] {
  return clouds.map(({ name }) => name).filter((name) => hasResources(stateFileOf(stateFolder, `${name}-bootstrap`)));
}
