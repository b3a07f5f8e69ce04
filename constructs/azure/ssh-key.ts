import { z } from "zod";
import { pattern } from "../../src/core/schema/fields.ts";

export const sshKey = () =>
  pattern("an RSA or ED25519 public key in one line", /^ssh-(rsa|ed25519) AAAA[A-Za-z0-9+/]+=*( [^\r\n]*)?$/);

const core = z.object({
  passwd: z.object({
    users: z.array(z.object({ name: z.string(), sshAuthorizedKeys: z.array(z.string()).nullish() })),
  }),
});

/**
 * A key that the payload lets in as core anyway. Azure takes no machine with neither password nor key; what core's keys
 * are, Ignition decides. RSA first: openshift-install puts one of its own there, and every provider takes it.
 */
export function coreKeyOf(payload: string): string | undefined {
  const { data } = core.safeParse(JSON.parse(payload));
  const keys = (data?.passwd.users ?? [])
    .filter(({ name }) => name === "core")
    .flatMap(({ sshAuthorizedKeys }) => sshAuthorizedKeys ?? [])
    .flatMap((text) => text.split("\n").map((key) => key.trim()))
    .filter((key) => sshKey().safeParse(key).success);
  return ["ssh-rsa ", "ssh-ed25519 "].flatMap((type) => keys.filter((key) => key.startsWith(type)))[0];
}
