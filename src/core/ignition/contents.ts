import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { gzipSync } from "fflate";
import type { Resource } from "./config.ts";

/** Far larger than any file of a bootstrap machine: stops a gzip bomb. */
const maxFileSize = 64 * 1024 * 1024;

/** Its message gives the reason and none of the content. */
export class UndecodableError extends Error {}

/** The bytes of an entry's `contents`: a data URL in base64 or percent-encoding, gzipped or not. */
export function decodeContents(contents: Resource | undefined): Buffer {
  const source = contents?.source;
  if (source === undefined || source === null || source === "") throw new UndecodableError("it has no contents.source");
  if (typeof source !== "string") throw new UndecodableError("its contents.source is not a string");
  const { encoding, data } = splitDataUrl(source);
  const raw = encoding === "base64" ? decodeBase64(data) : decodePercent(data);
  switch (contents?.compression ?? "") {
    case "":
      return raw;
    case "gzip":
      return gunzip(raw);
    default:
      throw new UndecodableError("its compression is neither gzip nor none");
  }
}

/** `contents` with other bytes in the same encoding, compression and kind of verification; other keys stay. */
export function replaceContents(contents: Resource, bytes: Buffer): Resource {
  const { header, encoding } = splitDataUrl(contents.source ?? "");
  const raw = contents.compression === "gzip" ? gzip(bytes) : bytes;
  const data = encoding === "base64" ? raw.toString("base64") : encodePercent(raw);
  const replaced: Resource = { ...contents, source: `${header},${data}` };
  const previous: unknown = contents.verification?.hash;
  if (previous !== undefined && previous !== null) {
    const algorithm = typeof previous === "string" && previous.startsWith("sha256-") ? "sha256" : "sha512";
    const hash = createHash(algorithm).update(bytes).digest("hex");
    replaced.verification = { ...contents.verification, hash: `${algorithm}-${hash}` };
  }
  return replaced;
}

/** `contents` for a file that we add: gzipped where that is smaller. */
export function encodeContents(text: string): Resource {
  const bytes = Buffer.from(text, "utf8");
  const gzipped = gzip(bytes);
  if (gzipped.length >= bytes.length) return { source: `data:;base64,${bytes.toString("base64")}` };
  return { compression: "gzip", source: `data:;base64,${gzipped.toString("base64")}` };
}

/** Not node:zlib: its output depends on the processor, and the payload's hash must not. */
function gzip(bytes: Buffer): Buffer {
  return Buffer.from(gzipSync(bytes, { level: 9, mtime: 0 }));
}

function gunzip(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxFileSize });
  } catch {
    throw new UndecodableError("its gzip data is invalid or truncated");
  }
}

function splitDataUrl(source: string): { header: string; encoding: "base64" | "percent"; data: string } {
  if (!source.startsWith("data:")) {
    const scheme = /^[a-z0-9+.-]{1,20}:/i.exec(source)?.[0] ?? "no scheme";
    throw new UndecodableError(`its source is not a data URL (${scheme})`);
  }
  const comma = source.indexOf(",");
  if (comma < 0) throw new UndecodableError("its data URL has no comma");
  const header = source.slice(0, comma);
  return { header, encoding: /;base64$/i.test(header) ? "base64" : "percent", data: source.slice(comma + 1) };
}

function decodeBase64(data: string): Buffer {
  // Buffer.from skips characters that are not base64; Ignition refuses them.
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data))
    throw new UndecodableError("its base64 is invalid");
  return Buffer.from(data, "base64");
}

function decodePercent(data: string): Buffer {
  if (/%(?![0-9a-fA-F]{2})/.test(data)) throw new UndecodableError("its percent-encoding is invalid");
  // Byte by byte, because a file need not be UTF-8.
  const latin1 = Buffer.from(data, "utf8").toString("latin1");
  return Buffer.from(
    latin1.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    "latin1",
  );
}

function encodePercent(bytes: Buffer): string {
  return bytes
    .toString("latin1")
    .replace(/[^A-Za-z0-9._~-]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}
