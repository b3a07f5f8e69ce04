import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Metadata, readMetadata } from "./metadata.ts";
import { type Platform, platforms } from "./platform.ts";
import { hasResources, stateFileOf } from "../files/terraform-state.ts";
import { writeUserFiles } from "../files/user-file.ts";

/**
 * Destroying must work when the install folder is gone. What metadata.json said is kept beside the local state for that:
 * names, region and project, no secret.
 */
const fileIn = (stateFolder: string) => join(stateFolder, "cluster.json");

export function saveMetadata(stateFolder: string, metadata: Metadata): void {
  writeUserFiles([{ file: fileIn(stateFolder), text: `${JSON.stringify(metadata, undefined, 2)}\n` }]);
}

export function readSavedMetadata(stateFolder: string): Metadata | undefined {
  const file = fileIn(stateFolder);
  return existsSync(file) ? readMetadata(file) : undefined;
}

/** The clouds whose stacks in this folder still have resources. */
export function deployedIn(stateFolder: string): Platform[] {
  return platforms.filter((platform) => hasResources(stateFileOf(stateFolder, `${platform}-bootstrap`)));
}
