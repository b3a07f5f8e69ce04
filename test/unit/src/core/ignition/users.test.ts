import { expect, it } from "vitest";
import { sshKeysOf } from "../../../../../src/core/ignition/users.ts";

const ignition = { version: "3.2.0" };

it("the keys of a user are all of its entries', and nobody else's", () => {
  const users = [
    { name: "core", sshAuthorizedKeys: ["ssh-rsa A", "ssh-ed25519 B"] },
    { name: "root", sshAuthorizedKeys: ["ssh-rsa C"] },
    { name: "core", sshAuthorizedKeys: ["ssh-rsa D", 5] },
  ];
  expect(sshKeysOf({ ignition, passwd: { users } }, "core")).toEqual(["ssh-rsa A", "ssh-ed25519 B", "ssh-rsa D"]);
});

it.each([
  ["no passwd", undefined],
  ["passwd that is no object", 5],
  ["no users", {}],
  ["users that are no list", { users: {} }],
  ["a user that is no object", { users: [null] }],
  ["a user without keys", { users: [{ name: "core" }] }],
  ["keys that are null", { users: [{ name: "core", sshAuthorizedKeys: null }] }],
])("%s means no keys", (_, passwd) => {
  expect(sshKeysOf({ ignition, passwd }, "core")).toEqual([]);
});
