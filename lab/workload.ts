import { addresses } from "./addresses.ts";

/**
 * What the bootstrap kube-apiserver must reach in the pod network: a webhook by service that must answer, a conversion
 * webhook, an aggregated API, a node to be proxied to; and the same webhook by URL, which no tunnel carries.
 */

const namespace = "lab";
const port = 8443;
const group = "lab.konnectivity-bootstrap.io";

const widgetSchema = {
  type: "object",
  properties: { spec: { type: "object", properties: { convertedFrom: { type: "string" } } } },
};

/** The webhook's pod: a static one, because nothing schedules here. */
export const webhookPod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "webhook", namespace, annotations: { "lab/pod-ip": addresses.webhookPod } },
  spec: {
    containers: [
      {
        name: "webhook",
        image: "localhost/lab/webhook:latest",
        command: ["/usr/bin/webhook"],
        args: [`--listen=${addresses.webhookPod}:${port}`, "--tls-cert=/tls/webhook.crt", "--tls-key=/tls/webhook.key"],
        volumeMounts: [{ name: "tls", mountPath: "/tls", readOnly: true }],
      },
    ],
    volumes: [{ name: "tls", hostPath: { path: "/opt/lab/tls" } }],
  },
};

/** @param caBundle the CA of the webhook's certificate, in base64 */
export function clusterObjects(caBundle: string): object[] {
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
      addressType: "IPv4",
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
    {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "node-0" },
    },
    admission("by-service", { caBundle, service: { ...service, path: "/validate" } }, { tunnelled: "true" }),
    admission("by-url", { caBundle, url: `https://${addresses.webhookPod}:${port}/validate` }, { "by-url": "true" }),
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
        timeoutSeconds: 5,
      },
    ],
  };
}
