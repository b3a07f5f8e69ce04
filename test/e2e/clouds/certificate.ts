import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What a server shows, and what its clients trust: the certificate signs itself. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
  /** For SSL_CERT_FILE and the like. */
  readonly file: string;
  readonly keyFile: string;
}

/** A certificate for these names, in this folder. It never leaves the machine and lives for a day. */
export function certificateFor(names: readonly string[], folder: string): Certificate {
  const file = join(folder, "certificate.pem");
  const keyFile = join(folder, "key.pem");
  const { status, stderr } = spawnSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=a cloud's fake"],
      ...["-addext", `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`],
      ...["-keyout", keyFile, "-out", file],
    ],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`openssl makes no certificate: ${stderr}`);
  return { certificate: readFileSync(file, "utf8"), key: readFileSync(keyFile, "utf8"), file, keyFile };
}
