import { describe, expect, it } from "vitest";
import { officialBinaries } from "../../../lab/official-binaries.js";
import { labGoPrograms, oldProxies, titleOf } from "../../../lab/go-programs.js";
import { readProjectText } from "../../../src/runtime/project-files.js";

const proxies = (["proxy-0.36.0", ...oldProxies] as const).map((name) => ({
  name,
  version: name.replace("proxy-", ""),
}));

describe("official binaries", () => {
  it("of Kubernetes have the version that would be built", () => {
    const { address, binaries, digests } = officialBinaries.kubernetes;
    const goMod = readProjectText("lab/components/kubernetes/go.mod");
    const version = (module: string) => new RegExp(`\\t${module} v(\\S+)`).exec(goMod)?.[1] ?? "";
    const kubernetes = version("k8s.io/kubernetes");
    // The archive's etcd cannot be read in its address: look it up when this fails, and change both.
    expect({ kubernetes, etcd: version("go.etcd.io/etcd/server/v3") }).toEqual({ kubernetes: "1.36.0", etcd: "3.6.8" });
    expect(titleOf("kubernetes")).toBe("kube-apiserver 1.36.0 and etcd 3.6.8");
    expect(address("arm64")).toContain(`/envtest-v${kubernetes}/envtest-v${kubernetes}-linux-arm64.tar.gz`);
    expect(Object.keys(binaries)).toEqual(["kube-apiserver", "etcd"]);
    for (const digest of Object.values(digests)) expect(digest).toMatch(/^sha512:[0-9a-f]{128}$/);
    expect(digests.amd64).not.toBe(digests.arm64);
  });

  it.each(proxies)("of Konnectivity $version are those that would be built", ({ name, version }) => {
    expect(readProjectText(`lab/components/${name}/go.mod`)).toContain(
      `sigs.k8s.io/apiserver-network-proxy v${version} `,
    );
    const { images } = officialBinaries[name];
    expect(Object.keys(images)).toEqual(["proxy-server", "proxy-agent"]);
    for (const [binary, { repository, digest }] of Object.entries(images)) {
      expect(repository).toMatch(new RegExp(`^https://registry\\.k8s\\.io/v2/[a-z-]+/${binary}$`));
      expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    }
  });

  it("have a digest of their own each", () => {
    const digests = proxies.flatMap(({ name }) =>
      Object.values(officialBinaries[name].images).map(({ digest }) => digest),
    );
    expect(new Set(digests).size).toBe(2 * proxies.length);
  });

  it("are there for everything that the lab needs but its own webhook", () => {
    expect(labGoPrograms.filter((name) => !(name in officialBinaries))).toEqual(["webhook"]);
  });
});
