import { X509Certificate } from "node:crypto";
import type { Warning } from "../errors.ts";
import { decodeContents, UndecodableError } from "./contents.ts";
import type { FileEntry } from "./config.ts";

const certificatePath = /^\/opt\/openshift\/tls\/[^/]+\.crt$/;
const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** A certificate in an Ignition config, and when it ends. */
export interface CertificateEnd {
  readonly path: string;
  readonly ends: Date;
}

/** The certificates that end before a time, the first to end first. */
export function certificatesEndingBefore(
  files: readonly FileEntry[],
  time: Date,
  isCertificate = /\.crt$/,
): CertificateEnd[] {
  return files
    .filter((file) => isCertificate.test(file.path))
    .flatMap((file) => certificatesOf(file).map(({ validTo }) => ({ path: file.path, ends: new Date(validTo) })))
    .filter(({ ends }) => ends < time)
    .sort((a, b) => a.ends.getTime() - b.ends.getTime());
}

/** Some certificates in a bootstrap.ign are valid for one day: a machine with an older one never comes up. */
export function expiryWarnings(files: readonly FileEntry[], now: Date): Warning[] {
  const expired = certificatesEndingBefore(files, now, certificatePath);
  const [first] = expired;
  if (first === undefined) return [];
  const what = expired.length === 1 ? "an expired certificate" : `${expired.length} expired certificates`;
  return [
    {
      code: "ignition-expired",
      message: `bootstrap.ign contains ${what} (${expired.length === 1 ? "" : "first "}${first.path}, ${first.ends.toISOString()}), so the installation will fail: run "openshift-install create ignition-configs" again in a new folder.`,
    },
  ];
}

function certificatesOf(file: FileEntry): X509Certificate[] {
  try {
    const text = decodeContents(file.contents).toString("latin1");
    return [...text.matchAll(pem)].map(([certificate]) => new X509Certificate(certificate));
  } catch (error) {
    // Only the expiry is checked here: a file that is no certificate stays in the payload as it is.
    if (error instanceof UndecodableError || (error instanceof Error && "code" in error)) return [];
    throw error;
  }
}
