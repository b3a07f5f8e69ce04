import { existsSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../payload/ignition.ts";
import { InputError, problem } from "../problems.ts";
import { readUserFile } from "./user-file.ts";

/** What openshift-install left in its folder. */
export interface InstallDir {
  /** Text of bootstrap.ign. */
  readonly bootstrapIgn: string;
  /** From metadata.json. @default - not known, if that file is not there */
  readonly cluster?: { readonly clusterName: string; readonly infraID: string };
}

export function readInstallDir(folder: string): InstallDir {
  const bootstrapIgn = readUserFile(
    join(folder, "bootstrap.ign"),
    'give the folder in which "openshift-install create ignition-configs" ran',
  );
  const metadata = join(folder, "metadata.json");
  return existsSync(metadata) ? { bootstrapIgn, cluster: readMetadata(metadata) } : { bootstrapIgn };
}

function readMetadata(file: string): NonNullable<InstallDir["cluster"]> {
  const invalid = (detail: string) => new InputError(problem("metadata-invalid", { file, detail }));
  let value: unknown;
  try {
    value = JSON.parse(readUserFile(file, "check its permissions"));
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw invalid("it is not JSON");
  }
  const { clusterName, infraID } = isObject(value) ? value : {};
  if (typeof clusterName !== "string" || typeof infraID !== "string")
    throw invalid("clusterName or infraID is missing");
  return { clusterName, infraID };
}
