import { pattern } from "../../src/core/schema/fields.ts";

export const sshKey = () =>
  pattern("an RSA or ED25519 public key in one line", /^ssh-(rsa|ed25519) AAAA[A-Za-z0-9+/]+=*( [^\r\n]*)?$/);

/**
 * One of core's keys that Azure accepts. Azure creates no machine without a password or a key, but Ignition decides which
 * keys core has. RSA first: openshift-install adds an RSA key of its own, and every version of the provider accepts it.
 */
export function acceptedKey(keys: readonly string[]): string | undefined {
  const accepted = keys
    .flatMap((text) => text.split("\n").map((key) => key.trim()))
    .filter((key) => sshKey().safeParse(key).success);
  return ["ssh-rsa ", "ssh-ed25519 "].flatMap((type) => accepted.filter((key) => key.startsWith(type)))[0];
}
