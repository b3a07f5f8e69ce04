import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { mirrorManifest, readReleaseSource } from "../../../../../src/core/ignition/release.ts";
import { fileEntry, sampleConfig } from "../../../../../src/core/sample/sample.ts";

const pullSpec = `quay.io/openshift-release-dev/ocp-release@sha256:${"a".repeat(64)}`;
/** The form of openshift-install's script: the literal is the fallback of a command's answer. */
const script = (spec: string) => `if ! RELEASE_IMAGE_DIGEST=$( podman inspect ${spec} --format json ); then
	RELEASE_IMAGE_DIGEST="${spec}"
fi
`;
const withScript = (text: string) => readReleaseSource([fileEntry("/usr/local/bin/release-image.sh", text, 0o555)]);

const manifest = (kind: string, spec: object) =>
  fileEntry(`/opt/openshift/manifests/${kind}.yaml`, stringify({ apiVersion: "v1", kind, spec }), 0o644);
const icsp = manifest("ImageContentSourcePolicy", {
  repositoryDigestMirrors: [{ source: "quay.io/a", mirrors: ["registry.example.com/a"] }],
});
const idms = manifest("ImageDigestMirrorSet", {
  imageDigestMirrors: [
    { source: "quay.io/b", mirrors: ["registry.example.com/b"], mirrorSourcePolicy: "NeverContactSource" },
  ],
});

describe("the release in bootstrap.ign", () => {
  it("is read from openshift-install's script", () => {
    expect(withScript(script(pullSpec)).pullSpec).toBe(pullSpec);
    expect(readReleaseSource(sampleConfig("4.18").storage?.files ?? []).pullSpec).toMatch(/^registry\.example\.com\//);
  });

  it.each(["", "--config=/x", "$(id)", "a b", "a;b"])("is unknown if the script names %j", (spec) => {
    expect(withScript(script(spec)).pullSpec).toBeUndefined();
  });

  it("is pulled with the machine's own pull secret", () => {
    const { pullSecret } = readReleaseSource([fileEntry("/root/.docker/config.json", '{"auths":{}}', 0o600)]);
    expect(pullSecret?.toString()).toBe('{"auths":{}}');
    const broken = { path: "/root/.docker/config.json", contents: { source: "data:;base64,x" } };
    expect(readReleaseSource([broken]).pullSecret).toBeUndefined();
  });

  it("is pulled from the mirrors in the manifests", () => {
    expect(readReleaseSource([])).toEqual({ mirrors: [], mirrorKind: "ImageContentSourcePolicy" });
    const a = { source: "quay.io/a", mirrors: ["registry.example.com/a"], never: false };
    const b = { source: "quay.io/b", mirrors: ["registry.example.com/b"], never: true };
    expect(readReleaseSource([icsp])).toEqual({ mirrors: [a], mirrorKind: "ImageContentSourcePolicy" });
    expect(readReleaseSource([icsp, idms])).toEqual({ mirrors: [a, b], mirrorKind: "ImageDigestMirrorSet" });
    const malformed = manifest("ImageDigestMirrorSet", { imageDigestMirrors: [3, { source: 1 }, { source: "a" }] });
    expect(readReleaseSource([malformed]).mirrors).toEqual([]);
  });

  it("is asked for with the mirrors in the form of the manifest that had them", () => {
    const { mirrors } = readReleaseSource([icsp, idms]);
    expect(mirrorManifest("ImageContentSourcePolicy", mirrors)).toMatchObject({
      apiVersion: "operator.openshift.io/v1alpha1",
      spec: {
        repositoryDigestMirrors: [
          { source: "quay.io/a", mirrors: ["registry.example.com/a"] },
          { source: "quay.io/b", mirrors: ["registry.example.com/b"] },
        ],
      },
    });
    expect(mirrorManifest("ImageDigestMirrorSet", mirrors)).toMatchObject({
      apiVersion: "config.openshift.io/v1",
      spec: {
        imageDigestMirrors: [
          { source: "quay.io/a", mirrorSourcePolicy: "AllowContactingSource" },
          { source: "quay.io/b", mirrorSourcePolicy: "NeverContactSource" },
        ],
      },
    });
  });
});
