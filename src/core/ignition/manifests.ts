import { parseAllDocuments } from "yaml";
import { type FileEntry, isObject } from "./config.ts";
import { decodeContents, UndecodableError } from "./contents.ts";

/** Where the installer puts the manifests that cluster-bootstrap creates in the cluster. */
const manifestPath = /^\/opt\/openshift\/(?:manifests|openshift)\/[^/]+\.(?:ya?ml|json)$/;

/** The objects in the manifests of a bootstrap.ign. */
export interface Manifests {
  readonly objects: readonly Record<string, unknown>[];
  /** Paths of manifests that are not YAML: cluster-bootstrap would not create them either. */
  readonly unreadable: readonly string[];
}

export function readManifests(entries: readonly FileEntry[]): Manifests {
  const read = entries
    .filter(({ path }) => manifestPath.test(path))
    .map((entry) => ({ path: entry.path, objects: objectsIn(entry) }));
  return {
    objects: read.flatMap(({ objects }) => objects ?? []),
    unreadable: read.filter(({ objects }) => objects === undefined).map(({ path }) => path),
  };
}

/** @returns undefined if it cannot be read */
function objectsIn({ contents }: FileEntry): Record<string, unknown>[] | undefined {
  try {
    // The parser would print warnings to stderr, with a part of the manifest.
    const documents = parseAllDocuments(decodeContents(contents).toString("utf8"), { logLevel: "error" });
    if ("empty" in documents) return [];
    if (documents.some(({ errors }) => errors.length > 0)) return undefined;
    return documents.map((document): unknown => document.toJS()).flatMap(itemsOf);
  } catch (error) {
    // The parser throws a ReferenceError for an alias without an anchor.
    if (error instanceof UndecodableError || error instanceof ReferenceError) return undefined;
    throw error;
  }
}

/** An object, or those of a list. */
function itemsOf(value: unknown): Record<string, unknown>[] {
  if (!isObject(value)) return [];
  return Array.isArray(value.items) ? value.items.filter(isObject) : [value];
}
