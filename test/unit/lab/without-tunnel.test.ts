import type { Pod } from "kubernetes-types/core/v1.js";
import { describe, expect, it } from "vitest";
import { addressesOf } from "../../../lab/addresses.ts";
import { kubeApiServerArguments, kubeApiServerPod } from "../../../lab/control-plane.ts";
import { podWithoutTunnel } from "../../../lab/without-tunnel.ts";

const addresses = addressesOf("IPv4");
const podWith = (more: Record<string, string[]>) =>
  kubeApiServerPod(
    { ...kubeApiServerArguments(addresses, addresses.bootstrap), ...more },
    { "/config": "/host" },
  ) as Pod;
const argsOf = (pod: Pod) => pod.spec?.containers[0]?.args ?? [];

describe("a kube-apiserver without the tunnel", () => {
  it("has the first one's arguments but the egress selector and the port", () => {
    const first = podWith({ "egress-selector-config-file": ["/config/selector.yaml"] });
    const without = podWithoutTunnel(first);
    const removed = argsOf(first).filter((arg) => !argsOf(without).includes(arg));
    expect(removed).toEqual(["--secure-port=6443", "--egress-selector-config-file=/config/selector.yaml"]);
    const added = argsOf(without).filter((arg) => !argsOf(first).includes(arg));
    expect(added).toEqual(["--secure-port=6444", "--endpoint-reconciler-type=none"]);
    expect(without.spec?.volumes).toEqual(first.spec?.volumes);
    expect(without.metadata?.name).not.toBe(first.metadata?.name);
  });

  it("is not made of one that has no egress selector: it would show nothing", () => {
    expect(() => podWithoutTunnel(podWith({}))).toThrow("has no kube-apiserver with an egress selector");
  });
});
