import { generateKeyPairSync, type KeyObject, randomUUID } from "node:crypto";
import { exampleMarkPath } from "../ignition/example-mark.ts";
import { issueCertificate } from "./certificate.ts";
import { fileEntry, sampleText } from "./sample.ts";

/** The cluster of every example, as openshift-install would name it. */
export const exampleCluster = { clusterName: "example", infraID: "example-x7k2p" } as const;

/** A platform's part of metadata.json and of the install config. */
export interface ExamplePlatform {
  /** openshift-install's name of the platform. */
  readonly key: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * What `openshift-install create ignition-configs` would write, for a cluster that does not exist. Its keys and
 * certificates are made now, and nothing else in the world knows them.
 * @param platform undefined: the cluster is on no platform that openshift-install knows
 */
export function exampleInstallDir(
  platform: ExamplePlatform | undefined,
  now: Date,
): Readonly<Record<"bootstrap.ign" | "metadata.json", string>> {
  const part = platform === undefined ? {} : { [platform.key]: platform.values };
  const ca = keyPair();
  const client = keyPair();
  const issuer = { name: "root-ca", privateKey: ca.privateKey };
  const certificate = issueCertificate({
    ...valid(now),
    subject: "root-ca",
    publicKey: ca.publicKey,
    issuer,
    isCa: true,
  });
  const metadata = { ...exampleCluster, clusterID: randomUUID(), ...part };
  return {
    "metadata.json": `${JSON.stringify(metadata)}\n`,
    "bootstrap.ign": sampleText("4.18", {
      clusterName: exampleCluster.clusterName,
      platform: platform === undefined ? { none: {} } : part,
      certificate,
      sshKey: sshKeyOf(generateKeyPairSync("ed25519").publicKey),
      client: {
        certificate: issueCertificate({
          ...valid(now),
          subject: "system:admin",
          publicKey: client.publicKey,
          issuer,
          isCa: false,
        }),
        key: client.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      },
      files: [fileEntry(exampleMarkPath, "konnectivity-bootstrap made up this cluster as an example.\n", 0o644)],
    }),
  };
}

const keyPair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

/** From an hour ago, in case a clock is behind. */
const valid = (now: Date) => ({ from: new Date(now.getTime() - 60 * 60 * 1000), days: 3650 });

/** A public ed25519 key in one line, as in authorized_keys. */
function sshKeyOf(publicKey: KeyObject): string {
  const { x = "" } = publicKey.export({ format: "jwk" });
  const words = [Buffer.from("ssh-ed25519"), Buffer.from(x, "base64url")].map((word) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(word.length);
    return Buffer.concat([length, word]);
  });
  return `ssh-ed25519 ${Buffer.concat(words).toString("base64")} core@example.com`;
}
