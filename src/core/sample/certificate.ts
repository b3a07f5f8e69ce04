import { type KeyObject, randomBytes, sign } from "node:crypto";

/** Who a certificate is for, who signs it, and how long it is valid. */
export interface CertificateProps {
  readonly subject: string;
  /** An elliptic-curve key. */
  readonly publicKey: KeyObject;
  readonly issuer: { readonly name: string; readonly privateKey: KeyObject };
  readonly isCa: boolean;
  readonly from: Date;
  readonly days: number;
}

/**
 * An X.509 certificate in PEM, signed with ECDSA and SHA-256. Node.js reads certificates but creates none, and an example
 * must need no other program.
 */
export function issueCertificate(props: CertificateProps): string {
  const { subject, publicKey, issuer, isCa, from, days } = props;
  const until = new Date(from.getTime() + days * 24 * 60 * 60 * 1000);
  const algorithm = sequence(oid.ecdsaWithSha256);
  const toBeSigned = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    // Positive, and never the same twice.
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    commonName(issuer.name),
    sequence(time(from), time(until)),
    commonName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...(isCa ? caExtensions : []), keyUsage(isCa))),
  );
  const signature = sign("sha256", toBeSigned, issuer.privateKey);
  const der = sequence(toBeSigned, algorithm, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

/** One value of DER: its tag, its length and its content. */
function tagged(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.concat(content);
  const length = bytes.length < 0x80 ? [bytes.length] : [0x82, bytes.length >> 8, bytes.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), bytes]);
}

const sequence = (...content: readonly Uint8Array[]) => tagged(0x30, ...content);
const integer = (bytes: Uint8Array) => tagged(0x02, bytes);
const octets = (content: Uint8Array) => tagged(0x04, content);
const identifier = (hex: string) => tagged(0x06, Buffer.from(hex, "hex"));
const yes = tagged(0x01, Buffer.from([0xff]));

const oid = {
  ecdsaWithSha256: identifier("2a8648ce3d040302"),
  commonName: identifier("550403"),
  keyUsage: identifier("551d0f"),
  basicConstraints: identifier("551d13"),
};

const commonName = (name: string) =>
  sequence(tagged(0x31, sequence(oid.commonName, tagged(0x0c, Buffer.from(name, "utf8")))));

/** UTCTime, which has two digits for the year and means those up to 2049. */
const time = (date: Date) => tagged(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replaceAll(/[-:T]/g, "")}Z`));

const caExtensions = [sequence(oid.basicConstraints, yes, octets(sequence(yes)))];

/** A CA signs certificates and revocation lists; the other certificates are for signatures. */
const keyUsage = (isCa: boolean) =>
  sequence(oid.keyUsage, yes, octets(tagged(0x03, Buffer.from(isCa ? [1, 0x06] : [7, 0x80]))));
