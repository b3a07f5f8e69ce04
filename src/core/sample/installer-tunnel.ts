import { stringify } from "yaml";
import type { FileEntry } from "../ignition/config.ts";
import { fileEntry, fixture } from "./fixture.ts";

const namespace = "openshift-bootstrap-konnectivity";
const bootstrapOnly = { "openshift.io/bootstrap-only": "true" };
const appOf = (app: string) => ({ app });
const configFolder = "/etc/kubernetes/bootstrap-configs";
const certificates = "/etc/konnectivity";
const probe = { httpGet: { path: "/healthz", port: 2041 }, initialDelaySeconds: 10, periodSeconds: 10 };
const requests = { cpu: "40m", memory: "50Mi" };
const placeIn = (configs: string) => `${configs}/konnectivity-server.socket`;

/** The arguments of openshift-install's own tunnel (4.23 to 5.2), without those that name files or addresses. */
export const installerArguments = {
  server: [
    "--logtostderr=true",
    "--server-port=0",
    "--agent-port=8091",
    "--health-port=2041",
    "--mode=grpc",
    "--proxy-strategies=destHost,defaultRoute",
    "--keepalive-time=30s",
    "--frontend-keepalive-time=30s",
  ],
  agent: [
    "--logtostderr=true",
    "--proxy-server-port=8091",
    "--health-server-port=2041",
    "--agent-identifiers=default-route=true",
    "--keepalive-time=30s",
    "--probe-interval=5s",
    "--sync-interval=5s",
    "--sync-interval-cap=30s",
  ],
} as const;

/** The templates of openshift-install's own tunnel: its names, ports and flags, in objects of our own. */
const templates: Record<string, object> = {
  "egress-selector-config": {
    apiVersion: "apiserver.k8s.io/v1beta1",
    kind: "EgressSelectorConfiguration",
    egressSelections: [
      {
        name: "cluster",
        connection: { proxyProtocol: "GRPC", transport: { uds: { udsName: placeIn("/etc/kubernetes/config") } } },
      },
      { name: "controlplane", connection: { proxyProtocol: "Direct" } },
      { name: "etcd", connection: { proxyProtocol: "Direct" } },
    ],
  },
  "konnectivity-config-override": {
    apiVersion: "kubecontrolplane.config.openshift.io/v1",
    kind: "KubeAPIServerConfig",
    apiServerArguments: { "egress-selector-config-file": ["/etc/kubernetes/config/egress-selector-config.yaml"] },
  },
  "konnectivity-namespace": {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace, labels: bootstrapOnly },
  },
  "konnectivity-agent-certs-secret": {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "konnectivity-agent-certs", namespace, labels: bootstrapOnly },
    data: { "ca.crt": "@CA@", "tls.crt": "@CERTIFICATE@", "tls.key": "@KEY@" },
  },
  "konnectivity-agent-daemonset": {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "konnectivity-agent", namespace, labels: { ...appOf("konnectivity-agent"), ...bootstrapOnly } },
    spec: {
      selector: { matchLabels: appOf("konnectivity-agent") },
      template: {
        metadata: { labels: appOf("konnectivity-agent") },
        spec: {
          priorityClassName: "system-node-critical",
          tolerations: [{ operator: "Exists" }],
          containers: [
            {
              name: "konnectivity-agent",
              image: "@IMAGE@",
              command: ["/usr/bin/proxy-agent"],
              args: [
                `--ca-cert=${certificates}/ca.crt`,
                `--agent-cert=${certificates}/tls.crt`,
                `--agent-key=${certificates}/tls.key`,
                "--proxy-server-host=@ADDRESS@",
                ...installerArguments.agent,
              ],
              livenessProbe: probe,
              resources: { requests },
              volumeMounts: [{ name: "certs", mountPath: certificates, readOnly: true }],
            },
          ],
          volumes: [{ name: "certs", secret: { secretName: "konnectivity-agent-certs" } }],
        },
      },
    },
  },
  "konnectivity-server-pod": {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "konnectivity-server", namespace: "kube-system", labels: appOf("konnectivity-server") },
    spec: {
      hostNetwork: true,
      priorityClassName: "system-node-critical",
      containers: [
        {
          name: "konnectivity-server",
          image: "@IMAGE@",
          command: ["/usr/bin/proxy-server"],
          args: [
            `--cluster-cert=${certificates}/server.crt`,
            `--cluster-key=${certificates}/server.key`,
            `--cluster-ca-cert=${certificates}/ca.crt`,
            `--uds-name=${placeIn(configFolder)}`,
            ...installerArguments.server,
          ],
          livenessProbe: probe,
          resources: { requests },
          volumeMounts: [
            { name: "configs", mountPath: configFolder },
            { name: "certs", mountPath: certificates, readOnly: true },
          ],
        },
      ],
      volumes: [
        { name: "configs", hostPath: { path: configFolder, type: "DirectoryOrCreate" } },
        { name: "certs", hostPath: { path: "/opt/openshift/tls/konnectivity", type: "Directory" } },
      ],
    },
  },
};

/** The files of openshift-install's own tunnel, which exist from 4.23 on. With the feature gate off, the functions are empty. */
export function installerTunnelFiles(gateOn: boolean): FileEntry[] {
  const empty = ["konnectivity_setup", "konnectivity_manifests", "konnectivity_cleanup"].map(
    (name) => `${name}() {\n    :\n}\n`,
  );
  return [
    fileEntry("/usr/local/bin/konnectivity.sh", gateOn ? fixture("konnectivity.sh") : empty.join(""), 0o555),
    fileEntry(
      "/usr/local/bin/konnectivity-certs.sh",
      gateOn ? fixture("konnectivity-certs.sh") : "#!/usr/bin/env bash\n",
      0o555,
    ),
    ...Object.entries(templates).map(([name, template]) =>
      fileEntry(`/opt/openshift/${name}.yaml`, gateOn ? stringify(template, { lineWidth: 0 }) : "{}\n", 0o600),
    ),
  ];
}
