import type { FileEntry } from "../ignition/config.ts";
import { readProjectText } from "../../runtime/project-files.js";

/** A file of this folder. */
export const fixture = (name: string) => readProjectText(`src/core/sample/${name}`);

/** A file entry as openshift-install writes it: always base64, decimal mode, owned by root. */
export function fileEntry(path: string, text: string, mode: number): FileEntry {
  return {
    overwrite: true,
    path,
    user: { name: "root" },
    contents: { source: `data:text/plain;charset=utf-8;base64,${Buffer.from(text).toString("base64")}` },
    mode,
  };
}
