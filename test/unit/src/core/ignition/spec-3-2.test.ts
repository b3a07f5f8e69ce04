import { describe, expect, it } from "vitest";
import { parseIgnition } from "../../../../../src/core/ignition/config.ts";
import { outsideSpec } from "../../../../../src/core/ignition/spec-3-2.ts";
import { makePayload } from "../../../../../src/core/bootstrap.ts";
import { readTunnel } from "../../../../../src/core/konnectivity/options.ts";
import { sampleText, tunnelShapes } from "../../../../../src/core/sample/sample.ts";
import { keysOfTypes, rewrittenByInstaller } from "../../../../support/installer-rewrite.ts";

const config = (rest: object) => parseIgnition(JSON.stringify({ ignition: { version: "3.2.0" }, ...rest }));

/** A config with a key, like storage.files[].mode, and nothing else. */
function withKey(path: string, value: unknown): object {
  return path
    .split(".")
    .reverse()
    .reduce<unknown>((inner, key) => {
      const name = key.replace("[]", "");
      return { [name]: key.endsWith("[]") ? [inner] : inner };
    }, value) as object;
}

describe("Ignition spec 3.2", () => {
  it.each(tunnelShapes)(
    "has everything that a payload of %s contains, also after openshift-install has written it",
    (shape) => {
      const { text } = makePayload(sampleText(shape), readTunnel({ port: 9591 }), new Date());
      expect(outsideSpec(parseIgnition(text))).toEqual([]);
      expect(outsideSpec(parseIgnition(rewrittenByInstaller(text)))).toEqual([]);
    },
  );

  it.each(keysOfTypes())("has %s, and no other key beside it", (path) => {
    // Null is a value of every kind.
    expect(outsideSpec(withKey(path, null) as never)).toEqual([]);
    const other = path.replace(/(\[\])?$/, "x");
    expect(outsideSpec(withKey(other, null) as never)).toMatchObject([{ kind: "unknown" }]);
  });

  it.each([
    [{ kernelArguments: {} }, "kernelArguments", "unknown"],
    [
      { storage: { files: [{ path: "/a", contents: { sources: "data:," } }] } },
      "storage.files[0].contents.sources",
      "unknown",
    ],
    [
      { storage: { luks: [{ clevis: { tang: [{ advertisement: "" }] } }] } },
      "storage.luks[0].clevis.tang[0].advertisement",
      "unknown",
    ],
    [{ storage: { files: [{ path: "/a", mode: "0644" }] } }, "storage.files[0].mode", "wrong"],
    [{ storage: { files: [{ path: "/a", mode: 0.5 }] } }, "storage.files[0].mode", "wrong"],
    [{ systemd: { units: {} } }, "systemd.units", "wrong"],
    [{ passwd: { users: ["core"] } }, "passwd.users[0]", "wrong"],
    [{ systemd: { units: [{ enabled: "true" }] } }, "systemd.units[0].enabled", "wrong"],
    [{ __proto__: null, constructor: 1 }, "constructor", "unknown"],
  ])("does not have what is in %j", (rest, where, kind) => {
    expect(outsideSpec(config(rest))).toMatchObject([{ where, kind }]);
  });
});
