import { createHash } from "node:crypto";
import { InputError, problem } from "../problems.ts";
import type { IgnitionDocument } from "./ignition.ts";

/** A document ready to be stored: the same input gives the same bytes, on every machine. */
export interface WrittenDocument {
  readonly text: string;
  readonly bytes: number;
  /** Hex digits, as `verification.hash` of a pointer wants them behind "sha512-". */
  readonly sha512: string;
}

export function writeDocument(document: IgnitionDocument): WrittenDocument {
  return writeText(toJson(document));
}

/** What JSON.parse reads, JSON.stringify need not be able to write: it goes as deep as the stack. */
function toJson(document: IgnitionDocument): string {
  try {
    return JSON.stringify(document);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const found = "nested thousands of levels deep";
    throw new InputError(
      problem("document-malformed", { where: "a key that Ignition does not know", expected: "little", found }),
    );
  }
}

export function writeText(text: string): WrittenDocument {
  return { text, bytes: Buffer.byteLength(text), sha512: createHash("sha512").update(text).digest("hex") };
}
