import { X509Certificate } from "node:crypto";
import type { Warning } from "../errors.ts";
import { decodeContents, UndecodableError } from "./contents.ts";
import type { FileEntry } from "./config.ts";

const certificatePath = /^\/opt\/openshift\/tls\/[^/]+\.crt$/;
const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Some certificates in a bootstrap.ign are valid for one day: a machine with an older one never comes up. */
export function expiryWarnings(files: readonly FileEntry[], now: Date): Warning[] {
  const expired = files
    .filter((file) => certificatePath.test(file.path))
    .flatMap((file) => certificatesOf(file).map((certificate) => ({ path: file.path, ends: certificate.validTo })))
    .map(({ path, ends }) => ({ path, ends: new Date(ends) }))
    .filter(({ ends }) => ends < now)
    .sort((a, b) => a.ends.getTime() - b.ends.getTime());
  const [first] = expired;
  if (first === undefined) return [];
  const count = expired.length === 1 ? "One certificate" : `${expired.length} certificates`;
  return [
    {
      code: "ignition-expired",
      message: `${count} in bootstrap.ign expired, the first (${first.path}) at ${first.ends.toISOString()}: the installation will fail; run "openshift-install create ignition-configs" again in a new folder.`,
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
