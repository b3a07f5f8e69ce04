import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inspect } from "../../../../../src/core/bootstrap.ts";
import { type PointerProps, pointerTo } from "../../../../../src/core/ignition/pointer.ts";
import { serializeIgnition, withDigest } from "../../../../../src/core/ignition/serialize.ts";
import { fixture } from "../../../../../src/core/sample/sample.ts";
import { problemsOf } from "../../../../support/problems.ts";

const { sha512 } = withDigest("a payload");
const certificate = fixture("long-lived.crt");
const pointer = (props: Omit<PointerProps, "sha512">) => pointerTo({ sha512, ...props });
const urls = {
  https: "https://store.example.com/cluster/payload.ign",
  http: "http://store.example.com/cluster/payload.ign",
  s3: "s3://bucket/cluster/payload.ign",
  gs: "gs://bucket/cluster/payload.ign",
};

/** Real Ignition's verdict: exit code and all that it says. */
function ignitionValidate(props: Omit<PointerProps, "sha512">): [number | null, string] {
  const folder = mkdtempSync(join(tmpdir(), "pointer-"));
  try {
    const file = join(folder, "pointer.ign");
    writeFileSync(file, serializeIgnition(pointer(props).document).text);
    const { status, stdout, stderr } = spawnSync("ignition-validate", [file], { encoding: "utf8" });
    return [status, stdout + stderr];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.each(Object.entries(urls))("a pointer to %s", (scheme, url) => {
  const web = scheme.startsWith("http");

  it("names the source, its sha512, and a time-out where there is one", () => {
    expect(pointer({ url }).document).toEqual({
      ignition: {
        version: "3.2.0",
        config: { replace: { source: url, verification: { hash: `sha512-${sha512}` } } },
        ...(web && { timeouts: { httpTotal: 1800 } }),
      },
    });
  });

  it("is fine with the real Ignition, which has nothing to say about it", () => {
    expect(ignitionValidate({ url })).toEqual([0, ""]);
  });

  it(web ? "takes a time-out" : "refuses a time-out, with the reason", () => {
    const act = () => pointer({ url, totalTimeoutSeconds: 90 });
    if (web) expect(act().document.ignition.timeouts).toEqual({ httpTotal: 90 });
    else
      expect(problemsOf(act)).toEqual([
        {
          code: "pointer-option-not-honoured",
          message: `A total time-out has no effect for a ${scheme} source: Ignition gives up by itself there, after the first refusal.`,
        },
      ]);
  });

  it(web ? "takes a proxy" : "refuses a proxy, with the reason", () => {
    const proxy = {
      http: "http://p.example.com:3128",
      https: "https://p.example.com:3129",
      none: ["a.example.com", ".b"],
    };
    const act = () => pointer({ url, proxy });
    if (web)
      expect(act().document.ignition.proxy).toEqual({
        httpProxy: proxy.http,
        httpsProxy: proxy.https,
        noProxy: proxy.none,
      });
    else
      expect(problemsOf(act)).toEqual([
        {
          code: "pointer-option-not-honoured",
          message: `A proxy has no effect for a ${scheme} source: Ignition fetches it directly; give the network a private endpoint for the store.`,
        },
      ]);
  });

  it(scheme === "https" ? "takes a CA bundle" : "refuses a CA bundle, with the reason", () => {
    const act = () => pointer({ url, caBundle: certificate });
    if (scheme === "https") {
      const source = `data:;base64,${Buffer.from(certificate).toString("base64")}`;
      expect(act().document.ignition.security).toEqual({ tls: { certificateAuthorities: [{ source }] } });
    } else
      expect(problemsOf(act)).toEqual([
        {
          code: "pointer-option-not-honoured",
          message: `A CA bundle has no effect for a ${scheme} source: ${scheme === "http" ? "there is no TLS" : "Ignition of most releases does not use it there; put the certificate into the image"}.`,
        },
      ]);
  });

  it(scheme === "http" ? "warns that everyone can read along" : "warns of nothing", () => {
    expect(pointer({ url }).warnings.map(({ code }) => code)).toEqual(
      scheme === "http" ? ["pointer-not-encrypted"] : [],
    );
  });
});

describe("a pointer", () => {
  it.each<readonly [string, Omit<PointerProps, "sha512">]>([
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
  ])("with %s is fine with the real Ignition", (_, props) => {
    expect(ignitionValidate(props)).toEqual([0, ""]);
  });

  it("to an https source by a plain http proxy says what Ignition says: that is not encrypted", () => {
    const props = { url: urls.https, proxy: { https: "http://p.example.com:3128" } };
    expect(ignitionValidate(props)).toEqual([
      0,
      expect.stringMatching(/^warning .*httpsProxy.*insecure plaintext HTTP proxy/),
    ]);
  });

  it.each([
    "",
    "payload.ign",
    "/srv/payload.ign",
    "https://",
    "https:///payload.ign",
    "https://store.example.com",
    "https://store.example.com/",
    "https://store.example.com:99999/p",
    "s3://bucket",
    "s3://bucket/",
    "gs:///object",
    "arn:aws:s3:::bucket/key",
  ])("cannot name %j", (url) => {
    expect(problemsOf(() => pointer({ url }))).toEqual([
      {
        code: "pointer-url-invalid",
        message: `${JSON.stringify(url)} is not a URL that a pointer can name: give https://…, s3://bucket/key or gs://bucket/object.`,
      },
    ]);
  });

  it.each(["ftp", "tftp", "file", "oem"])("cannot be fetched by %s", (scheme) => {
    const [problem] = problemsOf(() => pointer({ url: `${scheme}://host/payload.ign` }));
    expect(problem?.code).toBe("pointer-scheme-unknown");
    expect(problem?.message).toContain(`"${scheme}"`);
  });

  // A browser's idea of a URL is wider than Ignition's.
  it.each([
    " https://store.example.com/p",
    "https://store.example.com/p ",
    "https://store.example.com/p\n",
    "https://store.example.com/a%zz",
    "https://store.example.com/a b",
    "https:\\\\store.example.com\\p",
    "https:store.example.com/p",
    "https:/store.example.com/p",
  ])("refuses %j, which Ignition cannot fetch", (url) => {
    expect(problemsOf(() => pointer({ url })).map(({ code }) => code)).toEqual(["pointer-url-invalid"]);
  });

  it.each([0, -1, 1.5, NaN, Infinity, 1e300])("refuses a time-out of %d seconds", (totalTimeoutSeconds) => {
    expect(problemsOf(() => pointer({ url: urls.https, totalTimeoutSeconds }))).toEqual([
      {
        code: "pointer-option-invalid",
        message: `The total time-out is ${totalTimeoutSeconds}; expected whole seconds above 0.`,
      },
    ]);
  });

  it.each([
    ["nothing", "", "a file without a PEM certificate"],
    ["text", "hello\n", "a file without a PEM certificate"],
    ["half a certificate", certificate.slice(0, 200), "a file without a PEM certificate"],
    ["a damaged certificate", certificate.replace("MII", "AAA"), "a file with a damaged certificate"],
    [
      "a private key beside it",
      certificate + ["-----BEGIN PRIVATE", "KEY-----\nMARKER\n-----END PRIVATE", "KEY-----\n"].join(" "),
      "a file with a private key in it",
    ],
  ])("refuses a CA bundle with %s", (_, caBundle, found) => {
    expect(problemsOf(() => pointer({ url: urls.https, caBundle }))).toEqual([
      { code: "pointer-option-invalid", message: `The CA bundle is ${found}; expected one or more PEM certificates.` },
    ]);
  });

  it.each(["p.example.com:3128", "socks5://p.example.com", "", " http://p.example.com"])(
    "refuses the proxy %j",
    (proxy) => {
      expect(problemsOf(() => pointer({ url: urls.https, proxy: { http: proxy, https: proxy } }))).toEqual(
        ["http", "https"].map((kind) => ({
          code: "pointer-option-invalid",
          message: `The ${kind} proxy is ${JSON.stringify(proxy)}; expected a URL like http://proxy.example.com:3128.`,
        })),
      );
    },
  );

  it("says all that is wrong with it together", () => {
    const props = { url: urls.s3, caBundle: "x", proxy: { http: "x" }, totalTimeoutSeconds: 0 };
    expect(problemsOf(() => pointer(props)).map(({ code }) => code)).toEqual([
      ...Array<string>(3).fill("pointer-option-not-honoured"),
      ...Array<string>(3).fill("pointer-option-invalid"),
    ]);
  });
});

describe("a secret in a URL", () => {
  const secret = "MARKER";

  it.each([
    `https://store.example.com?sig=${secret}`,
    `https://store.example.com/#${secret}`,
    `https://user:${secret}@store.example.com/`,
    `https://${secret}@store.example.com/`,
    `https://user:x@${secret}@store.example.com/`,
    `https:\\\\user:${secret}@store.example.com\\`,
    `ftp://user:${secret}@host/p?sig=${secret}`,
    `no url?sig=${secret}`,
    `?${secret}\n${secret}`,
  ])("is not in the error: %j", (url) => {
    const problems = problemsOf(() => pointer({ url }));
    expect(problems).toHaveLength(1);
    for (const { message } of problems) expect(message).not.toContain(secret);
  });

  it.each([`socks5://user:${secret}@proxy`, `ftp://user:x@${secret}@proxy`])(
    "is not in the error about the proxy %j",
    (http) => {
      const problems = problemsOf(() => pointer({ url: urls.https, proxy: { http } }));
      expect(problems).toHaveLength(1);
      for (const { message } of problems) expect(message).not.toContain(secret);
    },
  );

  it.each([
    `https://store.example.com/p?sig=${secret}`,
    `https://user:${secret}@store.example.com/p#${secret}`,
    `https://user:x@${secret}@store.example.com/p`,
  ])("is in the pointer, but not in what inspect shows: %j", (url) => {
    const { text } = serializeIgnition(pointer({ url }).document);
    expect(text).toContain(secret);
    expect(JSON.stringify(inspect(text, "pointer.ign"))).not.toContain(secret);
  });
});
