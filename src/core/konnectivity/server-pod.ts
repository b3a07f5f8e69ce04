import type { Pod } from "kubernetes-types/core/v1.js";
import { cipherSuites, renderFlags } from "./flags.ts";
import { proxyImage } from "./image.ts";
import {
  agentName,
  bootstrapOnly,
  mounted,
  namespace,
  placeholders,
  ports,
  routing,
  serverName,
  socket,
  socketFolder,
  tls,
  tokenAudience,
  tokenReviewer,
} from "./names.ts";
import type { TunnelOptions } from "./options.ts";

const serving = `${mounted}/serving`;
const frontend = `${mounted}/frontend`;
const reviewer = `${mounted}/token-reviewer`;

/** Every argument of the server, grouped by purpose. The node leaves out those that its image does not know. */
export function serverArguments(options: TunnelOptions): string[] {
  const { protocol, transport, authentication, listenAddress } = options;
  const overSocket = transport === "unix-socket";
  const byToken = authentication === "service-account-token";
  return renderFlags("server", {
    logtostderr: "true",
    v: 2,
    mode: protocol,

    // The kube-apiserver's side. With a socket the port must be 0 and certificates are an error. The
    // default deletes a socket that a crash left only from 4.14 on, so the flag is always given.
    "uds-name": overSocket ? socket.host : undefined,
    "delete-existing-uds-file": overSocket ? "true" : undefined,
    "server-port": overSocket ? 0 : ports.server,
    "server-bind-address": overSocket ? undefined : "127.0.0.1",
    "server-cert": overSocket ? undefined : `${frontend}/tls.crt`,
    "server-key": overSocket ? undefined : `${frontend}/tls.key`,
    "server-ca-cert": overSocket ? undefined : `${frontend}/ca.crt`,

    // The agents' side is always TLS. Without cluster-ca-cert or a token review anyone may register.
    "agent-port": options.port,
    "agent-bind-address": listenAddress === "all" ? undefined : placeholders.listenAddress,
    "cluster-cert": `${serving}/tls.crt`,
    "cluster-key": `${serving}/tls.key`,
    "cluster-ca-cert": authentication === "mtls" ? `${serving}/ca.crt` : undefined,
    "agent-namespace": byToken ? namespace : undefined,
    "agent-service-account": byToken ? agentName : undefined,
    "authentication-audience": byToken ? tokenAudience : undefined,
    kubeconfig: byToken ? `${reviewer}/kubeconfig` : undefined,
    "tls-min-version": "VersionTLS12",
    "cipher-suites": cipherSuites,

    "proxy-strategies": routing.strategy,
    // There is one server. Agents that hear of more keep dialing.
    "server-count": 1,
    // A vanished node is noticed after this plus 20 s; the default is an hour. An agent, unlike the server (flags.ts),
    // accepts any number of pings.
    "keepalive-time": "5s",
    "frontend-keepalive-time": "30s",
    // Above the agent's own dial limit of 5 s; without it a stuck HTTP CONNECT never ends.
    "backend-dial-timeout": "10s",
    "xfr-channel-size": 150,
    // v0.36 in gRPC mode never ends on SIGTERM without it.
    "graceful-shutdown-timeout": "5s",

    "health-port": ports.health,
    "health-bind-address": "127.0.0.1",
    "admin-bind-address": "127.0.0.1",
  });
}

/** The server, as a static pod on the bootstrap machine. */
export function serverPod(options: TunnelOptions): Pod {
  const { server, serverCommand } = proxyImage(options);
  const mounts = [
    ...(options.transport === "unix-socket"
      ? [{ name: "socket", host: socketFolder.host, at: socketFolder.host }]
      : []),
    { name: "serving", host: `${tls}/serving`, at: serving },
    ...(options.transport === "tcp" ? [{ name: "frontend", host: `${tls}/frontend`, at: frontend }] : []),
    ...(options.authentication === "service-account-token"
      ? [{ name: "token-reviewer", host: tokenReviewer, at: reviewer }]
      : []),
  ];
  const probe = (path: string) => ({ httpGet: { host: "127.0.0.1", port: ports.health, path, scheme: "HTTP" } });
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: serverName,
      namespace: "kube-system",
      labels: { app: serverName, ...bootstrapOnly },
      // The server reads its keys only at start, so that new keys must change the pod.
      annotations: { "konnectivity-bootstrap/pki": placeholders.pki },
    },
    spec: {
      hostNetwork: true,
      priorityClassName: "system-node-critical",
      terminationGracePeriodSeconds: 10,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: serverName,
          image: server,
          imagePullPolicy: "IfNotPresent",
          command: [serverCommand],
          args: serverArguments(options),
          // Root, because root owns the kube-apiserver's socket directory and the keys. No other privilege.
          securityContext: {
            runAsUser: 0,
            runAsGroup: 0,
            privileged: false,
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          resources: { requests: { cpu: "40m", memory: "50Mi" } },
          // /healthz says that the process serves, /readyz that at least one agent is connected (strategy: names.ts).
          livenessProbe: { ...probe("/healthz"), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
          readinessProbe: { ...probe("/readyz"), periodSeconds: 5, timeoutSeconds: 5 },
          volumeMounts: mounts.map(({ name, at }) => ({
            name,
            mountPath: at,
            ...(name !== "socket" && { readOnly: true }),
          })),
        },
      ],
      volumes: mounts.map(({ name, host }) => ({ name, hostPath: { path: host, type: "Directory" } })),
    },
  };
}
