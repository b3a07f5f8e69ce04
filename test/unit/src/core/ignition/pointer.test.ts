import { describe, expect, it } from "vitest";
import { inspect } from "../../../../../src/core/bootstrap.ts";
import { serializeIgnition } from "../../../../../src/core/ignition/serialize.ts";
import { fixture } from "../../../../../src/core/sample/sample.ts";
import { problemsOf } from "../../../../support/problems.ts";
import { pointer, sha512, urls } from "../../../../support/pointer.ts";

const certificate = fixture("long-lived.crt");

describe.each(Object.entries(urls))("a pointer to %s", (scheme, url) => {
  const web = scheme.startsWith("http");

  it("contains the source, its sha512, and a timeout if the scheme has one", () => {
    expect(pointer({ url }).config).toEqual({
      ignition: {
        version: "3.2.0",
        config: { replace: { source: url, verification: { hash: `sha512-${sha512}` } } },
        ...(web && { timeouts: { httpTotal: 1800 } }),
      },
    });
  });

  it(web ? "takes a time-out" : "refuses a time-out, with the reason", () => {
    const act = () => pointer({ url, totalTimeoutSeconds: 90 });
    if (web) expect(act().config.ignition.timeouts).toEqual({ httpTotal: 90 });
    else
      expect(problemsOf(act)).toEqual([
        {
          code: "pointer-option-not-honoured",
          message: `A total timeout has no effect with ${scheme}: Ignition gives up there after the first refusal; remove the timeout.`,
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
      expect(act().config.ignition.proxy).toEqual({
        httpProxy: proxy.http,
        httpsProxy: proxy.https,
        noProxy: proxy.none,
      });
    else
      expect(problemsOf(act)).toEqual([
        {
          code: "pointer-option-not-honoured",
          message: `A proxy has no effect with ${scheme}: Ignition connects to the store directly; use a private endpoint of the store in the machine's network.`,
        },
      ]);
  });

  it(scheme === "https" ? "takes a CA bundle" : "refuses a CA bundle, with the reason", () => {
    const act = () => pointer({ url, caBundle: certificate });
    if (scheme === "https") {
      const source = `data:;base64,${Buffer.from(certificate).toString("base64")}`;
      expect(act().config.ignition.security).toEqual({ tls: { certificateAuthorities: [{ source }] } });
    } else
      expect(problemsOf(act)).toEqual([
        {
          code: "pointer-option-not-honoured",
          message: `A CA bundle has no effect with ${scheme}: ${scheme === "http" ? "http uses no TLS; remove the bundle" : "most releases of Ignition ignore it there; add the certificate to the machine's image"}.`,
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
        message: expect.stringMatching(
          / is not a valid payload URL, because it .*: use https:\/\/host\/path, /,
        ) as string,
      },
    ]);
    expect(problemsOf(() => pointer({ url }))[0]?.message.startsWith(JSON.stringify(url))).toBe(true);
  });

  it.each([
    ["payload.ign", "is not a complete URL"],
    ["https://", "is not a complete URL"],
    ["http://store.example.com/", "has no path to a file"],
    ["s3://bucket", "has no path to a file"],
  ])("says what is wrong with %j", (url, reason) => {
    expect(problemsOf(() => pointer({ url }))[0]?.message).toBe(
      `${JSON.stringify(url)} is not a valid payload URL, because it ${reason}: use https://host/path, s3://bucket/key or gs://bucket/object (http://host/path only on a network that you trust with every secret of the cluster).`,
    );
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

  it.each([0, -1, 1.5, NaN, Infinity, 1e300])("refuses a timeout of %d seconds", (totalTimeoutSeconds) => {
    expect(problemsOf(() => pointer({ url: urls.https, totalTimeoutSeconds }))).toEqual([
      {
        code: "pointer-option-invalid",
        message: `The total timeout is ${totalTimeoutSeconds}; expected a whole number of seconds above 0.`,
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
      "a file that contains a private key",
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

  it("reports all its errors at once", () => {
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
    const { text } = serializeIgnition(pointer({ url }).config);
    expect(text).toContain(secret);
    expect(JSON.stringify(inspect(text, "pointer.ign"))).not.toContain(secret);
  });
});
