import { type Options, type Problem, problem } from "../errors.ts";
import { ports } from "./names.ts";
import type { TunnelOptions } from "./options.ts";

type ProtocolAndTransport = `${TunnelOptions["protocol"]}/${TunnelOptions["transport"]}`;

/** Which transports between the kube-apiserver and the server work. Each works with every other option. */
export const transports: Record<ProtocolAndTransport, { works: true } | { works: false; reason: string }> = {
  "grpc/unix-socket": { works: true },
  "http-connect/unix-socket": { works: true },
  "http-connect/tcp": { works: true },
  "grpc/tcp": {
    works: false,
    reason:
      "a kube-apiserver supports gRPC only over a unix socket; use `protocol: http-connect`, or `transport: unix-socket`",
  },
};

/** Every contradiction between options. */
export function combinationProblems(options: TunnelOptions): Problem[] {
  const { protocol, transport, authentication, acceptUnauthenticatedAgents, port, agents, image } = options;
  const chosen = transports[`${protocol}/${transport}`];
  const refusals: { options: Options; reason: string }[] = [];
  if (!chosen.works)
    refusals.push({ options: { "tunnel.protocol": protocol, "tunnel.transport": transport }, reason: chosen.reason });
  if (transport === "tcp" && port === ports.server)
    refusals.push({
      options: { "tunnel.transport": transport, "tunnel.port": port },
      reason: `the kube-apiserver dials the server on port ${ports.server}; choose another port for agents, or use \`transport: unix-socket\``,
    });
  if (authentication === "none" && !acceptUnauthenticatedAgents)
    refusals.push({
      options: { "tunnel.authentication": authentication, "tunnel.acceptUnauthenticatedAgents": false },
      reason: `without authentication, anyone who can reach port ${port} can register as an agent and receive the kube-apiserver's traffic (CVE-2026-16242); use mtls, or set \`acceptUnauthenticatedAgents: true\` if that is what you want`,
    });
  if (authentication !== "none" && acceptUnauthenticatedAgents)
    refusals.push({
      options: { "tunnel.authentication": authentication, "tunnel.acceptUnauthenticatedAgents": true },
      reason: "agents are authenticated; remove acceptUnauthenticatedAgents",
    });
  if (agents.kind === "DaemonSet" && agents.replicas !== undefined)
    refusals.push({
      options: { "tunnel.agents.kind": agents.kind, "tunnel.agents.replicas": agents.replicas },
      reason: "a DaemonSet has one agent on every node; use `kind: Deployment`, or remove replicas",
    });
  if (image !== "release" && image.agent === undefined && image.server.includes("/kas-network-proxy/"))
    refusals.push({
      options: { "tunnel.image.server": image.server, "tunnel.image.agent": null },
      reason:
        "the server image of Kubernetes does not contain the agent; set tunnel.image.agent to kas-network-proxy/proxy-agent",
    });
  return refusals.map((refusal) => problem("combination-refused", refusal));
}
