import { addressesOf, hostOf } from "./addresses.ts";
import type { LabLayout } from "../src/core/lab-layout.ts";
import { timeLimit } from "../src/core/time-limits.ts";

/**
 * What the bootstrap kube-apiserver must reach in the pod network: a webhook by service that must answer, a conversion
 * webhook, an aggregated API, a node to be proxied to; and the same webhook by URL, which no tunnel carries.
 */

const namespace = "lab";
const port = 8443;
const kubeletPort = 10250;
const group = "lab.konnectivity-bootstrap.io";

const widgetSchema = {
  type: "object",
  properties: { spec: { type: "object", properties: { convertedFrom: { type: "string" } } } },
};

/** A static pod, because nothing schedules here, of the program in lab/webhook. */
function pod(name: string, spec: object, listen: string, metadata: object = {}) {
  const args = [listen, "--tls-cert=/tls/webhook.crt", "--tls-key=/tls/webhook.key"];
  const volumeMounts = [{ name: "tls", mountPath: "/tls", readOnly: true }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, ...metadata },
    spec: {
      ...spec,
      containers: [{ name, image: "localhost/lab/webhook:latest", command: ["/usr/bin/webhook"], args, volumeMounts }],
      volumes: [{ name: "tls", hostPath: { path: "/opt/lab/tls" } }],
    },
  };
}

/** The webhook, on the first node. */
export function webhookPod({ ipFamily }: LabLayout) {
  const { webhookPod: address } = addressesOf(ipFamily);
  return pod("webhook", {}, `--listen=${hostOf(address)}:${port}`, { annotations: { "lab/pod-ip": address } });
}

/** What the node proxy reaches of a node's kubelet. */
export function kubeletPod({ ipFamily }: LabLayout, index: number) {
  const address = addressesOf(ipFamily).nodeAddress(index);
  return pod("kubelet", { hostNetwork: true }, `--kubelet-listen=${hostOf(address)}:${kubeletPort}`);
}

/** @param caBundle the CA of the webhook's certificate, in base64 */
export function clusterObjects({ nodes, ipFamily }: LabLayout, caBundle: string): object[] {
  const addresses = addressesOf(ipFamily);
  const service = { name: "webhook", namespace, port: 443 };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "webhook", namespace },
      spec: { ports: [{ name: "https", port: 443, targetPort: port }] },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "webhook", namespace, labels: { "kubernetes.io/service-name": "webhook" } },
      addressType: ipFamily,
      ports: [{ name: "https", port, protocol: "TCP" }],
      endpoints: [{ addresses: [addresses.webhookPod], conditions: { ready: true } }],
    },
    {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `widgets.${group}` },
      spec: {
        group,
        scope: "Cluster",
        names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
        versions: ["v1", "v2"].map((name) => ({
          name,
          served: true,
          storage: name === "v1",
          schema: { openAPIV3Schema: widgetSchema },
        })),
        conversion: {
          strategy: "Webhook",
          webhook: {
            conversionReviewVersions: ["v1"],
            clientConfig: { caBundle, service: { ...service, path: "/convert" } },
          },
        },
      },
    },
    {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: `v1alpha1.${group}` },
      spec: { group, version: "v1alpha1", groupPriorityMinimum: 1000, versionPriority: 10, caBundle, service },
    },
    ...[...Array(nodes).keys()].map((index) => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: `node-${index}` },
      status: {
        addresses: [{ type: "InternalIP", address: addresses.nodeAddress(index) }],
        daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
      },
    })),
    admission("by-service", { caBundle, service: { ...service, path: "/validate" } }, { tunnelled: "true" }),
    admission(
      "by-url",
      { caBundle, url: `https://${hostOf(addresses.webhookPod)}:${port}/validate` },
      { "by-url": "true" },
    ),
  ];
}

/** A webhook that must answer for every ConfigMap in a namespace with these labels. */
function admission(name: string, clientConfig: object, matchLabels: Readonly<Record<string, string>>): object {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name },
    webhooks: [
      {
        name: `${name}.${group}`,
        clientConfig,
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
        objectSelector: { matchLabels },
        failurePolicy: "Fail",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        // The API takes no more than 30.
        timeoutSeconds: Math.min(30, timeLimit(3)),
      },
    ],
  };
}
