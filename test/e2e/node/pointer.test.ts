import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { serializeIgnition } from "../../../src/core/ignition/serialize.ts";
import { fixture } from "../../../src/core/sample/sample.ts";
import { pointer, type PointerOptions, urls } from "../../support/pointer.ts";

const certificate = fixture("long-lived.crt");

/** Real Ignition's verdict: exit code and all that it says. */
function ignitionValidate(props: PointerOptions): [number | null, string] {
  const folder = mkdtempSync(join(tmpdir(), "pointer-"));
  try {
    const file = join(folder, "pointer.ign");
    writeFileSync(file, serializeIgnition(pointer(props).config).text);
    const { status, stdout, stderr } = spawnSync("ignition-validate", [file], { encoding: "utf8" });
    return [status, stdout + stderr];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("a pointer", () => {
  it.each(Object.entries(urls))("to %s is valid for the real Ignition, without a warning", (_, url) => {
    expect(ignitionValidate({ url })).toEqual([0, ""]);
  });

  it.each<readonly [string, PointerOptions]>([
    ["a query", { url: "https://store.example.com/p?sv=2024&sig=a%2Bb%3D&se=2026-11-16T00%3A00%3A00Z" }],
    ["a port", { url: "https://store.example.com:8443/p" }],
    ["an IPv4 address", { url: "https://192.0.2.1/p" }],
    ["an IPv6 address", { url: "https://[2001:db8::1]:8443/p" }],
    ["a version of an S3 object", { url: "s3://bucket/key?versionId=3" }],
    ["a time-out", { url: urls.https, totalTimeoutSeconds: 1 }],
    ["an http proxy", { url: urls.https, proxy: { http: "http://p.example.com:3128" } }],
    ["an https proxy", { url: urls.https, proxy: { https: "https://p.example.com:3128" } }],
    ["exceptions from a proxy", { url: urls.https, proxy: { https: "https://p.example.com", none: ["x", ".y"] } }],
    ["a CA bundle", { url: urls.https, caBundle: certificate }],
    ["a CA bundle of two", { url: urls.https, caBundle: `# one\n${certificate}# two\n${fixture("one-day.crt")}` }],
  ])("with %s is valid for the real Ignition", (_, props) => {
    expect(ignitionValidate(props)).toEqual([0, ""]);
  });

  it("to an https source by a plain http proxy says what Ignition says: that is not encrypted", () => {
    const props = { url: urls.https, proxy: { https: "http://p.example.com:3128" } };
    expect(ignitionValidate(props)).toEqual([
      0,
      expect.stringMatching(/^warning .*httpsProxy.*insecure plaintext HTTP proxy/),
    ]);
  });
});
