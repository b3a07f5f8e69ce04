import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { expect, it } from "vitest";
import { issueCertificate } from "../../../../../src/core/sample/certificate.ts";

const keyPair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const from = new Date("2026-11-18T12:34:56Z");

it("issues a CA and a certificate that the CA signed", () => {
  const ca = keyPair();
  const client = keyPair();
  const issuer = { name: "root-ca", privateKey: ca.privateKey };
  const root = new X509Certificate(
    issueCertificate({ subject: "root-ca", publicKey: ca.publicKey, issuer, isCa: true, from, days: 10 }),
  );
  const leaf = new X509Certificate(
    issueCertificate({ subject: "system:admin", publicKey: client.publicKey, issuer, isCa: false, from, days: 1 }),
  );
  expect([root.subject, root.issuer, root.ca]).toEqual(["CN=root-ca", "CN=root-ca", true]);
  expect([leaf.subject, leaf.issuer, leaf.ca]).toEqual(["CN=system:admin", "CN=root-ca", false]);
  expect(root.verify(ca.publicKey)).toBe(true);
  expect(leaf.verify(ca.publicKey)).toBe(true);
  expect(leaf.verify(client.publicKey)).toBe(false);
  expect(leaf.checkIssued(root)).toBe(true);
  expect(leaf.checkPrivateKey(client.privateKey)).toBe(true);
  expect(new Date(leaf.validFrom)).toEqual(from);
  expect(new Date(leaf.validTo)).toEqual(new Date("2026-11-19T12:34:56Z"));
  expect(leaf.serialNumber).not.toBe(root.serialNumber);
});
