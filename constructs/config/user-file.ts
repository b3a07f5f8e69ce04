import { readFileSync } from "node:fs";
import { InputError, problem } from "../problems.ts";

/** Reads a text file of the user's, or says in one sentence why not. */
export function readUserFile(file: string, advice: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new InputError(problem("file-unreadable", { file, reason: reasonOf(error), advice }));
  }
}

/** Why a file operation failed, in words. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known: Record<string, string> = {
    ENOENT: "it does not exist",
    EACCES: "permission denied",
    EPERM: "not permitted",
    EISDIR: "it is a folder",
    ENOTDIR: "a part of the path is not a folder",
    ENOSPC: "no space left",
    EROFS: "the file system is read-only",
    EEXIST: "something is in the way",
  };
  return known[code] ?? (code !== "" ? code : "unknown error");
}
