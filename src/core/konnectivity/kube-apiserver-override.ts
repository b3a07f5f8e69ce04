import { egressSelector, tokenAudience } from "./names.ts";
import type { TunnelOptions } from "./options.ts";

/**
 * The issuer as the operator's own bootstrap config computes it. An override's list replaces the one before it, and the
 * render executes the file as a Go template: without this line every service account's token would be refused.
 */
const issuer = '{{ or .ServiceAccountIssuer "https://kubernetes.default.svc" }}';

/** Merged into the bootstrap kube-apiserver's config by the operator's render; the permanent one never sees it. */
export function kubeApiServerOverride({ authentication }: TunnelOptions) {
  return {
    apiVersion: "kubecontrolplane.config.openshift.io/v1",
    kind: "KubeAPIServerConfig",
    apiServerArguments: {
      "egress-selector-config-file": [egressSelector.kas],
      ...(authentication === "service-account-token" && { "api-audiences": [issuer, tokenAudience] }),
    },
  };
}
