import { kasClient, ports, socket } from "./names.ts";
import type { TunnelOptions } from "./options.ts";

/** The selector's protocol must match the server's `--mode`. */
const proxyProtocol = { grpc: "GRPC", "http-connect": "HTTPConnect" } as const;

/** Sends only the kube-apiserver's traffic to the cluster through the tunnel. Paths are as the kube-apiserver sees them. */
export function egressSelectorConfiguration({ protocol, transport }: TunnelOptions) {
  const direct = (name: string) => ({ name, connection: { proxyProtocol: "Direct" } });
  return {
    apiVersion: "apiserver.k8s.io/v1beta1",
    kind: "EgressSelectorConfiguration",
    egressSelections: [
      {
        name: "cluster",
        connection: {
          proxyProtocol: proxyProtocol[protocol],
          transport:
            transport === "unix-socket"
              ? { uds: { udsName: socket.kas } }
              : {
                  tcp: {
                    url: `https://127.0.0.1:${ports.server}`,
                    tlsConfig: {
                      caBundle: kasClient.ca.kas,
                      clientCert: kasClient.certificate.kas,
                      clientKey: kasClient.key.kas,
                    },
                  },
                },
        },
      },
      direct("controlplane"),
      direct("etcd"),
    ],
  };
}
