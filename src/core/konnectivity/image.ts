import { placeholders } from "./names.ts";
import type { TunnelOptions } from "./options.ts";

/** Where the two binaries come from. */
export interface ProxyImage {
  readonly server: string;
  readonly agent: string;
  readonly serverCommand: string;
  readonly agentCommand: string;
}

/** Component of the release payload; one image holds both binaries. */
export const payloadComponent = "apiserver-network-proxy";

export function proxyImage({ image }: TunnelOptions): ProxyImage {
  if (image === "payload")
    return {
      server: placeholders.image,
      agent: placeholders.image,
      serverCommand: "/usr/bin/proxy-server",
      agentCommand: "/usr/bin/proxy-agent",
    };
  const { server, agent = server, binaryDirectory } = image;
  const program = (reference: string, name: string) =>
    `${(binaryDirectory ?? directoryOf(reference)).replace(/\/$/, "")}/${name}`;
  return { server, agent, serverCommand: program(server, "proxy-server"), agentCommand: program(agent, "proxy-agent") };
}

/** Kubernetes' own images have the binaries at the root, OpenShift's in /usr/bin. */
function directoryOf(reference: string): string {
  return reference.includes("/kas-network-proxy/") ? "/" : "/usr/bin";
}
