import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import {
  decodeContents,
  encodeContents,
  replaceContents,
  UndecodableError,
} from "../../../../../src/core/ignition/contents.ts";
import type { Resource } from "../../../../../src/core/ignition/config.ts";

const text = "Grüße, 50% of #1 & more\n";
const bytes = Buffer.from(text);
const notUtf8 = Buffer.from([0x00, 0x80, 0xff, 0xfe, 0x25, 0x0a]);
const base64 = (content: Buffer) => content.toString("base64");
const percent = (content: Buffer) => [...content].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const hashOf = (algorithm: string, content: Buffer) =>
  `${algorithm}-${createHash(algorithm).update(content).digest("hex")}`;

describe("decodeContents", () => {
  const readable: Record<string, readonly [Resource, Buffer]> = {
    "base64, as openshift-install writes it": [
      { source: `data:text/plain;charset=utf-8;base64,${base64(bytes)}` },
      bytes,
    ],
    "base64 without a media type": [{ source: `data:;base64,${base64(bytes)}` }, bytes],
    "base64 of bytes that are not UTF-8": [{ source: `data:;base64,${base64(notUtf8)}` }, notUtf8],
    "base64 of nothing": [{ source: "data:;base64," }, Buffer.alloc(0)],
    "percent-encoding": [{ source: `data:,${encodeURIComponent(text)}` }, bytes],
    "percent-encoding in lower case": [{ source: `data:,${percent(bytes)}` }, bytes],
    "percent-encoding of bytes that are not UTF-8": [{ source: `data:,${percent(notUtf8)}` }, notUtf8],
    "characters that nobody encoded": [{ source: "data:,Grüße+%0A" }, Buffer.from("Grüße+\n")],
    "a comma in the data": [{ source: "data:,a,b" }, Buffer.from("a,b")],
    "gzip in base64": [{ compression: "gzip", source: `data:;base64,${base64(gzipSync(notUtf8))}` }, notUtf8],
    "gzip in percent-encoding": [{ compression: "gzip", source: `data:,${percent(gzipSync(bytes))}` }, bytes],
    "compression that is empty": [{ compression: "", source: "data:,x" }, Buffer.from("x")],
    "compression that is null": [{ compression: null, source: "data:,x" }, Buffer.from("x")],
  };
  it.each(Object.entries(readable))("reads %s", (_, [contents, expected]) => {
    expect(decodeContents(contents)).toEqual(expected);
  });

  const gzipped = gzipSync(bytes);
  const broken: Record<string, readonly [Resource | undefined, RegExp]> = {
    "no contents": [undefined, /no contents\.source/],
    "no source": [{}, /no contents\.source/],
    "a source that is null": [{ source: null }, /no contents\.source/],
    "an empty source": [{ source: "" }, /no contents\.source/],
    "base64 that is cut off": [{ source: "data:;base64,QUJDR" }, /base64 is invalid/],
    "base64 with a foreign character": [{ source: "data:;base64,QU!D" }, /base64 is invalid/],
    "base64 with padding inside": [{ source: "data:;base64,QQ==QUJD" }, /base64 is invalid/],
    "percent-encoding that is cut off": [{ source: "data:,abc%4" }, /percent-encoding is invalid/],
    "percent-encoding with foreign digits": [{ source: "data:,%zz" }, /percent-encoding is invalid/],
    "gzip that is none": [{ compression: "gzip", source: "data:,hello" }, /gzip data is invalid/],
    "gzip that is cut off": [
      { compression: "gzip", source: `data:;base64,${base64(gzipped.subarray(0, gzipped.length - 6))}` },
      /gzip data is invalid or truncated/,
    ],
    "an unknown compression": [{ compression: "xz", source: "data:,x" }, /neither gzip nor none/],
    "a data URL without a comma": [{ source: "data:;base64" }, /no comma/],
    "an https source": [{ source: "https://example.com/secret-path" }, /not a data URL \(https:\)/],
    "an s3 source": [{ source: "s3://bucket/secret-path" }, /not a data URL \(s3:\)/],
    "a source without a scheme": [{ source: "/secret-path" }, /not a data URL \(no scheme\)/],
  };
  it.each(Object.entries(broken))("refuses %s", (_, [contents, reason]) => {
    expect(() => decodeContents(contents)).toThrow(UndecodableError);
    expect(() => decodeContents(contents)).toThrow(reason);
    // The reason never has any of the content in it.
    expect(() => decodeContents(contents)).not.toThrow(/secret-path|QUJD|hello/);
  });

  // The config is parsed JSON: nothing guarantees the types of its values.
  it.each([[5], [true], [{}], [["data:,x"]]])("refuses a source that is %j instead of a text", (source) => {
    expect(() => decodeContents({ source } as unknown as Resource)).toThrow(UndecodableError);
  });

  it("refuses a gzip bomb without unpacking it", () => {
    const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024), { level: 1 });
    expect(() => decodeContents({ compression: "gzip", source: `data:;base64,${base64(bomb)}` })).toThrow(
      UndecodableError,
    );
  });
});

describe("replaceContents", () => {
  const originals: Record<string, Resource> = {
    base64: { source: `data:text/plain;charset=utf-8;base64,${base64(bytes)}` },
    "base64 written in capitals": { source: `data:text/x-sh;BASE64,${base64(bytes)}` },
    percent: { source: `data:text/x-sh;charset=utf-8,${encodeURIComponent(text)}` },
    "gzip in base64": { compression: "gzip", source: `data:application/gzip;base64,${base64(gzipSync(bytes))}` },
    "gzip in percent-encoding": { compression: "gzip", source: `data:,${percent(gzipSync(bytes))}` },
  };

  describe.each(Object.entries(originals))("of %s", (_, original) => {
    it.each([
      ["text", Buffer.from("other text\n")],
      ["bytes that are not UTF-8", notUtf8],
      ["nothing", Buffer.alloc(0)],
    ])("gives back %s", (_name, replacement) => {
      expect(decodeContents(replaceContents(original, replacement))).toEqual(replacement);
    });

    it("keeps header, compression and every other key, in their order", () => {
      const before: Resource = { zebra: [1], ...original, httpHeaders: [{ name: "a", value: "b" }], alpha: null };
      const after = replaceContents(before, Buffer.from("other"));
      const header = (contents: Resource) => contents.source?.split(",", 1)[0];
      expect(header(after)).toBe(header(before));
      expect(Object.keys(after)).toEqual(Object.keys(before));
      expect({ ...after, source: "" }).toEqual({ ...before, source: "" });
    });

    it("does not touch the original", () => {
      const before = structuredClone(original);
      replaceContents(original, Buffer.from("other"));
      expect(original).toEqual(before);
    });

    it("needs no verification and adds none", () => {
      expect(replaceContents(original, bytes)).not.toHaveProperty("verification");
    });
  });

  it.each(["sha512", "sha256"])("updates a %s of the bytes that are written to disk", (algorithm) => {
    const replacement = Buffer.from("other");
    for (const original of Object.values(originals)) {
      const verification = { more: "kept", hash: hashOf(algorithm, bytes) };
      const after = replaceContents({ ...original, verification }, replacement);
      expect(after.verification).toEqual({ more: "kept", hash: hashOf(algorithm, replacement) });
    }
  });

  it.each([{}, { hash: null }])("leaves the verification %j alone", (verification) => {
    expect(replaceContents({ source: "data:,x", verification }, bytes).verification).toEqual(verification);
  });
});

describe("encodeContents", () => {
  const long = "the same line, many times\n".repeat(200);

  it("gzips what is smaller when gzipped", () => {
    const contents = encodeContents(long);
    expect(contents.compression).toBe("gzip");
    expect(contents.source?.length).toBeLessThan(long.length / 10);
    expect(decodeContents(contents).toString()).toBe(long);
  });

  it.each(["", "short\n", "Grüße\n"])("leaves %j as it is", (short) => {
    const contents = encodeContents(short);
    expect(contents).not.toHaveProperty("compression");
    expect(decodeContents(contents).toString()).toBe(short);
  });

  it("writes gzip that does not depend on the clock, the system or the processor", () => {
    const { source = "" } = encodeContents(long);
    const raw = Buffer.from(source?.split(",")[1] ?? "", "base64");
    expect(gunzipSync(raw).toString()).toBe(long);
    expect(raw.readUInt32LE(4), "mtime").toBe(0);
    // What the library of package-lock.json writes; another value here changes every payload's hash.
    expect(createHash("sha256").update(raw).digest("hex")).toBe(
      "8d8d89a33b3f440e18735e6227a2f7fbfafb67604a53b25be59e03680d1e0805",
    );
    expect(encodeContents(long)).toEqual(encodeContents(long));
  });
});
