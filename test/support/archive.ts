import { gunzipSync } from "node:zlib";
import { extract } from "tar-stream";
import { archiveOf } from "../../src/cluster/archive.ts";

/** What is hard for a tar archive: long names, and text that is longer in bytes. */
export const archivedFiles: ReadonlyMap<string, string> = new Map([
  ["README", "read me\n"],
  [`${"n".repeat(100)}/${"s".repeat(100)}.txt`, "long\n"],
  ["node-0/log.txt", "ä → 😀\n".repeat(100_000)],
]);

export const sampleArchive = () =>
  archiveOf({ files: archivedFiles, folder: "gathered", time: new Date("2026-11-18T12:00:00Z") });

/** The texts in a gzipped tar archive, by path; a folder's path ends with a slash. */
export async function entriesOf(archive: Uint8Array): Promise<Map<string, string>> {
  const reader = extract();
  reader.end(gunzipSync(archive));
  const entries = new Map<string, string>();
  for await (const entry of reader) {
    const parts: Uint8Array[] = [];
    for await (const part of entry) parts.push(part as Uint8Array);
    entries.set(entry.header.name, Buffer.concat(parts).toString());
  }
  return entries;
}
