import { type IgnitionConfig, isObject } from "./config.ts";

/** The public keys that an Ignition config authorizes for a user. */
export function sshKeysOf({ passwd }: IgnitionConfig, user: string): string[] {
  const users: readonly unknown[] = isObject(passwd) && Array.isArray(passwd.users) ? passwd.users : [];
  return users.flatMap((entry) => {
    if (!isObject(entry) || entry.name !== user || !Array.isArray(entry.sshAuthorizedKeys)) return [];
    return entry.sshAuthorizedKeys.filter((key): key is string => typeof key === "string");
  });
}
