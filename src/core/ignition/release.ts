import { type FileEntry, isObject } from "./config.ts";
import { decodeContents, UndecodableError } from "./contents.ts";
import { readManifests } from "./manifests.ts";

/** How the bootstrap machine gets the images of its release, from bootstrap.ign. */
export interface ReleaseSource {
  /** The pull spec of the release image. @default - bootstrap.ign does not name it */
  readonly pullSpec?: string;
  /** A container engine's config.json. @default - bootstrap.ign has none */
  readonly pullSecret?: Buffer;
  readonly mirrors: readonly Mirror[];
  /** The kind of manifest that has the mirrors; the newer one if both have some. */
  readonly mirrorKind: MirrorKind;
}

/** openshift-install writes the first up to 4.13, and the second from 4.14 on. */
const mirrorLists = {
  ImageContentSourcePolicy: "repositoryDigestMirrors",
  ImageDigestMirrorSet: "imageDigestMirrors",
} as const;
export type MirrorKind = keyof typeof mirrorLists;
const isMirrorKind = (kind: unknown): kind is MirrorKind => typeof kind === "string" && kind in mirrorLists;

/** Where images of a repository can be pulled, too. */
export interface Mirror {
  readonly source: string;
  readonly mirrors: readonly string[];
  /** Whether the source itself must not be asked. */
  readonly never: boolean;
}

/** The script with which bootkube.sh finds an image of the release. */
export const releaseScriptPath = "/usr/local/bin/release-image.sh";
export const pullSecretPath = "/root/.docker/config.json";

export function readReleaseSource(files: readonly FileEntry[]): ReleaseSource {
  const script = contentsOf(files, releaseScriptPath)?.toString("utf8") ?? "";
  // Other lines set the variable to what a command prints.
  const pullSpec = /^\s*RELEASE_IMAGE_DIGEST=(["']?)([A-Za-z0-9][\w.:/@-]*)\1$/m.exec(script)?.[2];
  const pullSecret = contentsOf(files, pullSecretPath);
  const { objects } = readManifests(files);
  return {
    ...(pullSpec !== undefined && { pullSpec }),
    ...(pullSecret !== undefined && { pullSecret }),
    mirrors: objects.flatMap(mirrorsIn),
    mirrorKind: objects.some(({ kind }) => kind === "ImageDigestMirrorSet")
      ? "ImageDigestMirrorSet"
      : "ImageContentSourcePolicy",
  };
}

function contentsOf(files: readonly FileEntry[], path: string): Buffer | undefined {
  const file = files.find((one) => one.path === path);
  try {
    return file && decodeContents(file.contents);
  } catch (error) {
    if (error instanceof UndecodableError) return undefined;
    throw error;
  }
}

function mirrorsIn({ kind, spec }: Record<string, unknown>): Mirror[] {
  const list = isMirrorKind(kind) && isObject(spec) ? spec[mirrorLists[kind]] : undefined;
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).flatMap(({ source, mirrors, mirrorSourcePolicy }) => {
    const named = Array.isArray(mirrors) ? mirrors.filter((one) => typeof one === "string") : [];
    if (typeof source !== "string" || named.length === 0) return [];
    return [{ source, mirrors: named, never: mirrorSourcePolicy === "NeverContactSource" }];
  });
}

/** The mirrors as a manifest, which `oc` reads. */
export function mirrorManifest(kind: MirrorKind, mirrors: readonly Mirror[]): object {
  const older = kind === "ImageContentSourcePolicy";
  const list = mirrors.map(({ source, mirrors: named, never }) => ({
    source,
    mirrors: named,
    ...(!older && { mirrorSourcePolicy: never ? "NeverContactSource" : "AllowContactingSource" }),
  }));
  return {
    apiVersion: older ? "operator.openshift.io/v1alpha1" : "config.openshift.io/v1",
    kind,
    metadata: { name: "install-folder" },
    spec: { [mirrorLists[kind]]: list },
  };
}
