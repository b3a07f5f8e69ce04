import { fileEntry } from "../../src/core/sample/sample.ts";

/**
 * Writes an Ignition config the way openshift-install does before it gives bootstrap.ign to the machine: it reads the file
 * into Go's types of Ignition spec 3.2 and marshals them, with one more file at the end. An emulation for unit tests: the
 * tests in test/e2e use Ignition's own Go types. It leaves out Go's case-insensitive keys, and what a platform may change on top.
 */
export function rewrittenByInstaller(text: string): string {
  const config = typed(JSON.parse(text), types.Config, "the config") as { storage?: { files?: unknown[] } };
  const files = [...(config.storage?.files ?? []), typed(installInfo, types.File, "a file")];
  return goJson({ ...config, storage: { ...config.storage, files } });
}

export const installInfoPath = "/opt/openshift/manifests/openshift-install.yaml";
const installInfo = fileEntry(installInfoPath, "kind: ConfigMap\n", 0o644);

/** Go escapes these in every string. */
const goJson = (value: unknown) =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** A Go type: a value is always written; a pointer, list or struct is left out if it is empty. The order is that of the Go struct. */
type GoType =
  | { readonly kind: "value" | "pointer"; readonly of: "string" | "number" | "boolean" }
  | { readonly kind: "list"; readonly of: GoType }
  | { readonly kind: "struct" | "pointer to struct"; readonly fields: Readonly<Record<string, GoType>> };

const text: GoType = { kind: "value", of: "string" };
const optional = (of: "string" | "number" | "boolean"): GoType => ({ kind: "pointer", of });
const [s, n, b] = [optional("string"), optional("number"), optional("boolean")];
const list = (of: GoType): GoType => ({ kind: "list", of });
const struct = (fields: Readonly<Record<string, GoType>>): GoType => ({ kind: "struct", fields });

const Verification = struct({ hash: s });
const Resource = struct({
  compression: s,
  httpHeaders: list(struct({ name: text, value: s })),
  source: s,
  verification: Verification,
});
const owner = struct({ id: n, name: s });
const node = { group: owner, overwrite: b, path: text, user: owner };

const types = {
  File: struct({ ...node, append: list(Resource), contents: Resource, mode: n }),
  get Config(): GoType {
    return struct({
      ignition: struct({
        config: struct({ merge: list(Resource), replace: Resource }),
        proxy: struct({ httpProxy: s, httpsProxy: s, noProxy: list(text) }),
        security: struct({ tls: struct({ certificateAuthorities: list(Resource) }) }),
        timeouts: struct({ httpResponseHeaders: n, httpTotal: n }),
        version: s,
      }),
      passwd: struct({
        groups: list(struct({ gid: n, name: text, passwordHash: s, shouldExist: b, system: b })),
        users: list(
          struct({
            gecos: s,
            groups: list(text),
            homeDir: s,
            name: text,
            noCreateHome: b,
            noLogInit: b,
            noUserGroup: b,
            passwordHash: s,
            primaryGroup: s,
            sshAuthorizedKeys: list(text),
            shell: s,
            shouldExist: b,
            system: b,
            uid: n,
          }),
        ),
      }),
      storage: struct({
        directories: list(struct({ ...node, mode: n })),
        disks: list(
          struct({
            device: text,
            partitions: list(
              struct({
                guid: s,
                label: s,
                number: n,
                resize: b,
                shouldExist: b,
                sizeMiB: n,
                startMiB: n,
                typeGuid: s,
                wipePartitionEntry: b,
              }),
            ),
            wipeTable: b,
          }),
        ),
        files: list(this.File),
        filesystems: list(
          struct({
            device: text,
            format: s,
            label: s,
            mountOptions: list(text),
            options: list(text),
            path: s,
            uuid: s,
            wipeFilesystem: b,
          }),
        ),
        links: list(struct({ ...node, hard: b, target: text })),
        luks: list(
          struct({
            clevis: {
              kind: "pointer to struct",
              fields: {
                custom: { kind: "pointer to struct", fields: { config: text, needsNetwork: b, pin: text } },
                tang: list(struct({ thumbprint: s, url: s })),
                threshold: n,
                tpm2: b,
              },
            },
            device: s,
            keyFile: Resource,
            label: s,
            name: text,
            options: list(text),
            uuid: s,
            wipeVolume: b,
          }),
        ),
        raid: list(struct({ devices: list(text), level: text, name: text, options: list(text), spares: n })),
      }),
      systemd: struct({
        units: list(
          struct({ contents: s, dropins: list(struct({ contents: s, name: text })), enabled: b, mask: b, name: text }),
        ),
      }),
    });
  },
};

/** The value as Go holds it. @throws where Go cannot read it */
function typed(value: unknown, type: GoType, where: string): unknown {
  if (value === undefined || value === null) return type.kind === "value" ? "" : undefined;
  const fail = () => new Error(`json: cannot unmarshal ${where}`);
  switch (type.kind) {
    case "value":
    case "pointer":
      if (typeof value !== type.of || (type.of === "number" && !Number.isInteger(value))) throw fail();
      return value;
    case "list":
      if (!Array.isArray(value)) throw fail();
      return value.length === 0 ? undefined : value.map((item, index) => typed(item, type.of, `${where}[${index}]`));
    case "struct":
    case "pointer to struct": {
      if (typeof value !== "object" || Array.isArray(value)) throw fail();
      const given = value as Record<string, unknown>;
      const fields = Object.entries(type.fields)
        .map(([key, inner]) => [key, typed(given[key], inner, `${where}.${key}`)] as const)
        .filter(([, inner]) => inner !== undefined);
      return fields.length === 0 && type.kind === "struct" ? undefined : Object.fromEntries(fields);
    }
  }
}

/** Every key that Go's types have, like storage.files[].mode. */
export function keysOfTypes(type: GoType = types.Config, where = ""): string[] {
  if (type.kind === "list") return keysOfTypes(type.of, `${where}[]`);
  if (!("fields" in type)) return [];
  return Object.entries(type.fields).flatMap(([key, inner]) => {
    const here = where === "" ? key : `${where}.${key}`;
    return [here, ...keysOfTypes(inner, here)];
  });
}
