import { placeholders } from "./names.ts";
import type { TunnelOptions } from "./options.ts";

/** The images of server and agents, and the paths of the binaries in them. */
export interface ProxyImage {
  readonly server: string;
  readonly agent: string;
  readonly serverCommand: string;
  readonly agentCommand: string;
}

/** The name that `oc adm release info` shows for the proxy's image; it contains both binaries. */
export const releaseImageName = "apiserver-network-proxy";

export function proxyImage({ image }: TunnelOptions): ProxyImage {
  if (image === "release")
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
