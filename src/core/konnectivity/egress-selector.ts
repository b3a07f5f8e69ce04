import { kasClient, ports, socket } from "./names.ts";
import type { TunnelOptions } from "./options.ts";

/** `--mode` of the server and the selector's protocol are one choice. */
const proxyProtocol = { grpc: "GRPC", "http-connect": "HTTPConnect" } as const;

/** Sends the kube-apiserver's traffic to the cluster into the tunnel, and nothing else. Paths are the kube-apiserver's. */
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
