import { existsSync, readFileSync } from "node:fs";
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

/** @returns the file, unless it already has this content */
export function saveMetadata(stateFolder: string, metadata: Metadata): string | undefined {
  const [file, text] = [fileIn(stateFolder), `${JSON.stringify(metadata, undefined, 2)}\n`];
  if (existsSync(file) && readFileSync(file, "utf8") === text) return undefined;
  writeUserFiles([{ file, text }]);
  return file;
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
