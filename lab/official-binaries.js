// Plain JavaScript without dependencies, as lab/go-programs.js: what set-up can download instead of building it.

/** @typedef {"amd64" | "arm64"} Architecture As Go and container images name it. */

/**
 * An archive (tar, gzip) with binaries.
 * @typedef {object} OfficialArchive
 * @property {(architecture: Architecture) => string} address
 * @property {Readonly<Record<Architecture, string>>} digests Of the archive.
 * @property {Readonly<Record<string, string>>} binaries The path of each binary in the archive.
 */

/**
 * Container images with one binary each.
 * @typedef {object} OfficialImages
 * @property {Readonly<Record<string, { repository: string, digest: string }>>} images The image of each binary, which is
 *   /<binary> in it: its address without a tag, and the digest of its index.
 */

/** @typedef {Partial<Record<import("./go-programs.js").GoProgramName, OfficialArchive | OfficialImages>>} OfficialBinaries */

/**
 * Konnectivity is published as images only. The digests are those in the list of images that Kubernetes promotes
 * (kubernetes/k8s.io, registry.k8s.io/images/k8s-staging-kas-network-proxy/images.yaml).
 * @param {string} server
 * @param {string} agent
 */
const proxy = (server, agent) => ({
  images: {
    "proxy-server": { repository: "https://registry.k8s.io/v2/kas-network-proxy/proxy-server", digest: server },
    "proxy-agent": { repository: "https://registry.k8s.io/v2/kas-network-proxy/proxy-agent", digest: agent },
  },
});

/**
 * The versions are those in the go.mod of each program, so it makes no difference to the cache how a program came.
 * @satisfies {OfficialBinaries}
 */
export const officialBinaries = {
  // The archive for envtest contains the release's own kube-apiserver, and etcd 3.6.8. Its checksums are those in
  // kubernetes-sigs/controller-tools, envtest-releases.yaml; its etcd is in hack/envtest/_matrix/v1.36.0.yaml.
  kubernetes: {
    address: (/** @type {Architecture} */ architecture) =>
      `https://github.com/kubernetes-sigs/controller-tools/releases/download/envtest-v1.36.0/envtest-v1.36.0-linux-${architecture}.tar.gz`,
    digests: {
      amd64:
        "sha512:302d6a4c3b7d79b8a6168cd9fd5f18e718048211d25012d969d320e06b39672d17338bcd008c29adf98b41048a6f7d80c90ab0165b4b861497ef74c7bc6c1531",
      arm64:
        "sha512:16b416776b6f5e6a13be33b7e9f248cbffb71b40bc286436c93b83239b965d07b902ce0da75b721aea9356a764ca896154bc420618bc7fb9d1dc4a6b2fa49405",
    },
    binaries: {
      "kube-apiserver": "controller-tools/envtest/kube-apiserver",
      etcd: "controller-tools/envtest/etcd",
    },
  },
  "proxy-0.36.0": proxy(
    "sha256:61b6bfed89291cbee0dd0d5f9bb4982c6989059b15398690cd89e830ac29f1b7",
    "sha256:5f534dd5f02a751bfc6cb9d2d2342c622d37ba9e8c6851768769ed8a9081b915",
  ),
  "proxy-0.31.4": proxy(
    "sha256:72fd63e8122b81b320aac1f5b068199a216b096c08f7cf90e71eb6da269ef8e3",
    "sha256:8cbfed742f28e605cb3a1f32e7f509e9b66cdd38377b4c47ccf82e798397676d",
  ),
  "proxy-0.29.0": proxy(
    "sha256:f0c74d7420d1320bc8ece0bb57125f5a1a021d3310bc990ac7749ec3dab4eab7",
    "sha256:0349e45ae85f9aec3fafc289498b0058b2c0c4725fe4e7f69fef361182976833",
  ),
  "proxy-0.1.2": proxy(
    "sha256:79933c3779bc30e33bb7509dff913e70f6ba78ad441f4827f0f3e840ce5f3ddb",
    "sha256:cd3046d253d26ffb5907c625e0d0c2be05c5693c90e12116980851739fc0ead8",
  ),
  "proxy-0.0.37": proxy(
    "sha256:c2f596cae3c652d6f43526147f2a6110a71995c7b192351ba4166586670f66d1",
    "sha256:f421a2d8105723351fa90a4b3b00a534f92feeadc097baf7b625b51896e5cd8d",
  ),
};
