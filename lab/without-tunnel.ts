import type { Pod } from "kubernetes-types/core/v1.js";
import { parse, stringify } from "yaml";
import { timeLimit } from "../src/core/time-limits.ts";
import type { ApiResponse, Lab } from "./lab.ts";
import { waitFor } from "./wait.ts";

/** The first kube-apiserver uses 6443. */
const port = 6444;
const name = "kube-apiserver-without-tunnel";
const manifest = `/etc/kubernetes/manifests/${name}.yaml`;
const selectorFlag = "--egress-selector-config-file=";

/**
 * A second kube-apiserver on a lab's bootstrap machine: the pod of the first without the egress selector, so what that
 * machine has without a tunnel. It serves the same cluster.
 */
export class KubeApiServerWithoutTunnel {
  readonly #lab: Lab;

  private constructor(lab: Lab) {
    this.#lab = lab;
  }

  /** Starts it, and does not wait until it is ready. */
  static start(lab: Lab): KubeApiServerWithoutTunnel {
    const rendered = lab.bootstrap.must("cat /opt/openshift/bootstrap-manifests/kube-apiserver-pod.yaml");
    const pod = podWithoutTunnel(parse(rendered) as Pod);
    lab.bootstrap.must(`umask 077 && cat >${manifest}.new && mv ${manifest}.new ${manifest}`, {}, stringify(pod));
    return new KubeApiServerWithoutTunnel(lab);
  }

  async isReady(): Promise<void> {
    const readyz = `curl --silent --insecure --fail --max-time ${timeLimit(2)} https://localhost:${port}/readyz`;
    await waitFor(name, 60, () => this.#lab.bootstrap.run(readyz).status === 0, { every: 0.1 });
  }

  createConfigMap(configMap: string, labels: Readonly<Record<string, string>>): ApiResponse {
    return this.#lab.createConfigMap(this.#lab.bootstrap, configMap, labels, port);
  }

  stop(): void {
    this.#lab.bootstrap.must(`rm ${manifest}`);
  }
}

/** The pod of a kube-apiserver without its egress selector, on another port. */
export function podWithoutTunnel({ metadata, spec, ...rest }: Pod): Pod {
  const [container, ...others] = spec?.containers ?? [];
  const args = container?.args ?? [];
  if (container === undefined || others.length > 0 || !args.some((arg) => arg.startsWith(selectorFlag)))
    throw new Error("the pod has no kube-apiserver with an egress selector");
  const kept = args.filter((arg) => !arg.startsWith(selectorFlag) && !arg.startsWith("--secure-port="));
  // Only the first one may register its address as an endpoint of the API.
  const changed = [`--secure-port=${port}`, "--endpoint-reconciler-type=none"];
  return {
    ...rest,
    metadata: { ...metadata, name },
    spec: { ...spec, containers: [{ ...container, name, args: [...kept, ...changed] }] },
  };
}
