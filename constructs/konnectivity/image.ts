import { placeholders } from "./names.ts";
import type { TunnelOptions } from "./options.ts";

/** Where the two binaries come from. */
export interface ProxyImage {
  readonly server: string;
  readonly agent: string;
  readonly binaryDirectory: string;
}

/** Component of the release payload; one image holds both binaries. */
export const payloadComponent = "apiserver-network-proxy";

export function proxyImage({ image }: TunnelOptions): ProxyImage {
  if (image === "payload")
    return { server: placeholders.image, agent: placeholders.image, binaryDirectory: "/usr/bin" };
  const { server, agent = server, binaryDirectory = directoryOf(server) } = image;
  return { server, agent, binaryDirectory: binaryDirectory.replace(/\/$/, "") };
}

/** Kubernetes' own images have the binaries at the root, OpenShift's in /usr/bin. */
function directoryOf(reference: string): string {
  return reference.includes("/kas-network-proxy/") ? "/" : "/usr/bin";
}
