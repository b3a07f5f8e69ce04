import { gunzipSync } from "node:zlib";
import { extract } from "tar-stream";

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
