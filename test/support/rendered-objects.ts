import { fixture } from "../../src/core/sample/sample.ts";
import { objectFiles, render, renderedCases, type RenderedTunnel, textOf } from "./tunnel.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** What node/setup.sh puts in. The keys' digest is all digits once in a while, and must stay text. */
export const onTheNode: Record<string, string> = {
  "@IMAGE@": `registry.example.com/ocp/release@sha256:${"b".repeat(64)}`,
  "@SERVER_HOST@": "192.0.2.10",
  "@LISTEN_ADDRESS@": "192.0.2.10",
  "@AGENT_KEEPALIVE@": "30s",
  "@PKI@": "1234567890123456",
  "@CA_CRT@": base64(fixture("long-lived.crt")),
  "@AGENT_CRT@": base64(fixture("long-lived.crt")),
  "@AGENT_KEY@": base64("a key"),
};

export const fill = (text: string, values = onTheNode) =>
  Object.entries(values).reduce((filled, [placeholder, value]) => filled.replaceAll(placeholder, value), text);

/** By file: what kind of object it must hold. */
export const kinds: Record<string, string> = {
  "kube-apiserver-override.yaml": "KubeAPIServerConfig",
  "egress-selector.yaml": "EgressSelectorConfiguration",
  "server-pod.yaml": "Pod",
  "agents/namespace.yaml": "Namespace",
  "agents/service-account.yaml": "ServiceAccount",
  "agents/secret.yaml": "Secret",
  "agents/network-policy.yaml": "NetworkPolicy",
  "agents/disruption-budget.yaml": "PodDisruptionBudget",
  "agents/scc-role.yaml": "Role",
  "agents/scc-role-binding.yaml": "RoleBinding",
  "agents/token-review-role.yaml": "ClusterRole",
  "agents/token-review.yaml": "ClusterRoleBinding",
};

function kindOf(file: string, { options }: RenderedTunnel): string {
  return file === "agents/agents.yaml" ? options.agents.kind : (kinds[file] ?? "no kind for this file");
}

/** Every object of every combination that differs from all others. */
export function differentObjects() {
  const objects = renderedCases().flatMap((rendered) =>
    objectFiles(rendered.assets).map((file) => ({
      name: `${rendered.name}: ${file}`,
      kind: kindOf(file, rendered),
      text: fill(textOf(rendered.assets, file)),
    })),
  );
  return [...new Map(objects.map((object) => [object.text, object])).values()];
}

/** With every object that an option can ask for. */
export const richTunnel = () =>
  render({ authentication: "service-account-token", agents: { kind: "Deployment", hostNetwork: true } });
