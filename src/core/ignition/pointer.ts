import { X509Certificate } from "node:crypto";
import { UserError, type Problem, problem, type Warning } from "../errors.ts";
import type { IgnitionConfig } from "./config.ts";

export interface PointerProps {
  /** Where the machine fetches the payload: https, http, s3 or gs. */
  readonly url: string;
  /** The payload's sha512 in hex. */
  readonly sha512: string;
  /** PEM certificates that the machine trusts for the fetch. @default - the image's own */
  readonly caBundle?: string;
  /** Proxies for the fetch. @default - none */
  readonly proxy?: { readonly http?: string; readonly https?: string; readonly none?: readonly string[] };
  /** Seconds for the whole fetch, retries included. @default 1800 for https and http */
  readonly totalTimeoutSeconds?: number;
}

export interface Pointer {
  readonly config: IgnitionConfig;
  readonly warnings: readonly Warning[];
}

/** Which settings of the pointer Ignition 2.14 to 2.26 honours, by the scheme of the source. */
const schemes = {
  "https:": { ca: true, proxy: true, timeout: true },
  "http:": { ca: false, proxy: true, timeout: true },
  "s3:": { ca: false, proxy: false, timeout: false },
  "gs:": { ca: false, proxy: false, timeout: false },
} as const;

/** Half an hour: longer than any boot, shorter than the 45 minutes that openshift-install waits. */
const defaultTotalTimeoutSeconds = 1800;

/** The small config for user data that makes the machine fetch the payload and check it. */
export function pointerTo(props: PointerProps): Pointer {
  const { url, sha512, caBundle, proxy, totalTimeoutSeconds } = props;
  const parsed = isPlainUrl(url) ? new URL(url) : undefined;
  const invalid = (reason: string) =>
    new UserError(problem("pointer-url-invalid", { found: JSON.stringify(withoutQuery(url)), reason }));
  if (parsed === undefined || parsed.host === "") throw invalid("is not a complete URL");
  if (parsed.pathname.length < 2) throw invalid("has no path to a file");
  const scheme = schemes[parsed.protocol as keyof typeof schemes] as (typeof schemes)[keyof typeof schemes] | undefined;
  if (scheme === undefined)
    throw new UserError(problem("pointer-scheme-unknown", { scheme: parsed.protocol.slice(0, -1) }));

  const problems: Problem[] = [];
  const notHonoured = (setting: string, reason: string) =>
    problems.push(problem("pointer-option-not-honoured", { setting, scheme: parsed.protocol.slice(0, -1), reason }));
  if (caBundle !== undefined && !scheme.ca)
    notHonoured(
      "A CA bundle",
      parsed.protocol === "http:"
        ? "http uses no TLS; remove the bundle"
        : "most releases of Ignition ignore it there; add the certificate to the machine's image",
    );
  if (proxy !== undefined && !scheme.proxy)
    notHonoured(
      "A proxy",
      "Ignition connects to the store directly; use a private endpoint of the store in the machine's network",
    );
  if (totalTimeoutSeconds !== undefined && !scheme.timeout)
    notHonoured("A total timeout", "Ignition gives up there after the first refusal; remove the timeout");
  if (caBundle !== undefined) problems.push(...caBundleProblems(caBundle));
  if (proxy !== undefined) problems.push(...proxyProblems(proxy));
  if (totalTimeoutSeconds !== undefined && !(Number.isSafeInteger(totalTimeoutSeconds) && totalTimeoutSeconds > 0))
    problems.push(
      problem("pointer-option-invalid", {
        setting: "The total timeout",
        found: String(totalTimeoutSeconds),
        expected: "a whole number of seconds above 0",
      }),
    );
  if (problems.length > 0) throw new UserError(...problems);

  return {
    config: {
      ignition: {
        version: "3.2.0",
        // With `replace` nothing of the pointer stays on the machine, not even the CA and the proxy.
        config: { replace: { source: url, verification: { hash: `sha512-${sha512}` } } },
        // Without it Ignition retries a wrong host name forever.
        ...(scheme.timeout && { timeouts: { httpTotal: totalTimeoutSeconds ?? defaultTotalTimeoutSeconds } }),
        ...(proxy !== undefined && {
          proxy: {
            ...(proxy.http !== undefined && { httpProxy: proxy.http }),
            ...(proxy.https !== undefined && { httpsProxy: proxy.https }),
            ...(proxy.none !== undefined && { noProxy: [...proxy.none] }),
          },
        }),
        ...(caBundle !== undefined && {
          security: { tls: { certificateAuthorities: [{ source: dataUrl(caBundle) }] } },
        }),
      },
    },
    warnings:
      parsed.protocol === "http:"
        ? [
            {
              code: "pointer-not-encrypted",
              message:
                "The payload is sent unencrypted (http), so anyone who can read the traffic of that network gets every secret of the cluster: use https, or a network that only the machine and the server share.",
            },
          ]
        : [],
  };
}

/** The query of a signed URL must never be shown, because it gives access to the payload. */
export function withoutQuery(url: string): string {
  return url
    .replace(/^(data:).*$/is, "$1…")
    .replace(/[?#].*$/s, "?…")
    .replace(/^([^/\\]*[/\\]*).*@/s, "$1…@");
}

/** A URL that Go accepts too: URL.canParse alone allows blanks, backslashes, missing slashes and a broken %. */
function isPlainUrl(url: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^\s\\]+$/i.test(url) && !/%(?![0-9a-f]{2})/i.test(url) && URL.canParse(url);
}

function* caBundleProblems(bundle: string): Generator<Problem> {
  const certificates = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const bad = (found: string) =>
    problem("pointer-option-invalid", { setting: "The CA bundle", found, expected: "one or more PEM certificates" });
  if (bundle.includes("PRIVATE KEY")) yield bad("a file that contains a private key");
  if (certificates.length === 0) yield bad("a file without a PEM certificate");
  for (const certificate of certificates) {
    try {
      new X509Certificate(certificate);
    } catch {
      yield bad("a file with a damaged certificate");
    }
  }
}

function* proxyProblems(proxy: NonNullable<PointerProps["proxy"]>): Generator<Problem> {
  for (const [setting, url] of [
    ["The http proxy", proxy.http],
    ["The https proxy", proxy.https],
  ] as const) {
    if (url !== undefined && !(isPlainUrl(url) && /^https?:$/.test(new URL(url).protocol)))
      yield problem("pointer-option-invalid", {
        setting,
        found: JSON.stringify(withoutQuery(url)),
        expected: "a URL like http://proxy.example.com:3128",
      });
  }
}

function dataUrl(text: string): string {
  return `data:;base64,${Buffer.from(text).toString("base64")}`;
}
