import type { DaemonSet, Deployment } from "kubernetes-types/apps/v1.js";
import type { Pod } from "kubernetes-types/core/v1.js";
import type { ObjectMeta } from "kubernetes-types/meta/v1.js";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readProjectText } from "../../../../../src/runtime/project-files.js";
import { differentObjects, fill, onTheNode, richTunnel } from "../../../../support/rendered-objects.ts";
import {
  containerOf,
  objectFiles,
  podSpecOf,
  readObject,
  render,
  renderedCases,
  textOf,
} from "../../../../support/tunnel.ts";

describe("every rendered object", () => {
  it("exists if its option needs it, and only then", () => {
    for (const { name, options, assets } of renderedCases()) {
      const { kind, hostNetwork } = options.agents;
      expect(objectFiles(assets).sort(), name).toEqual(
        [
          ...["kube-apiserver-override.yaml", "egress-selector.yaml", "server-pod.yaml"],
          ...["agents", "namespace", "network-policy", "secret", "service-account"].map(
            (file) => `agents/${file}.yaml`,
          ),
          ...(kind === "Deployment" ? ["agents/disruption-budget.yaml"] : []),
          ...(hostNetwork ? ["agents/scc-role.yaml", "agents/scc-role-binding.yaml"] : []),
          ...(options.authentication === "service-account-token"
            ? ["agents/token-review-role.yaml", "agents/token-review.yaml"]
            : []),
        ].sort(),
      );
    }
  });

  it("is labelled as for the bootstrap only, and is in the tunnel's namespace unless it is cluster-scoped", () => {
    for (const { name, assets } of renderedCases())
      for (const file of objectFiles(assets).filter(
        (file) => file.startsWith("agents/") || file === "server-pod.yaml",
      )) {
        const { metadata, kind } = readObject(assets, file) as { metadata: ObjectMeta; kind: string };
        expect(metadata.labels, `${name}: ${file}`).toMatchObject({ "openshift.io/bootstrap-only": "true" });
        expect(metadata.namespace, `${name}: ${file}`).toBe(
          ["Namespace", "ClusterRole", "ClusterRoleBinding"].includes(kind)
            ? undefined
            : kind === "Pod"
              ? "kube-system"
              : "openshift-bootstrap-konnectivity",
        );
        if (kind === "Namespace") expect(metadata.name).toBe("openshift-bootstrap-konnectivity");
      }
  });

  it("is in a file that only root can read, without a key", () => {
    for (const { assets } of renderedCases())
      for (const { path, mode, text } of assets.files.filter((file) => !file.path.startsWith("/usr/local/bin/"))) {
        expect(mode, path).toBe(0o600);
        expect(text).not.toMatch(/PRIVATE KEY/);
      }
  });

  it("has secret in its name, and so in its file's on the node, if a key is filled in", () => {
    for (const { assets } of renderedCases())
      for (const name of objectFiles(assets))
        if (textOf(assets, name).includes("@AGENT_KEY@")) expect(name).toContain("secret");
  });
});

describe("what the node fills in", () => {
  const script = readProjectText("src/core/konnectivity/node/setup.sh");

  it("is what node/setup.sh fills in, and no placeholder is left", () => {
    expect(new Set(script.match(/@[A-Z_]+@/g))).toEqual(new Set(Object.keys(onTheNode)));
    for (const { name, text } of differentObjects()) expect(text, name).not.toMatch(/@[A-Z_]+@/);
  });

  it("stays text, also where it looks like a number", () => {
    const { server, agents } = filled(richTunnel(), { "@PKI@": "1234567890123456" });
    expect(server.metadata?.annotations).toEqual({ "konnectivity-bootstrap/pki": "1234567890123456" });
    expect(agents.spec?.template.metadata?.annotations).toMatchObject({
      "konnectivity-bootstrap/pki": "1234567890123456",
    });
  });

  it.each([
    { host: "192.0.2.10", listen: "192.0.2.10" },
    { host: "bootstrap.example.com", listen: "192.0.2.10" },
    { host: "2001:db8::10", listen: "2001:db8::10" },
    { host: "[2001:db8::10]", listen: "2001:db8::10" },
    // A colon at the end of a line is another thing in YAML.
    { host: "2001:db8:0:1::", listen: "2001:db8:0:1::" },
  ])("reaches the arguments unchanged: $host", ({ host, listen }) => {
    const { server, agents } = filled(richTunnel(), { "@SERVER_HOST@": host, "@LISTEN_ADDRESS@": listen });
    expect(containerOf(agents).args).toContain(`--proxy-server-host=${host}`);
    expect(containerOf(server).args).toContain(`--agent-bind-address=${listen}`);
  });

  function filled(assets: ReturnType<typeof richTunnel>, values: Record<string, string>) {
    const read = (file: string): unknown => parse(fill(textOf(assets, file), { ...onTheNode, ...values }));
    return { server: read("server-pod.yaml") as Pod, agents: read("agents/agents.yaml") as Deployment };
  }
});

describe("the agents", () => {
  it("are admitted by restricted-v2, or on the host network, which is off by default, by hostnetwork-v2", () => {
    for (const { name, options, agents } of renderedCases()) {
      const spec = podSpecOf(agents);
      const { securityContext } = containerOf(agents);
      const { hostNetwork } = options.agents;
      expect(spec.securityContext, name).toEqual({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
      expect(securityContext, name).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(spec.hostNetwork, name).toBe(hostNetwork ? true : undefined);
      expect([spec.hostPID, spec.hostIPC, spec.initContainers], name).toEqual([undefined, undefined, undefined]);
      // Admitted volumes: no host path.
      for (const volume of spec.volumes ?? [])
        expect(
          Object.keys(volume).filter((key) => key !== "name"),
          name,
        ).toEqual([volume.name === "token" ? "projected" : "secret"]);
      expect(containerOf(agents).ports, name).toBeUndefined();
      expect(agents.spec?.template.metadata?.annotations?.["openshift.io/required-scc"], name).toBe(
        hostNetwork ? "hostnetwork-v2" : "restricted-v2",
      );
    }
  });

  it("may use hostnetwork-v2, and no other, on the host network", () => {
    const assets = richTunnel();
    expect(readObject(assets, "agents/scc-role.yaml")).toMatchObject({
      rules: [
        {
          apiGroups: ["security.openshift.io"],
          resources: ["securitycontextconstraints"],
          resourceNames: ["hostnetwork-v2"],
          verbs: ["use"],
        },
      ],
    });
    expect(readObject(assets, "agents/scc-role-binding.yaml")).toMatchObject({
      roleRef: { kind: "Role", name: "konnectivity-agent" },
      subjects: [{ kind: "ServiceAccount", name: "konnectivity-agent", namespace: "openshift-bootstrap-konnectivity" }],
    });
  });

  it("are in a namespace with the pod security level that they need, and without the default node selector", () => {
    for (const { name, options, assets } of renderedCases()) {
      const level = options.agents.hostNetwork ? "privileged" : "restricted";
      expect(readObject(assets, "agents/namespace.yaml"), name).toMatchObject({
        metadata: {
          labels: {
            "pod-security.kubernetes.io/enforce": level,
            "pod-security.kubernetes.io/audit": level,
            "pod-security.kubernetes.io/warn": level,
          },
          annotations: { "openshift.io/node-selector": "" },
        },
      });
    }
  });

  it("run on every node, start early, request few resources and stop quickly", () => {
    for (const { name, agents } of renderedCases()) {
      const spec = podSpecOf(agents);
      expect(spec.tolerations, name).toEqual([{ operator: "Exists" }]);
      expect(spec.priorityClassName, name).toBe("system-node-critical");
      expect(spec.terminationGracePeriodSeconds, name).toBeGreaterThanOrEqual(1);
      expect(spec.terminationGracePeriodSeconds, name).toBeLessThanOrEqual(10);
      expect([spec.automountServiceAccountToken, spec.enableServiceLinks], name).toEqual([false, false]);
      expect(spec.serviceAccountName, name).toBe("konnectivity-agent");
      expect(spec.nodeSelector, name).toBeUndefined();
      // The cluster's DNS needs the tunnel's cluster.
      expect(spec.dnsPolicy, name).toBe("Default");
      expect(containerOf(agents).resources, name).toEqual({ requests: { cpu: "40m", memory: "50Mi" } });
    }
  });

  it("are probed where they serve their health", () => {
    for (const { name, options, agents, assets } of renderedCases()) {
      const container = containerOf(agents);
      const port = Number(container.args?.find((arg) => arg.startsWith("--health-server-port="))?.split("=")[1]);
      const host = options.agents.hostNetwork ? { host: "127.0.0.1" } : {};
      const asked = (path: string) => ({ port, path, scheme: "HTTP", ...host });
      expect(container.startupProbe?.httpGet, name).toEqual(asked("/healthz"));
      expect(container.livenessProbe?.httpGet, name).toEqual(asked("/healthz"));
      expect(container.readinessProbe?.httpGet, name).toEqual(asked("/readyz"));
      expect(readObject(assets, "agents/network-policy.yaml"), name).toMatchObject({
        spec: { ingress: [{ ports: [{ protocol: "TCP", port }] }], egress: [{}] },
      });
    }
  });

  it("have the keys of their kind of authentication, and no others", () => {
    for (const { name, options, agents, assets } of renderedCases()) {
      const { data = {} } = readObject(assets, "agents/secret.yaml");
      expect(Object.keys(data), name).toEqual(
        options.authentication === "mtls" ? ["ca.crt", "tls.crt", "tls.key"] : ["ca.crt"],
      );
      const token = podSpecOf(agents).volumes?.find((volume) => volume.name === "token")?.projected;
      expect(token?.sources, name).toEqual(
        options.authentication === "service-account-token"
          ? [
              {
                serviceAccountToken: {
                  audience: "system:konnectivity-server",
                  expirationSeconds: 3600,
                  path: "token",
                },
              },
            ]
          : undefined,
      );
    }
  });

  it("run one per node, or as many as configured: on different nodes if possible, on the host network always", () => {
    const daemonSet = readObject(render({}), "agents/agents.yaml") as DaemonSet;
    expect(daemonSet.spec?.updateStrategy).toEqual({
      type: "RollingUpdate",
      rollingUpdate: { maxUnavailable: "10%" },
    });
    expect(podSpecOf(daemonSet).affinity).toBeUndefined();
    const deployment = (agents: object) =>
      readObject(render({ agents: { kind: "Deployment", ...agents } }), "agents/agents.yaml") as Deployment;
    expect(deployment({}).spec?.replicas).toBe(2);
    expect(deployment({ replicas: 7 }).spec?.replicas).toBe(7);
    const antiAffinity = (agents: object) => Object.keys(podSpecOf(deployment(agents)).affinity?.podAntiAffinity ?? {});
    expect(antiAffinity({})).toEqual(["preferredDuringSchedulingIgnoredDuringExecution"]);
    expect(antiAffinity({ hostNetwork: true })).toEqual(["requiredDuringSchedulingIgnoredDuringExecution"]);
  });
});

describe("the server", () => {
  it("is root without capabilities, on the host network, and stops quickly", () => {
    for (const { name, server } of renderedCases()) {
      const spec = podSpecOf(server);
      expect(spec, name).toMatchObject({
        hostNetwork: true,
        priorityClassName: "system-node-critical",
        automountServiceAccountToken: false,
        securityContext: { seccompProfile: { type: "RuntimeDefault" } },
      });
      expect(spec.terminationGracePeriodSeconds, name).toBeLessThanOrEqual(10);
      expect(containerOf(server).securityContext, name).toEqual({
        runAsUser: 0,
        runAsGroup: 0,
        privileged: false,
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(containerOf(server).resources, name).toEqual({ requests: { cpu: "40m", memory: "50Mi" } });
    }
  });

  it("is probed on loopback: alive when it serves, ready when an agent is connected", () => {
    for (const { name, server } of renderedCases()) {
      const container = containerOf(server);
      const port = Number(container.args?.find((arg) => arg.startsWith("--health-port="))?.split("=")[1]);
      const asked = (path: string) => ({ host: "127.0.0.1", port, path, scheme: "HTTP" });
      expect(container.livenessProbe?.httpGet, name).toEqual(asked("/healthz"));
      expect(container.readinessProbe?.httpGet, name).toEqual(asked("/readyz"));
    }
  });

  it("mounts exactly what the node's scripts create", () => {
    const home = "/opt/openshift/konnectivity-bootstrap";
    for (const { name, options, server } of renderedCases()) {
      const mounts = (podSpecOf(server).volumes ?? []).map(({ hostPath }) => [hostPath?.path, hostPath?.type]);
      expect(mounts, name).toEqual([
        ...(options.transport === "unix-socket"
          ? [["/etc/kubernetes/bootstrap-configs/konnectivity", "Directory"]]
          : []),
        [`${home}/tls/serving`, "Directory"],
        ...(options.transport === "tcp" ? [[`${home}/tls/frontend`, "Directory"]] : []),
        ...(options.authentication === "service-account-token" ? [[`${home}/tls/token-reviewer`, "Directory"]] : []),
      ]);
    }
  });
});

describe("the kube-apiserver's config", () => {
  const issuer = '{{ or .ServiceAccountIssuer "https://kubernetes.default.svc" }}';

  it("names the egress selector, and with tokens the audiences: the issuer's own before the tunnel's", () => {
    for (const { name, options, assets } of renderedCases())
      expect(readObject(assets, "kube-apiserver-override.yaml"), name).toEqual({
        apiVersion: "kubecontrolplane.config.openshift.io/v1",
        kind: "KubeAPIServerConfig",
        apiServerArguments: {
          "egress-selector-config-file": ["/etc/kubernetes/config/bootstrap-egress-selector.yaml"],
          ...(options.authentication === "service-account-token" && {
            "api-audiences": [issuer, "system:konnectivity-server"],
          }),
        },
      });
  });

  it("is executed as a Go template and then read as YAML", () => {
    const text = textOf(richTunnel(), "kube-apiserver-override.yaml");
    expect(text).toContain(issuer);
    expect(parse(text.replace(issuer, "https://issuer.example.com"))).toMatchObject({
      apiServerArguments: { "api-audiences": ["https://issuer.example.com", "system:konnectivity-server"] },
    });
  });

  it("contains no other Go template: the render would execute it", () => {
    for (const { name, options, assets } of renderedCases()) {
      const templates = textOf(assets, "kube-apiserver-override.yaml").split("{{").length - 1;
      expect(templates, name).toBe(options.authentication === "service-account-token" ? 1 : 0);
    }
  });

  it("allows the server to have tokens reviewed, and nothing else", () => {
    expect(readObject(richTunnel(), "agents/token-review-role.yaml")).toMatchObject({
      kind: "ClusterRole",
      rules: [{ apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] }],
    });
    expect(readObject(richTunnel(), "agents/token-review.yaml")).toMatchObject({
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: "bootstrap-konnectivity-token-review",
      },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "system:konnectivity-server" }],
    });
  });
});
