import { posix } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";

export interface ArchiveProps {
  /** Texts by path below the folder; a path has at most one folder of its own. */
  readonly files: ReadonlyMap<string, string>;
  /** The archive's one top-level folder. */
  readonly folder: string;
  /** Modification time of everything in it. */
  readonly time: Date;
}

/** A gzipped tar archive whose contents are readable for their owner only. Made in memory: nothing is left behind. */
export async function archiveOf({ files, folder, time }: ArchiveProps): Promise<Buffer> {
  const tar = pack();
  const bytes = buffer(tar);
  const folders = new Set<string>();
  for (const [name, text] of files) {
    const path = posix.join(folder, name);
    const parents = [`${folder}/`, `${posix.dirname(path)}/`].filter((parent) => !folders.has(parent));
    for (const parent of new Set(parents)) {
      tar.entry({ name: parent, type: "directory", mode: 0o700, mtime: time });
      folders.add(parent);
    }
    tar.entry({ name: path, mode: 0o600, mtime: time }, text);
  }
  tar.finalize();
  return gzipSync(await bytes);
}
