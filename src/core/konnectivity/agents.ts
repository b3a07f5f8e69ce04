import type { DaemonSet, Deployment } from "kubernetes-types/apps/v1.js";
import type { Namespace, PodTemplateSpec, Secret, ServiceAccount, Volume } from "kubernetes-types/core/v1.js";
import type { NetworkPolicy } from "kubernetes-types/networking/v1.js";
import type { PodDisruptionBudget } from "kubernetes-types/policy/v1.js";
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "kubernetes-types/rbac/v1.js";
import { renderFlags } from "./flags.ts";
import { proxyImage } from "./image.ts";
import {
  agentCertificates,
  agentLabels,
  agentName,
  agentSecretName,
  bootstrapOnly,
  mounted,
  namespace,
  placeholders,
  ports,
  routing,
  serverUser,
  tokenAudience,
  tokenReviewRole,
} from "./names.ts";
import type { TunnelOptions } from "./options.ts";

const certificates = agentCertificates;
const token = `${mounted}/token`;
const hostNetworkScc = "hostnetwork-v2";

/** An object of the cluster and the name of its file on the node. */
export interface AgentManifest {
  /** Without its extension. A gather leaves out files with "secret" in their name, so one that contains a key has it. */
  readonly file: string;
  readonly object: AgentObject;
}

type AgentObject =
  | Namespace
  | ServiceAccount
  | Secret
  | DaemonSet
  | Deployment
  | PodDisruptionBudget
  | NetworkPolicy
  | Role
  | RoleBinding
  | ClusterRole
  | ClusterRoleBinding;

/** Everything that the tunnel puts into the cluster. */
export function agentManifests(options: TunnelOptions): AgentManifest[] {
  const { agents, authentication } = options;
  return [
    { file: "namespace", object: agentNamespace(options) },
    { file: "service-account", object: serviceAccount },
    { file: "secret", object: secret(options) },
    { file: "network-policy", object: networkPolicy },
    agents.kind === "DaemonSet"
      ? { file: "agents", object: daemonSet(options) }
      : { file: "agents", object: deployment(options) },
    ...(agents.kind === "Deployment" ? [{ file: "disruption-budget", object: disruptionBudget }] : []),
    ...(agents.hostNetwork
      ? [
          { file: "scc-role", object: sccRole },
          { file: "scc-role-binding", object: sccRoleBinding },
        ]
      : []),
    ...(authentication === "service-account-token"
      ? [
          { file: "token-review-role", object: tokenReview },
          { file: "token-review", object: tokenReviewBinding },
        ]
      : []),
  ];
}

/** The cluster-scoped objects that clean-up deletes in addition to the namespace. */
export function clusterScopedObjects({ authentication }: TunnelOptions): string[] {
  return authentication === "service-account-token"
    ? [`clusterrolebinding/${tokenReviewRole}`, `clusterrole/${tokenReviewRole}`]
    : [];
}

const metadata = { name: agentName, namespace, labels: agentLabels };

function agentNamespace({ agents }: TunnelOptions): Namespace {
  const level = agents.hostNetwork ? "privileged" : "restricted";
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: namespace,
      labels: {
        ...bootstrapOnly,
        "pod-security.kubernetes.io/enforce": level,
        "pod-security.kubernetes.io/audit": level,
        "pod-security.kubernetes.io/warn": level,
      },
      // A cluster-wide default node selector would keep agents off the control plane.
      annotations: { "openshift.io/node-selector": "" },
    },
  };
}

const serviceAccount: ServiceAccount = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata,
  automountServiceAccountToken: false,
};

function secret({ authentication }: TunnelOptions): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...metadata, name: agentSecretName },
    type: "Opaque",
    data: {
      "ca.crt": placeholders.caCertificate,
      ...(authentication === "mtls" && {
        "tls.crt": placeholders.agentCertificate,
        "tls.key": placeholders.agentKey,
      }),
    },
  };
}

/** Agents dial the bootstrap machine and any endpoint of the cluster; only the kubelet's probes dial them. */
const networkPolicy: NetworkPolicy = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata,
  spec: {
    podSelector: { matchLabels: { app: agentName } },
    policyTypes: ["Ingress", "Egress"],
    ingress: [{ ports: [{ protocol: "TCP", port: ports.health }] }],
    egress: [{}],
  },
};

const disruptionBudget: PodDisruptionBudget = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata,
  spec: { maxUnavailable: 1, selector: { matchLabels: { app: agentName } } },
};

/** Nothing else grants host networking in this namespace. A Role of our own does not depend on the name of a ClusterRole. */
const sccRole: Role = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  metadata,
  rules: [
    {
      apiGroups: ["security.openshift.io"],
      resources: ["securitycontextconstraints"],
      resourceNames: [hostNetworkScc],
      verbs: ["use"],
    },
  ],
};

const sccRoleBinding: RoleBinding = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  metadata,
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: agentName },
  subjects: [{ kind: "ServiceAccount", name: agentName, namespace }],
};

/** Lets the server review an agent's token, and nothing else. system:auth-delegator would also allow to review access. */
const tokenReview: ClusterRole = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: tokenReviewRole, labels: bootstrapOnly },
  rules: [{ apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] }],
};

const tokenReviewBinding: ClusterRoleBinding = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name: tokenReviewRole, labels: bootstrapOnly },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: tokenReviewRole },
  subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: serverUser }],
};

function daemonSet(options: TunnelOptions): DaemonSet {
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata,
    spec: {
      selector: { matchLabels: { app: agentName } },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%" } },
      template: podTemplate(options),
    },
  };
}

function deployment(options: TunnelOptions): Deployment {
  const template = podTemplate(options);
  const apart = { labelSelector: { matchLabels: { app: agentName } }, topologyKey: "kubernetes.io/hostname" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: {
      replicas: options.agents.replicas ?? 2,
      selector: { matchLabels: { app: agentName } },
      template: {
        ...template,
        spec: {
          ...template.spec,
          containers: template.spec?.containers ?? [],
          // On the host network, two agents on one node would need the same port.
          affinity: {
            podAntiAffinity: options.agents.hostNetwork
              ? { requiredDuringSchedulingIgnoredDuringExecution: [apart] }
              : { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: apart }] },
          },
        },
      },
    },
  };
}

/** Every argument of an agent. The node's scripts fill in the rest, and leave out those that the image does not know. */
export function agentArguments(options: TunnelOptions): string[] {
  return renderFlags("agent", {
    logtostderr: "true",
    v: 2,
    "proxy-server-host": placeholders.serverHost,
    "proxy-server-port": options.port,
    "ca-cert": `${certificates}/ca.crt`,
    "agent-cert": options.authentication === "mtls" ? `${certificates}/tls.crt` : undefined,
    "agent-key": options.authentication === "mtls" ? `${certificates}/tls.key` : undefined,
    "service-account-token-path": options.authentication === "service-account-token" ? `${token}/token` : undefined,
    "agent-identifiers": routing.identifier,
    "keepalive-time": placeholders.agentKeepalive,
    // Back within a second after a restart of the server, and within two when it was away for longer
    // (docs/tunnel-benchmark.md). A connected agent only checks its own state each time, without a request to the server.
    "sync-interval": "250ms",
    "sync-interval-cap": "2s",
    "probe-interval": "250ms",
    "health-server-host": options.agents.hostNetwork ? "127.0.0.1" : undefined,
    "health-server-port": ports.health,
    "admin-bind-address": "127.0.0.1",
  });
}

/** Admitted by restricted-v2: no fixed user, no capability, no access to the host. */
function podTemplate(options: TunnelOptions): PodTemplateSpec {
  const { agent, agentCommand } = proxyImage(options);
  const { hostNetwork } = options.agents;
  const byToken = options.authentication === "service-account-token";
  const probe = (path: string) => ({
    httpGet: { port: ports.health, path, scheme: "HTTP", ...(hostNetwork && { host: "127.0.0.1" }) },
  });
  const volumes: (Volume & { at: string })[] = [
    { name: "certs", secret: { secretName: agentSecretName, defaultMode: 0o440 }, at: certificates },
    ...(byToken
      ? [
          {
            name: "token",
            projected: {
              defaultMode: 0o440,
              sources: [{ serviceAccountToken: { audience: tokenAudience, expirationSeconds: 3600, path: "token" } }],
            },
            at: token,
          },
        ]
      : []),
  ];
  return {
    metadata: {
      labels: agentLabels,
      annotations: {
        "konnectivity-bootstrap/pki": placeholders.pki,
        "openshift.io/required-scc": hostNetwork ? hostNetworkScc : "restricted-v2",
      },
    },
    spec: {
      serviceAccountName: agentName,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      priorityClassName: "system-node-critical",
      tolerations: [{ operator: "Exists" }],
      // New agents drain on SIGTERM and end with the grace period.
      terminationGracePeriodSeconds: 5,
      // The server's DNS name must resolve without the cluster's own DNS.
      dnsPolicy: "Default",
      ...(hostNetwork && { hostNetwork: true }),
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: agentName,
          image: agent,
          imagePullPolicy: "IfNotPresent",
          command: [agentCommand],
          args: agentArguments(options),
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          resources: { requests: { cpu: "40m", memory: "50Mi" } },
          startupProbe: { ...probe("/healthz"), periodSeconds: 2, failureThreshold: 60 },
          livenessProbe: { ...probe("/healthz"), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
          readinessProbe: { ...probe("/readyz"), periodSeconds: 5, timeoutSeconds: 5 },
          volumeMounts: volumes.map(({ name, at }) => ({ name, mountPath: at, readOnly: true })),
        },
      ],
      volumes: volumes.map(({ at: _, ...volume }) => volume),
    },
  };
}
