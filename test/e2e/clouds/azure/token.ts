import { randomUUID } from "node:crypto";

/** What a token says. Nobody signs it, and nobody verifies a signature. */
export interface Claims {
  /** Whose it is. */
  readonly oid: string;
  /** For which service. */
  readonly aud: string;
}

export const tenant = "00000000-0000-0000-0000-000000000001";
export const operator = randomUUID();

export const audiences = { manager: "https://management.azure.com", storage: "https://storage.azure.com" } as const;

/** A token as Azure's directory gives it to an operator's or a machine's identity. */
export function tokenOf(oid: string, aud: string): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = { oid, aud, tid: tenant, appid: oid, iss: `https://sts.windows.net/${tenant}/` };
  return [{ alg: "none" }, { ...claims, iat: now - 60, nbf: now - 60, exp: now + 86_400 }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".")
    .concat(".x");
}

/** What the token in a call's header says. @returns undefined if there is none */
export function claimsIn(authorization: string | undefined): Claims | undefined {
  const [, claims] = /^Bearer [^.]+\.([^.]+)\./.exec(authorization ?? "") ?? [];
  return claims === undefined ? undefined : (JSON.parse(Buffer.from(claims, "base64url").toString()) as Claims);
}
