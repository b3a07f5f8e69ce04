import { describe, type IgnitionConfig, isObject } from "./config.ts";

/** The version of Ignition's spec whose types openshift-install reads and writes a bootstrap.ign with, in every release from 4.12 on. */
export const installerSpecVersion = "3.2.0";

/** What the spec allows at a place: a value of one kind, a list of such, or an object with these keys. */
export type Shape = "text" | "integer" | "boolean" | readonly [Shape] | { readonly [key: string]: Shape };

const resource = {
  source: "text",
  compression: "text",
  httpHeaders: [{ name: "text", value: "text" }],
  verification: { hash: "text" },
} as const satisfies Shape;
const owner = { id: "integer", name: "text" } as const satisfies Shape;
const node = { path: "text", overwrite: "boolean", user: owner, group: owner } as const satisfies Shape;

/** Every key of Ignition spec 3.2. */
export const specShape: Shape = {
  ignition: {
    version: "text",
    config: { merge: [resource], replace: resource },
    timeouts: { httpResponseHeaders: "integer", httpTotal: "integer" },
    security: { tls: { certificateAuthorities: [resource] } },
    proxy: { httpProxy: "text", httpsProxy: "text", noProxy: ["text"] },
  },
  passwd: {
    users: [
      {
        name: "text",
        passwordHash: "text",
        sshAuthorizedKeys: ["text"],
        uid: "integer",
        gecos: "text",
        homeDir: "text",
        noCreateHome: "boolean",
        primaryGroup: "text",
        groups: ["text"],
        noUserGroup: "boolean",
        noLogInit: "boolean",
        shell: "text",
        shouldExist: "boolean",
        system: "boolean",
      },
    ],
    groups: [{ name: "text", gid: "integer", passwordHash: "text", shouldExist: "boolean", system: "boolean" }],
  },
  storage: {
    disks: [
      {
        device: "text",
        wipeTable: "boolean",
        partitions: [
          {
            label: "text",
            number: "integer",
            sizeMiB: "integer",
            startMiB: "integer",
            typeGuid: "text",
            guid: "text",
            wipePartitionEntry: "boolean",
            shouldExist: "boolean",
            resize: "boolean",
          },
        ],
      },
    ],
    raid: [{ name: "text", level: "text", devices: ["text"], spares: "integer", options: ["text"] }],
    filesystems: [
      {
        device: "text",
        format: "text",
        path: "text",
        wipeFilesystem: "boolean",
        label: "text",
        uuid: "text",
        options: ["text"],
        mountOptions: ["text"],
      },
    ],
    files: [{ ...node, mode: "integer", contents: resource, append: [resource] }],
    directories: [{ ...node, mode: "integer" }],
    links: [{ ...node, target: "text", hard: "boolean" }],
    luks: [
      {
        name: "text",
        label: "text",
        device: "text",
        keyFile: resource,
        options: ["text"],
        uuid: "text",
        wipeVolume: "boolean",
        clevis: {
          tang: [{ url: "text", thumbprint: "text" }],
          tpm2: "boolean",
          threshold: "integer",
          custom: { pin: "text", config: "text", needsNetwork: "boolean" },
        },
      },
    ],
  },
  systemd: {
    units: [
      {
        name: "text",
        enabled: "boolean",
        mask: "boolean",
        contents: "text",
        dropins: [{ name: "text", contents: "text" }],
      },
    ],
  },
};

/** Something in a config that the spec's types cannot hold. */
export interface OutsideSpec {
  /** Where it is, like storage.files[3].mode. */
  readonly where: string;
  /** unknown: the types drop the key. wrong: reading the config fails. */
  readonly kind: "unknown" | "wrong";
  /** The kind of value that was found, never the value. */
  readonly found: string;
}

/** What is lost, or fails, when a config is read into the types of spec 3.2. */
export function outsideSpec(value: IgnitionConfig): OutsideSpec[] {
  return [...compare(value, specShape, "")];
}

function* compare(value: unknown, shape: Shape, where: string): Generator<OutsideSpec, void> {
  // Null means absent for every type.
  if (value === null) return;
  if (typeof shape === "string") {
    if (!isOfKind(value, shape)) yield { where, kind: "wrong", found: describe(value) };
  } else if (isList(shape)) {
    if (!Array.isArray(value)) yield { where, kind: "wrong", found: describe(value) };
    else for (const [index, item] of value.entries()) yield* compare(item, shape[0], `${where}[${index}]`);
  } else if (!isObject(value)) {
    yield { where, kind: "wrong", found: describe(value) };
  } else {
    for (const [key, part] of Object.entries(value)) {
      const here = where === "" ? key : `${where}.${key}`;
      const inner = Object.hasOwn(shape, key) ? shape[key] : undefined;
      if (inner === undefined) yield { where: here, kind: "unknown", found: describe(part) };
      else yield* compare(part, inner, here);
    }
  }
}

const isList = (shape: Exclude<Shape, string>): shape is readonly [Shape] => Array.isArray(shape);

function isOfKind(value: unknown, kind: "text" | "integer" | "boolean"): boolean {
  if (kind === "integer") return Number.isInteger(value);
  return typeof value === (kind === "text" ? "string" : "boolean");
}
